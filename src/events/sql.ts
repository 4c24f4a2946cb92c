// The log of events. Rows are written by the statements that cause them. Readers follow positions (stamp, seq), and see every event
// once although transactions commit out of order:
//
// - `event_stamp()` is called after the rows of a statement are locked, with a snapshot of its own. It is higher than the number of
//   its own transaction, and not lower than the stamp of any transaction that had ended: so the events of one message are in order.
// - Of the transactions that have not ended, each has a number of at least `pg_snapshot_xmin`, hence a higher stamp. What has a stamp
//   up to that number (`horizon`) is complete, and nothing will be added before it.
//
// Numbers of transactions grow through crashes and failover; no clock is involved. An asynchronous standby that is promoted uses the
// numbers of lost transactions again, so each timeline of the server begins 2^40 higher (`shift`, sql/clock.ts).
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { bare, type Part, part, type Sql } from '../db/connect.ts'
import type { Cause, EventGroup, EventType, Position, Scope } from './event.ts'

/**
 * A CTE `name` that logs events. `rows` selects one row per message: id, service_id, key_type, channel, type, provider, response,
 * detail, uncertain, took, delay, time, sealed. Rows that differ in nothing but id, took, delay and time share a row of the log.
 */
export const logged = (name: Part, cause: Cause, rows: Part): Part => part`${name} as (
    insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause, provider, response, detail, uncertain,
                        took, delays, times, sealed)
    -- As event_group(now()). The subqueries run once, when all rows are there and hence locked.
    select ((select left(event_floor(now())::text, 18)) || substr(gen_random_uuid()::text, 19, 14) || '0000')::uuid,
           (select event_stamp()), service_id, key_type, channel, type, subjects, ${cause}::text, provider, response, detail,
           uncertain, took, delays, times, sealed
    from (
      select service_id, key_type, channel, type, provider, response, detail, uncertain, sealed, array_agg(id) as subjects,
             case when bool_or(took is not null) then array_agg(took) end as took,
             case when bool_or(delay is not null) then array_agg(delay) end as delays,
             case when bool_or(time is not null) then array_agg(time) end as times
      from (${rows}) changes (id, service_id, key_type, channel, type, provider, response, detail, uncertain, took, delay, time,
                              sealed)
      group by service_id, key_type, channel, type, provider, response, detail, uncertain, sealed
      offset 0
    ) alike
  )`

/** A CTE that logs events of jobs: `rows` selects id, service_id, key_type and type, in order. */
export const jobLogged = (rows: Part): Part => part`job_logged as (
    insert into events (id, stamp, service_id, key_type, type, subjects, cause)
    select event_group(now()), event_stamp(), service_id, key_type, type, array[id], 'job'
    from (${rows}) changes (id, service_id, key_type, type)
  )`

const columns = part`id, stamp::text, seq::text, service_id, key_type, channel, type, at, subjects, cause, provider, response, detail,
  uncertain, took, delays, times::text[] as times, sealed`

/** Of a row of event_clock: what is added to numbers of transactions. As in `event_stamp()`. */
export const shift: Part = part`shift + greatest(event_timeline() - timeline, 0) * 1099511627776`

/** The stamp up to which the log is complete. Only valid in the statement that reads with it. */
export const horizon: Part = part`(select ${shift} + pg_snapshot_xmin(pg_current_snapshot())::text::bigint from event_clock where one)`

/** A part of a group: what a page needs of it. Lists are text with commas, which is parsed faster; `times` and others may be null. */
export type ReadGroup = Omit<EventGroup, 'service_id' | 'key_type' | 'subjects' | 'took' | 'delays' | 'times'> & {
  size: number
  /** Whether its type is asked for. If not, it has no subjects here. */
  wanted: boolean
  /** How many of its events are before this part. */
  skipped: number
  subjects: string | null
  took: string | null
  delays: string | null
  times: string | null
  /** Events that the scanned groups hold for this reader, and the number of these groups. */
  total: number
  scanned: number
}

export type Reading = {
  types: readonly EventType[] | null
  /** The most events, and the most groups that are looked at. */
  most: number
  groups: number
  /** The last place in the log. */
  until: Pick<Position, 'stamp' | 'seq'> | null
  /** Partitions before the day of this id are not looked at. Its first id: others would be skipped one by one. */
  from: Id
  /** Ids of groups. */
  first: Id
  last: Id
}

/**
 * The groups after a position, in order: at most as many as hold `most` events of these types, and the last one that was looked at.
 * The first one may be the group of the position itself, of which some events were read. The end of the range is checked after the
 * scan: the planner estimates a range with two parameters as so small that it would read and sort all of it (test/explain.test.ts).
 */
export const read = (
  sql: Sql,
  { service_id, key_type }: Scope,
  { stamp, seq, n }: Position,
  { types, most, groups, until, from, first, last }: Reading,
) => sql<ReadGroup>`
  with found as materialized (
    select *
    from events
    where service_id = ${service_id}
      and key_type = ${key_type}
      and (stamp, seq) >= (${stamp}::bigint, ${seq}::bigint)
      and id >= ${from}
    order by stamp, seq
    limit ${groups}
  ),
  near as (
    select *, case when stamp = ${stamp}::bigint and seq = ${seq}::bigint then least(${n}::integer + 1, size) else 0 end as skipped,
           id between ${first} and ${last} and (${types}::text[] is null or type = any (${types}::text[])) as wanted
    from found
    where (stamp, seq) <= (${until?.stamp ?? MOST}::bigint, ${until?.seq ?? MOST}::bigint)
      and stamp <= ${horizon}
  ),
  counted as (
    select *, sum(case when wanted then size - skipped else 0 end) over (order by stamp, seq) as through,
           row_number() over (order by stamp, seq) as place
    from near
  ),
  page as (
    select *, through - case when wanted then size - skipped else 0 end as before, max(through) over () as total,
           max(place) over () as scanned
    from counted
  )
  select id, stamp::text, seq::text, channel, type, at, cause, provider, response, detail, uncertain, sealed, size, wanted, skipped, total, scanned,
         case when wanted then array_to_string(subjects[skipped + 1:(skipped + ${most}::integer - before)::integer], ',') end as subjects,
         array_to_string(took[skipped + 1:(skipped + ${most}::integer - before)::integer], ',', '') as took,
         array_to_string(delays[skipped + 1:(skipped + ${most}::integer - before)::integer], ',', '') as delays,
         array_to_string(times[skipped + 1:(skipped + ${most}::integer - before)::integer], ',', '') as times
  from page
  where (wanted and before < ${most}::integer)
     or (not wanted and place = scanned and total <= ${most}::integer)
  order by page.stamp, page.seq`

/** More than any stamp. */
const MOST = '9223372036854775807'

/** The last group of the complete part of the log. */
export async function lastGroup(sql: Sql, { service_id, key_type }: Scope): Promise<Position | null> {
  const [last] = await sql<Position>`
    select stamp::text, seq::text, size - 1 as n
    from events
    where service_id = ${service_id}
      and key_type = ${key_type}
      and stamp <= ${horizon}
    order by events.stamp desc, events.seq desc
    limit 1`
  return last ?? null
}

/**
 * The place before the first event of this time or later; without one, the end of the complete part. A group that was logged by
 * a transaction which began long before that time (`before`) is from before it, whatever its service: its stamp is where the search
 * begins.
 */
export async function placeAt(
  sql: Sql,
  { service_id, key_type }: Scope,
  { at, before }: { at: Timestamp; before: Id },
): Promise<Position | null> {
  const [place] = await sql<Position>`
    with start as materialized (
      select stamp from events where id < ${before} order by id desc limit 1
    ),
    found as materialized (
      select stamp, seq, -1 as n
      from events
      where service_id = ${service_id}
        and key_type = ${key_type}
        and stamp >= coalesce((select stamp from start), 0)
        and id >= ${before}
        and at >= ${at}::timestamptz
      order by stamp, seq
      limit 1
    ),
    first as (
      select stamp, seq, n from found where stamp <= ${horizon}
    ),
    last as (
      select stamp, seq, size - 1 as n
      from events
      where service_id = ${service_id}
        and key_type = ${key_type}
        and stamp <= ${horizon}
        and not exists (select from first)
      order by stamp desc, seq desc
      limit 1
    )
    select stamp::text, seq::text, n from first
    union all
    select stamp::text, seq::text, n from last`
  return place ?? null
}

/** What the log has after several positions: the next groups of each. `place` is the index of the position. */
export const newGroups = (sql: Sql, from: readonly (Scope & Pick<Position, 'stamp' | 'seq'>)[]) => sql<{
  place: number
  stamp: string
  seq: string
  type: EventType
}>`
  select w.place, e.stamp::text, e.seq::text, e.type
  from unnest(${bare(from.map((_, at) => at))}::integer[], ${bare(from.map(one => one.service_id))}::uuid[],
              ${bare(from.map(one => one.key_type))}::text[], ${bare(from.map(one => one.stamp))}::bigint[],
              ${bare(from.map(one => one.seq))}::bigint[]) as w (place, service_id, key_type, stamp, seq)
  cross join lateral (
    select stamp, seq, type
    from events
    where service_id = w.service_id
      and key_type = w.key_type
      and (stamp, seq) > (w.stamp, w.seq)
      -- Whoever has read all of the log waits for what is logged now: older days are not looked at.
      and id >= event_floor(now() - interval '1 day')
    order by stamp, seq
    limit 100
  ) e
  where e.stamp <= ${horizon}
  order by w.place, e.stamp, e.seq`

/** Whether a position is beyond everything that can be read: no reader was ever there, unless a backup was restored. */
export async function isAhead(sql: Sql, { stamp }: Position): Promise<boolean> {
  const [row] = await sql<{ ahead: boolean }>`select ${stamp}::bigint > ${horizon} as ahead`
  return row?.ahead === true
}

/**
 * Selects the first group after the position of `reader`, a row with service_id, key_type, stamp, seq and n: `at`, and whether it is
 * in the complete part of the log. `first`: the lowest id that is looked at.
 */
export const firstAfter = (reader: Part, first: Part): Part => part`
      select e.at, e.stamp <= ${horizon} as is_complete
      from events e
      where e.service_id = ${reader}.service_id
        and e.key_type = ${reader}.key_type
        and (e.stamp, e.seq) >= (${reader}.stamp, ${reader}.seq)
        and (e.stamp > ${reader}.stamp or e.seq > ${reader}.seq or e.size > ${reader}.n + 1)
        and e.id >= ${first}
      order by e.stamp, e.seq
      limit 1`

/** Groups by id. */
export const byId = (sql: Sql, ids: readonly Id[]) => sql<EventGroup>`
  select ${columns}
  from events
  where id = any (${ids}::uuid[])`

/** What a statement must set in `states s` when it logs an event: how the events of a message are found. */
export const marked: Part = part`logged = s.logged || now()`

export const EVENTS_CHANNEL = 'herald_events'
export const notifyOfEvents = (sql: Sql, services: string) => sql`select pg_notify(${EVENTS_CHANNEL}, ${services})`

/** An event of one message. The group and `n` make its id. */
export type MessageEvent = Omit<
  EventGroup,
  'service_id' | 'key_type' | 'channel' | 'subjects' | 'took' | 'delays' | 'times'
> & {
  n: number
  took: number | null
  next_at: Timestamp | null
  time: Timestamp | null
}

/**
 * The events of a message, in order. `logged`: when they were logged (states.logged), so that each is found by a range of the primary
 * key.
 */
export const ofMessage = (sql: Sql, id: Id, logged: readonly Timestamp[]) => sql<MessageEvent>`
  select e.id, e.stamp::text, e.seq::text, e.type, e.at, e.cause, e.provider, e.response, e.detail, e.uncertain, e.sealed,
         e.place - 1 as n, e.took[e.place] as took, e.at + make_interval(secs => e.delays[e.place]) as next_at,
         e.times[e.place] as time
  from (select distinct moment from unnest(${logged}::timestamptz[]) as l (moment)) m
  cross join lateral (
    select *, array_position(subjects, ${id}::uuid) as place
    from events
    where id >= event_floor(m.moment)
      and id < event_floor(m.moment + interval '1 microsecond')
      and ${id}::uuid = any (subjects)
    offset 0
  ) e
  order by e.stamp, e.seq`
