import type { Channel } from '../../channels/plain.ts'
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
export async function story(sql: Sql, scope: Id | 'every-service', id: Id, most: number): Promise<Story | null> {
  const [found] = await sql<Story>`
    select n.id, n.channel, n.key_type, s.status, n.reference, n.template_id, n.template_version, n.scheduled_for, s.sent_at,
           s.completed_at, s.provider_response, s.failure_detail, n.service_id, n.key_id, n.job_id, n.job_row, s.provider,
           s.diagnosis, s.attempts, s.uncertain, s.receipt_at is not null as has_receipt,
           s.logged[greatest(1, cardinality(s.logged) - ${most}::integer + 1):]::text[] as logged, cardinality(s.logged) as logged_count
    from notifications n
    join states s on s.id = n.id
    where n.id = ${id}
      and s.id = ${id}
      and ${scope === 'every-service' ? part`true` : part`n.service_id = ${scope}`}`
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
export const page = (sql: Sql, p: Page) => sql<Notification>`
  with page as materialized (${p.reference !== null ? withReference(p, p.reference) : p.statuses !== null ? withStatus(p, p.statuses) : all(p)}),
  sized as (
    -- The length is stored separately: the value itself is not read for it.
    select id, channel, key_type, status, reference, template_id, template_version, scheduled_for, sent_at, completed_at,
           provider_response, failure_detail, sealed, sum(octet_length(sealed)) over (order by id desc) - octet_length(sealed) as before
    from page
  )
  select id, channel, key_type, status, reference, template_id, template_version, scheduled_for, sent_at, completed_at,
         provider_response, failure_detail, sealed
  from sized
  where before < ${p.bytes}
  order by id desc`

/** Every lookup by id goes through an index that grows deeper with what is stored. So a scan reads its rows at once, and each state once. */
const all = (p: Page) => part`
    select w.*
    from ${floorsOf(p)}
    cross join unnest(${p.inJob}::boolean[]) as j (in_job)
    cross join lateral (
      select ${shown}
      from notifications n
      ${itsState}
      where n.service_id = ${p.service}
        and n.key_type = ${p.keyType}
        and n.channel = c.channel
        and n.in_job = j.in_job
        and n.id < ${p.olderThan ?? LAST}
        and s.status <> 'cancelled'
      order by n.id desc nulls last
      limit ${p.size}
    ) w
    where w.id >= c.floor
    order by w.id desc
    limit ${p.size}`

const withReference = (p: Page, reference: string) => part`
    select ${shown}
    from notifications n
    ${itsState}
    where n.service_id = ${p.service}
      and n.key_type = ${p.keyType}
      and md5(n.reference) = md5(${reference})
      and n.reference = ${reference}
      and n.id < ${p.olderThan ?? LAST}
      and exists (select from ${floorsOf(p)} where n.channel = c.channel and n.id >= c.floor)
      and n.in_job = any (${p.inJob}::boolean[])
      and s.status <> 'cancelled'
      and (${p.statuses}::text[] is null or s.status = any (${p.statuses}::text[]))
    order by n.id desc nulls last
    limit ${p.size}`

/** There may be many combinations, so the scans read ids only. */
const withStatus = (p: Page, statuses: readonly Status[]) => part`
    select ${shown}
    from (
      select w.id
      from ${floorsOf(p)}
      cross join unnest(${p.inJob}::boolean[]) as j (in_job)
      cross join unnest(${statuses}::text[]) as t (status)
      cross join lateral (
        select s.id
        from states s
        where s.service_id = ${p.service}
          and s.key_type = ${p.keyType}
          and s.channel = c.channel
          and s.in_job = j.in_job
          and s.status = t.status
          and s.id < ${p.olderThan ?? LAST}
        order by s.id desc nulls last
        limit ${p.size}
      ) w
      where w.id >= c.floor
      order by w.id desc
      limit ${p.size}
    ) page
    cross join lateral (select * from notifications where id = page.id limit 1) n
    ${itsState}`

const floorsOf = ({ channels }: Page) =>
  part`unnest(${channels.map(one => one.channel)}::text[], ${channels.map(one => one.from)}::uuid[]) as c (channel, floor)`

const itsState = part`cross join lateral (select * from states where id = n.id limit 1) s`

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
