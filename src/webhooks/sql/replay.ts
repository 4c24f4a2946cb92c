// Replays: parts of the log that are sent again, and single events that are set aside.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { EventType, Position } from '../../events/event.ts'

/** Replays that have not ended, and single events that wait. */
export async function waitingFor(sql: Sql, webhook: Id): Promise<{ replays: number; events: number }> {
  const [row] = await sql<{ replays: number; events: number }>`
    select (select count(*) from webhook_replays where webhook_id = ${webhook})::integer as replays,
           (select count(*) from webhook_retries where webhook_id = ${webhook} and state = 'waiting')::integer as events`
  return row ?? { replays: 0, events: 0 }
}

export type NewReplay = {
  id: Id
  types: readonly EventType[] | null
  /** Ids of events, both included. */
  first: Id
  last: Id
  position: Position
  end: Pick<Position, 'stamp' | 'seq'>
}

export const addReplay = (sql: Sql, webhook: Id, r: NewReplay, actor: Actor, detail: object) => sql`
  with owner as (
    select id, service_id from webhooks where id = ${webhook}
  ),
  ${recorded('webhook replayed', actor, part`owner`, detail)}
  insert into webhook_replays (id, webhook_id, types, first, last, stamp, seq, n, end_stamp, end_seq)
  select ${r.id}::uuid, id, ${r.types}::text[], ${r.first}::uuid, ${r.last}::uuid, ${r.position.stamp}::bigint,
         ${r.position.seq}::bigint, ${r.position.n}::integer, ${r.end.stamp}::bigint, ${r.end.seq}::bigint
  from owner`

export type SingleEvent = { event: Id; stamp: string; seq: string; subject: Id }

export const addSingle = (sql: Sql, webhook: Id, one: SingleEvent, actor: Actor) => sql`
  with owner as (
    select id, service_id from webhooks where id = ${webhook}
  ),
  ${recorded('webhook replayed', actor, part`owner`, { event: one.event })}
  insert into webhook_retries (webhook_id, event, stamp, seq, subject, next_at)
  select id, ${one.event}::uuid, ${one.stamp}::bigint, ${one.seq}::bigint, ${one.subject}::uuid, clock_timestamp()
  from owner
  on conflict (webhook_id, event) do update
  set state = 'waiting',
      failures = 0,
      since = clock_timestamp(),
      next_at = clock_timestamp()`

/** The oldest `most` events that were given up become due, and all that wait. Returns how many there are of both. */
export async function retryFailed(sql: Sql, webhook: Id, most: number, actor: Actor): Promise<number> {
  const [row] = await sql<{ count: number }>`
    with chosen as (
      (select event from webhook_retries where webhook_id = ${webhook} and state = 'waiting')
      union all
      (select event from webhook_retries where webhook_id = ${webhook} and state = 'failed' order by event limit ${most})
    ),
    due as (
      update webhook_retries r
      set state = 'waiting',
          failures = 0,
          since = clock_timestamp(),
          next_at = clock_timestamp()
      from chosen
      where r.webhook_id = ${webhook}
        and r.event = chosen.event
      returning r.event
    ),
    owner as (
      select id, service_id from webhooks where id = ${webhook} and exists (select from due)
    ),
    ${recorded('webhook replayed', actor, part`owner`, { failed: true })}
    select count(*)::integer as count from due`
  return row?.count ?? 0
}

/** Single events that wait become due. */
export const retryWaiting = (sql: Sql, webhook: Id) => sql`
  update webhook_retries
  set next_at = clock_timestamp()
  where webhook_id = ${webhook}
    and state = 'waiting'
    and next_at > clock_timestamp()`

/** A failing endpoint is not tried before its next retry; this makes it due now. */
export const tryNow = (sql: Sql, webhook: Id) => sql`
  update webhooks
  set ticket = null
  where id = ${webhook}
    and failing_since is not null`

export type SetAside = {
  event: Id
  subject: Id
  state: 'waiting' | 'failed'
  failures: number
  since: Timestamp
  next_at: Timestamp
  status: number | null
}

/** Single events that were refused, newest first. */
export const setAside = (sql: Sql, webhook: Id, olderThan: Id | null, most: number) => sql<SetAside>`
  select event, subject, state, failures, since, next_at, status
  from webhook_retries
  where webhook_id = ${webhook}
    and (${olderThan}::uuid is null or event < ${olderThan}::uuid)
  order by event desc
  limit ${most}`
