// How the queue stands, for /metrics and doctor: one statement whose cost does not grow with the queue. Counts end at a bound,
// because whoever sees a thousand waiting needs no more exact number.
import type { Sql } from '../db/connect.ts'
import { HELD_LANES, KEPT_LANES } from './hold.ts'

export const LANES = [...HELD_LANES, 'simulation', 'receipt'] as const

/** A ticket that is due for longer than this has been forgotten by everyone (promise O5). */
const OVERDUE_SECONDS = 300
const MOST_COUNTED = 1_000

export type LaneFigures = { lane: string; waiting: number; oldest_seconds: number; overdue: number }
export type Figures = {
  lanes: LaneFigures[]
  /** Kept back by a release, until somebody chooses them. */
  kept: number
  /** Receipts whose message is not known (yet). */
  unmatched: number
  /** How long the oldest message has waited for the scanner's verdict. */
  scan_oldest_seconds: number
}

export async function figuresOf(sql: Sql): Promise<Figures> {
  const lanes = await sql<LaneFigures>`
    with taken as materialized (
      select lane, min(due_at) as due_at
      from tickets
      where owner is not null
      group by lane
    )
    select l.lane,
           (select count(*)
            from (select from tickets t
                  where t.lane = l.lane and t.owner is null and t.due_at <= clock_timestamp()
                  limit ${MOST_COUNTED}) due)::integer as waiting,
           coalesce(greatest(0, extract(epoch from clock_timestamp() - least(
             (select t.due_at from tickets t where t.lane = l.lane and t.owner is null order by t.due_at limit 1),
             (select taken.due_at from taken where taken.lane = l.lane)))), 0)::float8 as oldest_seconds,
           (select count(*)
            from (select from tickets t
                  where t.lane = l.lane
                    and t.owner is null
                    and t.due_at < clock_timestamp() - make_interval(secs => ${OVERDUE_SECONDS})
                  limit ${MOST_COUNTED}) late)::integer as overdue
    from unnest(${LANES}::text[]) as l (lane)`
  const [rest] = await sql<Omit<Figures, 'lanes'>>`
    select (select count(*)
            from (select from tickets where lane = any (${KEPT_LANES}::text[]) and owner is null
                  limit ${MOST_COUNTED}) kept)::integer as kept,
           (select count(*)
            from (select attempts from tickets where lane = 'receipt' and owner is null
                  limit ${MOST_COUNTED}) news
            where attempts > 0)::integer as unmatched,
           coalesce((select extract(epoch from clock_timestamp() - min(uuid_time(subjects[1])))
                     from (select subjects from tickets where lane = 'scan' and owner is null limit ${MOST_COUNTED}) scan),
                    0)::float8 as scan_oldest_seconds`
  return { lanes, kept: 0, unmatched: 0, scan_oldest_seconds: 0, ...rest }
}
