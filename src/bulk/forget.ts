// Rows become messages within seconds. Those of a chunk that never could are tried again and again, but not kept for ever (S-31).
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { inSteps } from '../runtime/steps.ts'
import { purgeChunks } from './sql.ts'

const DAY_MICROS = 86_400_000_000
/** Four days until a job is due, and seven more, as long as a message. */
const LONGEST_DAYS = 11

type App = {
  db: Pick<Database, 'sql'>
  clock: Clock
  onFault(error: unknown, sentence: string, fields: { job: Id }): void
}

export function purgeRows({ db, clock, onFault }: App) {
  const before = floorOf(clock.micros() - LONGEST_DAYS * DAY_MICROS)
  return inSteps<Id>(async (after, most) => {
    const step = await purgeChunks(db.sql, before, after, most)
    for (const job of step.jobs)
      onFault(new Error('its time is over'), 'rows of a bulk job were purged that never became messages', { job })
    return step
  })
}
