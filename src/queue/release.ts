// Ends a hold of sending. Tickets that may already have been sent by the original of a restored copy are kept back: they move to a
// lane `kept-…`, from which no engine takes, until an operator chooses them or their messages expire. `lanes` are the held lanes.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Database, type Part, part, type Sql } from '../db/connect.ts'
import { purgeAged } from '../db/purge.ts'
import { HOLD_CHANNEL } from './hold.ts'

const KEPT = 'kept-'
export const keptLanes = (lanes: readonly string[]) => lanes.map(lane => KEPT + lane)

export type Released = { released: number; kept: number }

/**
 * Releases what was due since the cut-off and has never been tried, and keeps back the rest. It is one transaction, so that a
 * process that gets the NOTIFY finds the tickets in their lanes. A million tickets take longer than the timeout of a request.
 */
export const releaseSince = (
  db: Pick<Database, 'transaction'>,
  lanes: readonly string[],
  cutOff: Timestamp,
  wasTried: (subjects: Part) => Part,
): Promise<Released> =>
  db.transaction(async sql => {
    await sql`
      update tickets
      set lane = ${KEPT} || lane
      where lane = any (${lanes}::text[])
        and (due_at < ${cutOff}::timestamptz
          or attempts > 0
          or faults > 0
          or takes > 0
          or ${wasTried(part`tickets.subjects`)})`
    return endHold(sql, lanes)
  })

/** Releases everything, also what was kept back. */
export const releaseAll = (db: Pick<Database, 'transaction'>, lanes: readonly string[]): Promise<Released> =>
  db.transaction(async sql => {
    await sql`
      update tickets
      set lane = substr(lane, ${KEPT.length + 1}::integer)
      where lane = any (${keptLanes(lanes)}::text[])`
    return endHold(sql, lanes)
  })

async function endHold(sql: Sql, lanes: readonly string[]): Promise<Released> {
  // In a restored copy nobody knows how far the original came with the tickets that it had leased.
  await sql`
    update tickets
    set known = 0
    where lane = any (${lanes}::text[])
      and takes > 0
      and exists (select from sending where reason = 'restored')`
  await sql`update sending set held_since = null, reason = null`
  const [counted] = await sql<Released>`
    select coalesce(sum(cardinality(subjects)) filter (where lane = any (${lanes}::text[])), 0)::integer as released,
           coalesce(sum(cardinality(subjects)) filter (where lane = any (${keptLanes(lanes)}::text[])), 0)::integer as kept
    from tickets`
  await sql`select pg_notify(${HOLD_CHANNEL}, '')`
  return counted ?? { released: 0, kept: 0 }
}

/**
 * Releases the chosen messages of those kept back. A ticket that was leased before keeps one lease, so that its messages are
 * marked as uncertain before they are sent.
 */
export async function releaseChosen(sql: Sql, lanes: readonly string[], ids: readonly Id[]): Promise<Id[]> {
  const rows = await sql<{ subjects: Id[] }>`
    with taken as (
      delete from tickets
      where lane = any (${keptLanes(lanes)}::text[])
        and subjects && ${ids}::uuid[]
      returning id, lane, service_id, subjects, due_at, attempts, faults, tried_at, takes
    ),
    split as (
      select taken.*,
             array(select one from unnest(subjects) as one where one = any (${ids}::uuid[])) as chosen,
             array(select one from unnest(subjects) as one where one <> all (${ids}::uuid[])) as rest
      from taken
    ),
    stays as (
      insert into tickets (id, lane, service_id, subjects, due_at, attempts, faults, tried_at, takes)
      select gen_random_uuid(), lane, service_id, rest, due_at, attempts, faults, tried_at, takes
      from split
      where cardinality(rest) > 0
    )
    insert into tickets (id, lane, service_id, subjects, due_at, attempts, faults, tried_at, takes)
    select case when cardinality(rest) = 0 then id else gen_random_uuid() end, substr(lane, ${KEPT.length + 1}::integer),
           service_id, chosen, least(due_at, clock_timestamp()), attempts, faults, tried_at, least(takes, 1)
    from split
    returning subjects`
  return rows.flatMap(row => row.subjects)
}

export type KeptTicket = {
  lane: string
  service_id: Id
  subjects: Id[]
  due_at: Timestamp
  attempts: number
  takes: number
}

export const keptTickets = (sql: Sql, lanes: readonly string[], most: number) => sql<KeptTicket>`
  select substr(lane, ${KEPT.length + 1}::integer) as lane, service_id, subjects, due_at, attempts, takes
  from tickets
  where lane = any (${keptLanes(lanes)}::text[])
  order by due_at
  limit ${most}`

/** Tickets kept back from this lane that were due more than 80 hours ago. */
export const purgeKept = (sql: Sql, lane: string, after: Timestamp | null, most: number) =>
  purgeAged(
    sql,
    {
      table: part`tickets`,
      time: part`due_at`,
      key: part`id`,
      match: part`t.id = old.id and t.lane = ${KEPT + lane}`,
      where: part`lane = ${KEPT + lane} and owner is null`,
    },
    part`clock_timestamp() - interval '80 hours'`,
    after,
    most,
  )
