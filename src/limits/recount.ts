// A counter and what it counts are one commit, so they do not drift apart. If they ever do, a service must not have less than it
// may have for the rest of the day: off the request path, counters that stand too high are set right.
import type { Clock } from '../core/clock.ts'
import { floorOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { dayOf } from './daily.ts'
import { counters, lower } from './sql.ts'

/** A message may be scheduled four days ahead; one more for the hours of the day. */
const AHEAD_MICROS = 5 * 86_400_000_000

/** By how much counters were too high, all together. */
export async function recount({ db, clock }: { db: Pick<Database, 'sql'>; clock: Clock }): Promise<number> {
  const since = floorOf(clock.micros() - AHEAD_MICROS)
  let surplus = 0
  for (const { service_id, channel, day } of await counters(db.sql, dayOf(clock.now())))
    for (const row of await lower(db.sql, service_id, channel, day, since)) surplus += row.surplus
  return surplus
}
