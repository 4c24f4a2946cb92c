import { type Channel, channelNames } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, part, type Sql } from '../../db/connect.ts'
import { marked } from '../../events/sql.ts'
import type { KeyType } from '../../keys/key.ts'
import { leasedSubjects } from '../../queue/tickets.ts'
import type { Status } from '../status.ts'
import { highest, lowest } from './bounds.ts'
import { moved } from './moved.ts'

/** A range of the index `states_listed`, or without a status of `notifications_listed`, in the order of ids. */
export type Stretch = {
  service_id: Id
  key_type: KeyType
  channel: Channel
  in_job: boolean
  status: Status | null
}

/** The ranges in which these services have messages without a final status that are older than `before`. */
export const openStretches = (sql: Sql, services: readonly Id[], before: Id) => sql<Stretch & { status: Status }>`
  select v.service_id, k.key_type, c.channel, j.in_job, o.status
  from unnest(${services}::uuid[]) as v (service_id)
  cross join (values ('normal'), ('team'), ('test')) as k (key_type)
  cross join unnest(${channelNames}::text[]) as c (channel)
  cross join (values (false), (true)) as j (in_job)
  cross join (values ('created'), ('pending-virus-check'), ('sending'), ('pending')) as o (status)
  cross join lateral (
    select
    from states s
    where s.service_id = v.service_id
      and s.key_type = k.key_type
      and s.channel = c.channel
      and s.in_job = j.in_job
      and s.status = o.status
      and s.id < ${before}
    limit 1
  ) found`

/** The next ids of a range, oldest first. */
export async function idsIn(sql: Sql, of: Stretch, before: Id, after: Id | null, most: number): Promise<Id[]> {
  const rows = await sql<{ id: Id }>`
    select id
    from ${of.status === null ? part`notifications` : part`states`}
    where service_id = ${of.service_id}
      and key_type = ${of.key_type}
      and channel = ${of.channel}
      and in_job = ${of.in_job}
      and ${of.status === null ? part`true` : part`status = ${of.status}`}
      and id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
      and id < ${before}
    order by id nulls first
    limit ${most}`
  return rows.map(row => row.id)
}

const NOT_SCANNED = 'The virus scan gave no verdict within 72 hours'

/**
 * Ends those of these messages that were not sent within 72 hours, or sent and without a receipt for 72 hours. A message has no `sent_at`
 * if its receipt came, and the process that had sent it ended before it recorded that: then its time begins when it was due.
 */
export const giveUp = (sql: Sql, status: Status, ids: readonly Id[]) => sql<{ id: Id }>`
  with leased as materialized (${leasedSubjects}),
  overdue as materialized (
    select n.id
    from notifications n
    where ${status}::text in ('created', 'pending-virus-check')
      and n.id = any (${bare(ids)}::uuid[])
      and n.id between ${lowest(ids)} and ${highest(ids)}
      and coalesce(n.scheduled_for, uuid_time(n.id)) < clock_timestamp() - interval '72 hours'
      and n.id not in (select id from leased)
  ),
  ${moved(
    part`
    update states s
    set status = case when ${isUnsent} then 'technical-failure' else 'temporary-failure' end,
        completed_at = clock_timestamp(),
        provider_response = case when s.status = 'pending-virus-check' then ${NOT_SCANNED} else s.provider_response end,
        was = s.status,
        moves = s.moves || case when ${isUnsent} then 'technical-failure' else 'temporary-failure' end,
        ${marked}
    where s.id = any (${bare(ids)}::uuid[])
      and s.id between ${lowest(ids)} and ${highest(ids)}
      and ((${isUnsent} and s.id in (select id from overdue))
        or (s.status in ('sending', 'pending')
          and coalesce(s.sent_at, s.scheduled_for, uuid_time(s.id)) < clock_timestamp() - interval '72 hours'))`,
    { cause: 'expiry', response: part`case when was = 'pending-virus-check' then ${NOT_SCANNED}::text end` },
  )}
  select id from moved`

const isUnsent = part`s.status in ('created', 'pending-virus-check')`

export const remove = (sql: Sql, ids: readonly Id[]) => sql`
  with gone as (
    delete from states
    where id = any (${bare(ids)}::uuid[])
      and id between ${lowest(ids)} and ${highest(ids)}
  )
  delete from notifications
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`
