// How long messages stay. Reads are cut off to the moment; the rows themselves go by the hour, whole days at once where
// no service keeps them longer.
import type { Clock } from '../core/clock.ts'
import { floorOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { forget, longestRetention, retentions } from './sql.ts'

const DAY_MICROS = 86_400_000_000
/** A message may be scheduled four days ahead and wait three more for its last word: no row goes before that is over. */
const OPEN_DAYS = 8

/** Microseconds since 1970 before which no message is kept. */
export async function keptSince(app: { db: Database; clock: Clock }): Promise<number> {
  const days = Math.max(OPEN_DAYS, await longestRetention(app.db.sql))
  return app.clock.micros() - days * DAY_MICROS
}

/** Services that keep less than others: their own rows go first. */
export async function forgetMessages(app: { db: Database; clock: Clock }): Promise<void> {
  const now = app.clock.micros()
  for (const { service_id, channel, days } of await retentions(app.db.sql))
    await forget(app.db.sql, service_id, channel, floorOf(now - Math.max(days, OPEN_DAYS) * DAY_MICROS))
}
