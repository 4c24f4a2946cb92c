// Records results in batches, one batch at a time, because what settles a ticket must come after its results.
import { isDataError } from '../db/errors.ts'
import { createGroupCommit, type GroupCommit } from '../runtime/group-commit.ts'
import type { Entry, Work } from './work.ts'

export type Recorder<Result> = Pick<GroupCommit<Entry<Result>, void>, 'push'>

type Spec<Result> = {
  work: Pick<Work<never, Result>, 'unrecordable'>
  write(entries: readonly Entry<Result>[]): Promise<void>
}

type Context = { onFault(error: unknown, sentence: string): void; isStopping(): boolean }

/** A statement is worth waiting 4 ms for, unless 32 results are there before. */
const DELAY = { afterItems: 1, ms: 4, skipAtItems: 32 }
const MAX_ITEMS = 256

/** A batch that the database rejects because of one result's data is split in order, so that the others are recorded. */
export function createRecorder<Result>(spec: Spec<Result>, context: Context): Recorder<Result> {
  const write = (entries: readonly Entry<Result>[]) => untilWritten(() => spec.write(entries), context)
  return createGroupCommit<Entry<Result>, void>(
    async entries => {
      const [entry] = entries
      if (entries.length === 1 && entry) await recordAlone(entry, write, spec.work, context)
      else await write(entries)
      return []
    },
    // The callbacks of a batch often add the entry that settles its ticket, which is then part of the next batch.
    { maxItems: MAX_ITEMS, maxInFlight: 1, delay: DELAY, answerFirst: true, isDataError },
  )
}

/**
 * A result that the database rejects is recorded in the form the work has for that, or only settled. Where the work has no such
 * form it is left: when its lease expires it is taken again, and after five takes it is set aside.
 */
async function recordAlone<Result>(
  entry: Entry<Result>,
  write: (entries: readonly Entry<Result>[]) => Promise<void>,
  work: Spec<Result>['work'],
  { onFault }: Context,
) {
  const other = entry.result === null ? null : (work.unrecordable?.(entry.result) ?? null)
  const forms = other === null ? [entry] : [entry, { ...entry, result: other }, { ...entry, result: null }]
  for (const form of forms)
    try {
      return await write([form])
    } catch (error) {
      if (!isDataError(error)) throw error
      onFault(error, REJECTED)
    }
}

const REJECTED = 'a result was refused by the database; it is recorded without what came with it, or left'

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 1_000
const STOPPING_RETRY_MS = 8_000

// What a provider has accepted must not be lost because the database is away: results wait in memory until it is back, or until a
// stop has waited long enough. What was rejected for its data would be rejected again.
async function untilWritten(write: () => Promise<void>, { onFault, isStopping }: Context) {
  let leftMs = STOPPING_RETRY_MS
  for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
    try {
      return await write()
    } catch (error) {
      if (isDataError(error)) throw error
      onFault(error, 'results could not be recorded; tried again')
      if (isStopping()) leftMs -= wait
      if (leftMs < 0) throw error
      await new Promise(resume => setTimeout(resume, wait))
    }
  }
}
