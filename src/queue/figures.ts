// Figures of the queue, for /metrics and doctor. Counts stop at 1,000, so that their cost does not grow with the queue.
import type { Sql } from '../db/connect.ts'
import { keptLanes } from './release.ts'

/** A free ticket that is due for longer than this should have been taken (promise O5). */
const OVERDUE_SECONDS = 300
const MOST_COUNTED = 1_000
const MOST_SUMMED = 10_000

export type LaneFigures = { lane: string; waiting: number; oldest_seconds: number; overdue: number }
export const laneFigures = (sql: Sql, lanes: readonly string[]) => sql<LaneFigures>`
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
    from unnest(${lanes}::text[]) as l (lane)`

export type WaitingSubjects = { subjects: number; hasMore: boolean }

/** What tickets that are due are for, such as messages, also those that a process has in hand. Counted in the first 10,000 tickets. */
export async function waitingSubjects(sql: Sql, lanes: readonly string[]): Promise<WaitingSubjects> {
  const [row] = await sql<{ subjects: number; tickets: number }>`
    select coalesce(sum(cardinality(subjects)), 0)::integer as subjects, count(*)::integer as tickets
    from (select subjects
          from tickets
          where lane = any (${lanes}::text[]) and due_at <= clock_timestamp()
          limit ${MOST_SUMMED}) due`
  return { subjects: row?.subjects ?? 0, hasMore: (row?.tickets ?? 0) === MOST_SUMMED }
}

export type TicketFigures = {
  /** Tickets that a release has kept back from the lanes `held`. */
  kept: number
  /** Tickets in the lane `retried` that were tried before. */
  retried: number
  /** The age of the oldest subject in the lane `aged`. */
  oldest_seconds: number
}

export async function ticketFigures(
  sql: Sql,
  { held, retried, aged }: { held: readonly string[]; retried: string; aged: string },
): Promise<TicketFigures> {
  const [figures] = await sql<TicketFigures>`
    select (select count(*)
            from (select from tickets where lane = any (${keptLanes(held)}::text[]) and owner is null
                  limit ${MOST_COUNTED}) kept)::integer as kept,
           (select count(*)
            from (select attempts, faults from tickets where lane = ${retried} and owner is null
                  limit ${MOST_COUNTED}) waiting
            where attempts > 0 or faults > 0)::integer as retried,
           coalesce((select extract(epoch from clock_timestamp() - min(uuid_time(subjects[1])))
                     from (select subjects from tickets where lane = ${aged} and owner is null limit ${MOST_COUNTED}) waiting),
                    0)::float8 as oldest_seconds`
  return figures ?? { kept: 0, retried: 0, oldest_seconds: 0 }
}
