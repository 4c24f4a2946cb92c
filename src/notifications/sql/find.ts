// Messages of a recipient or with a reference, for an operator who searches. Nothing is opened.
import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { KEY_TYPES } from '../../keys/key.ts'
import type { Status } from '../status.ts'
import { LAST } from './bounds.ts'

export type FoundMessage = {
  id: Id
  service_id: Id
  channel: Channel
  status: Status
  template_id: Id
  template_version: number
  reference: string | null
}

/** Where a recipient may be stored: a digest of a service and channel. */
export type DigestedRecipient = { service_id: Id; channel: Channel; digest: Buffer }

/**
 * Newest first. Each digest is one scan of the index `notifications_by_recipient` that reads at most `size` entries: of an equality
 * the planner expects a single message, and would read and sort all of a recipient who has many; so it is written as a range.
 */
export const toRecipient = (sql: Sql, wanted: readonly DigestedRecipient[], size: number) =>
  pageOf(
    sql,
    part`
    select n.id
    from unnest(${wanted.map(one => one.service_id)}::uuid[], ${wanted.map(one => one.channel)}::text[],
                ${wanted.map(one => `\\x${one.digest.toString('hex')}`)}::bytea[]) as w (service_id, channel, digest)
    cross join lateral (
      select n.id, n.service_id, n.channel
      from notifications n
      where n.recipient_digest >= w.digest
        and (n.recipient_digest, n.id) <= (w.digest, ${LAST}::uuid)
      order by n.recipient_digest desc nulls first, n.id desc nulls last
      limit ${size}
    ) n
    -- Only if two recipients had the same digest.
    where n.service_id = w.service_id
      and n.channel = w.channel`,
    size,
  )

/** Newest first; of these services. */
export const withReference = (sql: Sql, services: readonly Id[], reference: string, size: number) =>
  pageOf(
    sql,
    part`
    select n.id
    from unnest(${services}::uuid[]) as v (service_id)
    cross join unnest(${KEY_TYPES}::text[]) as k (key_type)
    cross join lateral (
      select n.id
      from notifications n
      where n.service_id = v.service_id
        and n.key_type = k.key_type
        and md5(n.reference) = md5(${reference})
        and n.reference = ${reference}
      order by n.id desc nulls last
      limit ${size}
    ) n`,
    size,
  )

/** As in `page` of read.ts, rows are fetched by lateral subqueries with a limit, which cannot become a join. */
const pageOf = (sql: Sql, ids: Part, size: number) => sql<FoundMessage>`
  with page as materialized (${ids} order by n.id desc limit ${size})
  select n.id, n.service_id, n.channel, s.status, n.template_id, n.template_version, n.reference
  from page
  cross join lateral (select * from notifications where id = page.id limit 1) n
  cross join lateral (select * from states where id = page.id limit 1) s
  order by page.id desc`
