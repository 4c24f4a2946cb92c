// Positions in the log grow for ever, although the numbers of transactions begin again in a copy of the database, and those of lost
// transactions are used again after a fail-over.
import { part, type Sql } from '../../db/connect.ts'
import { KEY_TYPES } from '../../keys/key.ts'
import { serviceIds } from '../../services/sql.ts'
import { shift } from '../sql.ts'

/** More transactions than an original can have had since its copy was made: readers have positions of those, too. */
const LEAP = String(2 ** 40)

/**
 * Makes every new position higher than all positions in the log, higher than `known`, and higher than those that the original of
 * this copy gave away after the copy was made. Statements that log are waited for: none of them keeps an earlier shift.
 */
export async function leap(sql: Sql, known: string): Promise<void> {
  await sql`lock table event_clock in access exclusive mode`
  await sql`
    update event_clock
    set shift = greatest(${shift} + ${number}, ${known}::bigint, coalesce(${highest}, 0)) + ${LEAP}::bigint - ${number},
        timeline = event_timeline()`
}

/**
 * Moves what later timelines add into the shift. No position changes, so nothing is locked. From then on a server that begins at
 * timeline 1 again, as after pg_upgrade, does not lower positions, and versions before migration 0041 read with the same shift.
 */
export const settleTimeline = (sql: Sql) => sql`
  update event_clock
  set shift = ${shift},
      timeline = event_timeline()
  where timeline is distinct from event_timeline()`

const number = part`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`

/** By the index of each service, because the whole log may be large. */
const highest = part`(
  select max(newest.stamp)
  from ${serviceIds} s (id)
  cross join unnest(${[...KEY_TYPES]}::text[]) as k (key_type)
  cross join lateral (
    select e.stamp
    from events e
    where e.service_id = s.id
      and e.key_type = k.key_type
    order by e.stamp desc, e.seq desc
    limit 1
  ) newest)`
