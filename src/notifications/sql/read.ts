import type { Channel } from '../../channels/index.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import type { Notification } from '../notification.ts'
import type { Status } from '../status.ts'
import { LAST } from './bounds.ts'

const shown = part`n.id, n.channel, n.key_type, s.status, n.reference, n.template_id, n.template_version, n.scheduled_for,
  s.sent_at, s.completed_at, s.provider_response, s.failure_detail, n.sealed`

export async function find(sql: Sql, service: Id, id: Id): Promise<Notification | null> {
  const [found] = await sql<Notification>`
    select ${shown}
    from notifications n
    join states s on s.id = n.id
    where n.id = ${id}
      and s.id = ${id}
      and n.service_id = ${service}
      and s.status <> 'cancelled'`
  return found ?? null
}

export type History = {
  service_id: Id
  channel: Channel
  status: Status
  failure_detail: string | null
  diagnosis: Buffer | null
  provider: string | null
  provider_response: string | null
  attempts: number
  uncertain: boolean
  moves: string[]
  sent_at: Timestamp | null
  completed_at: Timestamp | null
}

export async function history(sql: Sql, id: Id): Promise<History | null> {
  const [found] = await sql<History>`
    select service_id, channel, status, failure_detail, diagnosis, provider, provider_response, attempts, uncertain, moves,
           sent_at, completed_at
    from states
    where id = ${id}`
  return found ?? null
}

/** Everything stored about a message, except what is personal. */
export type Story = Omit<Notification, 'sealed'> & {
  service_id: Id
  key_id: Id | null
  job_id: Id | null
  job_row: number | null
  provider: string | null
  diagnosis: Buffer | null
  attempts: number
  uncertain: boolean
  has_receipt: boolean
  /** When its events were logged, and how many they are. The newest, if there are many. */
  logged: Timestamp[]
  logged_count: number
}

/** `most`: the most moments of the log. */
export async function story(sql: Sql, id: Id, most: number): Promise<Story | null> {
  const [found] = await sql<Story>`
    select n.id, n.channel, n.key_type, s.status, n.reference, n.template_id, n.template_version, n.scheduled_for, s.sent_at,
           s.completed_at, s.provider_response, s.failure_detail, n.service_id, n.key_id, n.job_id, n.job_row, s.provider,
           s.diagnosis, s.attempts, s.uncertain, s.receipt_at is not null as has_receipt,
           s.logged[greatest(1, cardinality(s.logged) - ${most}::integer + 1):]::text[] as logged, cardinality(s.logged) as logged_count
    from notifications n
    join states s on s.id = n.id
    where n.id = ${id}
      and s.id = ${id}`
  return found ?? null
}

/** What a message is made of, and how it was sent. */
export type StoredMessage = Pick<
  Notification,
  'id' | 'channel' | 'key_type' | 'reference' | 'template_id' | 'template_version' | 'sealed'
> & {
  service_id: Id
  sender_id: Id | null
  lane: string
}

export async function storedMessage(sql: Sql, service: Id, id: Id): Promise<StoredMessage | null> {
  const [found] = await sql<StoredMessage>`
    select id, service_id, channel, key_type, reference, template_id, template_version, sender_id, lane, sealed
    from notifications
    where id = ${id}
      and service_id = ${service}`
  return found ?? null
}

export type Page = {
  service: Id
  keyType: KeyType
  /** Each channel with the lowest id within its retention period. */
  channels: readonly { channel: Channel; from: Id }[]
  inJob: readonly boolean[]
  statuses: readonly Status[] | null
  reference: string | null
  olderThan: Id | null
  size: number
  /** The page ends after this many bytes of sealed values, but has at least one message. */
  bytes: number
}

/**
 * Newest first. Each combination of filters is one index scan that reads at most one page. Three things force this plan
 * (test/explain.test.ts). States and whole rows are fetched by lateral subqueries with a limit, which cannot become a join that
 * reads whole partitions. The start of the retention period is checked after the scan, because the planner estimates a range with
 * two parameters as so small that it would read and sort all of it. And only the indexes for this statement have the order
 * `nulls last`, so that it cannot scan the primary key and filter.
 */
export function page(sql: Sql, p: Page): Promise<Notification[]> {
  const channels = p.channels.map(one => one.channel)
  const floors = p.channels.map(one => one.from)
  const top = p.olderThan ?? LAST
  const walk =
    p.reference !== null
      ? part`
        select n.id
        from notifications n
        where n.service_id = ${p.service}
          and n.key_type = ${p.keyType}
          and md5(n.reference) = md5(${p.reference})
          and n.reference = ${p.reference}
          and n.id < ${top}
          and exists (select from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
                      where n.channel = c.channel and n.id >= c.floor)
          and n.in_job = any (${p.inJob}::boolean[])
          and ${statusIn} <> 'cancelled'
          and (${p.statuses}::text[] is null or ${statusIn} = any (${p.statuses}::text[]))
        order by n.id desc nulls last
        limit ${p.size}`
      : p.statuses !== null
        ? part`
        select w.id
        from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
        cross join unnest(${p.inJob}::boolean[]) as j (in_job)
        cross join unnest(${p.statuses}::text[]) as t (status)
        cross join lateral (
          select s.id
          from states s
          where s.service_id = ${p.service}
            and s.key_type = ${p.keyType}
            and s.channel = c.channel
            and s.in_job = j.in_job
            and s.status = t.status
            and s.id < ${top}
          order by s.id desc nulls last
          limit ${p.size}
        ) w
        where w.id >= c.floor
        order by w.id desc
        limit ${p.size}`
        : part`
        select w.id
        from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
        cross join unnest(${p.inJob}::boolean[]) as j (in_job)
        cross join lateral (
          select n.id
          from notifications n
          where n.service_id = ${p.service}
            and n.key_type = ${p.keyType}
            and n.channel = c.channel
            and n.in_job = j.in_job
            and n.id < ${top}
            and ${statusIn} <> 'cancelled'
          order by n.id desc nulls last
          limit ${p.size}
        ) w
        where w.id >= c.floor
        order by w.id desc
        limit ${p.size}`
  return sql<Notification>`
    with page as materialized (${walk}),
    sized as (
      -- The length is stored separately: the value itself is not read for it.
      select ${shown}, sum(octet_length(n.sealed)) over (order by page.id desc) - octet_length(n.sealed) as before
      from page
      cross join lateral (select * from notifications where id = page.id limit 1) n
      cross join lateral (select * from states where id = page.id limit 1) s
    )
    select id, channel, key_type, status, reference, template_id, template_version, scheduled_for, sent_at, completed_at,
           provider_response, failure_detail, sealed
    from sized
    where before < ${p.bytes}
    order by id desc`
}

const statusIn = part`(select s.status from states s where s.id = n.id)`

/** Whether the service has this message, in any status. */
export async function exists(sql: Sql, service: Id, id: Id): Promise<boolean> {
  const rows = await sql`select id from notifications where id = ${id} and service_id = ${service}`
  return rows.length > 0
}

/** The statuses of messages that exist. */
export async function statusOf(sql: Sql, ids: readonly Id[]): Promise<Map<Id, Status>> {
  const rows = await sql<{ id: Id; status: Status }>`
    select m.id, s.status
    from unnest(${ids}::uuid[]) as m (id)
    cross join lateral (select status from states where id = m.id limit 1) s`
  return new Map(rows.map(row => [row.id, row.status]))
}
