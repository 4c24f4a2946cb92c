// A chore for what never got an answer (contract 6.3): 72 hours after it was due a message that was not handed over is a
// technical failure, 72 hours after it was handed over one without a final word is a temporary one.
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { inSteps } from '../runtime/steps.ts'
import { allServices, giveUp, idsIn, openStretches } from './sql/expire.ts'

const PATIENCE_MICROS = 72 * 3_600_000_000
const SERVICES_AT_ONCE = 50

/** Its cost goes by the messages that are still open after 72 hours, not by all that are kept. */
export async function* giveUpOverdue({
  db: { sql },
  clock,
}: {
  db: Pick<Database, 'sql'>
  clock: Clock
}): AsyncGenerator<void, void> {
  // Nothing made later can be overdue yet, so the days that are written to now are not looked at.
  const before = floorOf(clock.micros() - PATIENCE_MICROS)
  const services = await allServices(sql)
  for (let at = 0; at < services.length; at += SERVICES_AT_ONCE) {
    for (const stretch of await openStretches(sql, services.slice(at, at + SERVICES_AT_ONCE), before))
      yield* inSteps<Id>(async (after, most) => {
        const ids = await idsIn(sql, stretch, before, after, most)
        if (ids.length > 0) await giveUp(sql, stretch.status, ids)
        return { found: ids.length, last: ids.at(-1) ?? null }
      })
    yield
  }
}
