// The log of events. Rows are written by the statements that cause them. Readers follow positions (stamp, seq), and see every event
// once although transactions commit out of order:
//
// - `event_stamp()` is called after the rows of a statement are locked, with a snapshot of its own. It is higher than the number of
//   its own transaction, and not lower than the stamp of any transaction that had ended: so the events of one message are in order.
// - Of the transactions that have not ended, each has a number of at least `pg_snapshot_xmin`, hence a higher stamp. What has a stamp
//   up to that number (`horizon`) is complete, and nothing will be added before it.
//
// Numbers of transactions grow through crashes and failover; no clock is involved.
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import type { EventGroup, Position, Scope } from './event.ts'

/**
 * A CTE that logs events. `rows` selects one row per message: id, service_id, key_type, channel, type, cause, provider, response,
 * detail, uncertain, took, delay, time, sealed. Rows that differ in nothing but id, took, delay and time share a row of the log.
 */
export const logged = (rows: Part): Part => part`logged as (
    insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause, provider, response, detail, uncertain,
                        took, delays, times, sealed)
    select event_group(now()), event_stamp(), service_id, key_type, channel, type, subjects, cause, provider, response, detail,
           uncertain, took, delays, times, sealed
    from (
      select service_id, key_type, channel, type, cause, provider, response, detail, uncertain, sealed, array_agg(id) as subjects,
             case when bool_or(took is not null) then array_agg(took) end as took,
             case when bool_or(delay is not null) then array_agg(delay) end as delays,
             case when bool_or(time is not null) then array_agg(time) end as times
      from (${rows}) changes (id, service_id, key_type, channel, type, cause, provider, response, detail, uncertain, took, delay,
                              time, sealed)
      group by service_id, key_type, channel, type, cause, provider, response, detail, uncertain, sealed
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
  uncertain, took, delays, times, sealed`

/** The stamp up to which the log is complete. Only valid in the statement that reads with it. */
export const horizon: Part = part`(select shift + pg_snapshot_xmin(pg_current_snapshot())::text::bigint from event_clock)`

/**
 * The groups from a position on, in order. The first one may be the group of the position itself, of which some events were read.
 */
export const read = (
  sql: Sql,
  { service_id, key_type }: Scope,
  { stamp, seq }: Position,
  most: number,
) => sql<EventGroup>`
  select ${columns}
  from events
  where service_id = ${service_id}
    and key_type = ${key_type}
    and (stamp, seq) >= (${stamp}::bigint, ${seq}::bigint)
    and stamp <= ${horizon}
  order by stamp, seq
  limit ${most}`

/** Groups by id. */
export const byId = (sql: Sql, ids: readonly Id[]) => sql<EventGroup>`
  select ${columns}
  from events
  where id = any (${ids}::uuid[])`

/** What a statement must set in `states s` when it logs an event: how the events of a message are found. */
export const marked: Part = part`logged = s.logged || now()`

export const EVENTS_CHANNEL = 'herald_events'
export const notifyOfEvents = (sql: Sql, services: string) => sql`select pg_notify(${EVENTS_CHANNEL}, ${services})`
