// Seals again what lives long and was sealed with an earlier secret or in an earlier format. Messages, answers and files are not sealed
// again: the old secret is needed until they are purged. What no configured secret opens stays as it is, and opens again when its secret
// is back: it must not keep the others from being sealed again. Whether a start goes on without it: installation/removed-secrets.ts.
import type { Id } from '../core/id.ts'
import type { StoredPurpose } from '../core/purposes.ts'
import { openable, type Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { keysSealedBefore, resealKey } from '../keys/sql.ts'
import { inSteps, type Steps } from '../runtime/steps.ts'
import { resealSamples, samplesSealedBefore } from '../templates/sql/samples.ts'
import { resealWebhook, webhooksSealedBefore } from '../webhooks/sql/manage.ts'

/** At every start, and every hour: another process may have used the earlier secret or format until now. */
export async function* sealAgain({ db: { sql }, seal }: { db: Pick<Database, 'sql'>; seal: Seal }): Steps {
  yield* inTable(seal, {
    purpose: 'key secret',
    find: (current, after, most) => keysSealedBefore(sql, current, after, most),
    replace: ({ id }, sealed, secret) => resealKey(sql, id, seal.digest('key secret', secret.toString('utf8')), sealed),
  })
  yield* inTable(seal, {
    purpose: 'webhook target',
    find: (current, after, most) => webhooksSealedBefore(sql, current, after, most),
    replace: (before, sealed) => resealWebhook(sql, before.id, before.sealed, sealed),
  })
  yield* inTable(seal, {
    purpose: 'template samples',
    find: (current, after, most) => samplesSealedBefore(sql, current, after, most),
    replace: (before, sealed) => resealSamples(sql, before.id, before.sealed, sealed),
  })
}

type Row = { id: Id; sealed: Buffer }

type SealedTable = {
  purpose: StoredPurpose
  /** Up to `most` rows that are not sealed as rows are now, in the order of their ids, after this one. */
  find: (current: Buffer, after: Id | null, most: number) => Promise<Row[]>
  replace: (before: Row, sealed: Buffer, opened: Buffer) => Promise<unknown>
}

const inTable = (seal: Seal, { purpose, find, replace }: SealedTable): Steps =>
  inSteps<Id>(async (after, most) => {
    const old = await find(seal.idFor(purpose), after, most)
    let changed = 0
    for (const row of old) {
      const opened = openable(seal, purpose, row.sealed)
      if (opened === null) continue
      await replace(row, seal.seal(purpose, opened), opened)
      changed++
    }
    return { found: old.length, last: old.at(-1)?.id ?? null, changed }
  })
