// What delivery reads and writes. A turn is recorded by one statement, only while its ticket is leased to this process and is still
// the ticket of the endpoint.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'
import type { EventType, Position } from '../../events/event.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { type Again, settleTail, stillLeased } from '../../queue/tickets.ts'
import type { Reason, StoredWebhook } from '../webhook.ts'

/** Endpoints that wait for one of these tickets. Those that were changed, paused or removed meanwhile are left out. */
export const withTickets = (sql: Sql, webhooks: readonly Id[], tickets: readonly Id[]) => sql<StoredWebhook>`
  select id, service_id, key_type, format, sealed, types, with_recipient, batch, state, reason, created_at, updated_at, stamp::text,
         seq::text, n, ticket, failing_since, failures, succeeded_at
  from webhooks
  where id = any (${bare(webhooks)}::uuid[])
    and ticket = any (${bare(tickets)}::uuid[])
    and state = 'active'`

export type WaitingRetry = {
  webhook_id: Id
  event: Id
  subject: Id
  failures: number
  since: Timestamp
  /** Seconds until it is due. */
  due_in: number
}

/** Single events that wait, in the order of the log. */
export const waitingRetries = (sql: Sql, webhooks: readonly Id[]) => sql<WaitingRetry>`
  select webhook_id, event, subject, failures, since,
         greatest(0, extract(epoch from next_at - clock_timestamp()))::float8 as due_in
  from webhook_retries
  where webhook_id = any (${bare(webhooks)}::uuid[])
    and state = 'waiting'
  order by webhook_id, stamp, seq, event`

export type StoredReplay = {
  id: Id
  webhook_id: Id
  types: EventType[] | null
  first: Id
  last: Id
  stamp: string
  seq: string
  n: number
  end_stamp: string
  end_seq: string
}

/** The oldest replay of each endpoint. */
export const nextReplays = (sql: Sql, webhooks: readonly Id[]) => sql<StoredReplay>`
  select r.id, r.webhook_id, r.types, r.first, r.last, r.stamp::text, r.seq::text, r.n, r.end_stamp::text, r.end_seq::text
  from unnest(${bare(webhooks)}::uuid[]) as w (id)
  cross join lateral (
    select *
    from webhook_replays
    where webhook_id = w.id
    order by id
    limit 1
  ) r`

/** `took`: one entry for all events together, or one for each. Times are milliseconds since 1970. */
export type Attempt = {
  id: Id
  at: number
  events: readonly Id[]
  stamp: string
  took: readonly number[]
  status: number | null
  error: string | null
  answer: Buffer | null
}

/** An event that is set aside. */
export type Aside = {
  event: Id
  stamp: string
  seq: string
  subject: Id
  failures: number
  status: number | null
  delaySeconds: number
}

/** A single event that failed again. Null: it is given up. */
export type Retried = { event: Id; failures: number; status: number | null; delaySeconds: number | null }

export type Replayed = { id: Id; position: Position; sent: number; isDone: boolean }

export type TurnRecord = {
  position: Position
  failures: number
  failingSince: number | null
  hasSucceeded: boolean
  /** The endpoint is disabled. */
  reason: Reason | null
  attempts: readonly Attempt[]
  aside: readonly Aside[]
  retried: readonly Retried[]
  /** Single events that need no further retry. */
  ended: readonly Id[]
  replays: readonly Replayed[]
}

/** `record` is null when a ticket ends without a turn. `next`: the ticket of the next turn. */
export type TurnEntry = {
  webhook: Id
  ticket: Id
  takes: number
  next: Id | null
  record: TurnRecord | null
}

/** Records turns, settles their tickets and inserts those of further turns. Returns the endpoints that were recorded. */
export const recordTurns = (
  sql: Sql,
  owner: Id,
  entries: readonly TurnEntry[],
  settled: readonly Id[],
  again: readonly Again[],
  tail: Part,
) => {
  const of = <T>(pick: (record: TurnRecord) => T) => entries.map(({ record }) => (record ? pick(record) : null))
  const all = <T>(pick: (record: TurnRecord) => readonly T[]) =>
    entries.flatMap(({ webhook, record }) => (record ? pick(record).map(one => ({ ...one, webhook })) : []))
  const attempts = all(record => record.attempts)
  const aside = all(record => record.aside)
  const retried = all(record => record.retried)
  const ended = all(record => record.ended.map(event => ({ event })))
  const replays = all(record => record.replays)
  return sql<{ id: Id; service_id: Id; is_disabled: boolean }>`
    with leased as (${stillLeased(
      owner,
      entries.map(({ ticket, takes }) => ({ id: ticket, takes })),
    )}),
    turned as (
      update webhooks w
      set stamp = coalesce(t.stamp, w.stamp),
          seq = coalesce(t.seq, w.seq),
          n = coalesce(t.n, w.n),
          failures = coalesce(t.failures, w.failures),
          failing_since = case when t.failures is null then w.failing_since else to_timestamp(t.failing_since / 1000) end,
          succeeded_at = case when t.has_succeeded then clock_timestamp() else w.succeeded_at end,
          state = case when t.reason is null then w.state else 'disabled' end,
          reason = coalesce(t.reason, w.reason),
          ticket = t.next
      from unnest(${bare(entries.map(e => e.webhook))}::uuid[], ${bare(entries.map(e => e.ticket))}::uuid[],
                  ${bare(entries.map(e => e.next))}::uuid[], ${bare(of(r => r.position.stamp))}::bigint[],
                  ${bare(of(r => r.position.seq))}::bigint[], ${bare(of(r => r.position.n))}::integer[],
                  ${bare(of(r => r.failures))}::integer[], ${bare(of(r => r.failingSince))}::float8[],
                  ${bare(of(r => r.hasSucceeded))}::boolean[], ${bare(of(r => r.reason))}::text[])
           as t (id, ticket, next, stamp, seq, n, failures, failing_since, has_succeeded, reason)
      join leased on leased.id = t.ticket
      where w.id = t.id
        and w.ticket = t.ticket
      returning w.id, w.service_id, t.reason is not null as is_disabled
    ),
    attempted as (
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error, answer)
      select a.id, a.webhook, to_timestamp(a.at / 1000), a.events::uuid[], a.stamp, a.took::integer[], a.status, a.error, a.answer
      from unnest(${bare(attempts.map(a => a.id))}::uuid[], ${bare(attempts.map(a => a.webhook))}::uuid[],
                  ${bare(attempts.map(a => a.at))}::float8[], ${attempts.map(a => bare(a.events))}::text[],
                  ${bare(attempts.map(a => a.stamp))}::bigint[], ${attempts.map(a => bare(a.took))}::text[],
                  ${bare(attempts.map(a => a.status))}::integer[], ${attempts.map(a => a.error)}::text[],
                  ${bytes(attempts.map(a => a.answer))}::bytea[])
           as a (id, webhook, at, events, stamp, took, status, error, answer)
      join turned on turned.id = a.webhook
      on conflict do nothing
    ),
    set_aside as (
      insert into webhook_retries (webhook_id, event, stamp, seq, subject, failures, next_at, status)
      select a.webhook, a.event, a.stamp, a.seq, a.subject, a.failures, clock_timestamp() + make_interval(secs => a.delay), a.status
      from unnest(${bare(aside.map(a => a.webhook))}::uuid[], ${bare(aside.map(a => a.event))}::uuid[],
                  ${bare(aside.map(a => a.stamp))}::bigint[], ${bare(aside.map(a => a.seq))}::bigint[],
                  ${bare(aside.map(a => a.subject))}::uuid[], ${bare(aside.map(a => a.failures))}::integer[],
                  ${bare(aside.map(a => a.delaySeconds))}::float8[], ${bare(aside.map(a => a.status))}::integer[])
           as a (webhook, event, stamp, seq, subject, failures, delay, status)
      join turned on turned.id = a.webhook
      on conflict do nothing
    ),
    retried as (
      update webhook_retries r
      set state = case when a.delay is null then 'failed' else 'waiting' end,
          failures = a.failures,
          status = a.status,
          next_at = clock_timestamp() + make_interval(secs => coalesce(a.delay, 0))
      from unnest(${bare(retried.map(a => a.webhook))}::uuid[], ${bare(retried.map(a => a.event))}::uuid[],
                  ${bare(retried.map(a => a.failures))}::integer[], ${bare(retried.map(a => a.status))}::integer[],
                  ${bare(retried.map(a => a.delaySeconds))}::float8[])
           as a (webhook, event, failures, status, delay)
      join turned on turned.id = a.webhook
      where r.webhook_id = a.webhook
        and r.event = a.event
    ),
    ended as (
      delete from webhook_retries r
      using unnest(${bare(ended.map(a => a.webhook))}::uuid[], ${bare(ended.map(a => a.event))}::uuid[]) as a (webhook, event)
      join turned on turned.id = a.webhook
      where r.webhook_id = a.webhook
        and r.event = a.event
    ),
    replayed as (
      update webhook_replays r
      set stamp = a.stamp,
          seq = a.seq,
          n = a.n,
          sent = r.sent + a.sent
      from unnest(${bare(replays.map(a => a.webhook))}::uuid[], ${bare(replays.map(a => a.id))}::uuid[],
                  ${bare(replays.map(a => a.position.stamp))}::bigint[], ${bare(replays.map(a => a.position.seq))}::bigint[],
                  ${bare(replays.map(a => a.position.n))}::integer[], ${bare(replays.map(a => a.sent))}::bigint[],
                  ${bare(replays.map(a => a.isDone))}::boolean[])
           as a (webhook, id, stamp, seq, n, sent, is_done)
      join turned on turned.id = a.webhook
      where r.id = a.id
        and not a.is_done
    ),
    replays_done as (
      delete from webhook_replays r
      using unnest(${bare(replays.filter(a => a.isDone).map(a => a.webhook))}::uuid[],
                   ${bare(replays.filter(a => a.isDone).map(a => a.id))}::uuid[]) as a (webhook, id)
      join turned on turned.id = a.webhook
      where r.id = a.id
    ),
    ${tail}
    ${settleTail(settled, again)}
    select id, service_id, is_disabled from turned`
}

/** The tail of a turn that disables no endpoint. */
export const nothingElse: Part = part``

/** The tail of a turn that disables its endpoint: the audit entry, and mails to those who manage the service. */
export const disabling = (reason: Reason, mails: readonly QueuedMail[]): Part => part`
    disabled as (
      select id, service_id from turned where is_disabled
    ),
    ${recorded('webhook disabled', SYSTEM, part`disabled`, { reason })},
    ${mailsQueued(mails, part`exists (select from disabled)`)},`

/** Herald itself. */
const SYSTEM: Actor = { kind: 'operator', name: 'herald' }
