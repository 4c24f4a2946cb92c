// Compares the hourly counts with the messages themselves. Written from what the tables mean, not from the code that counts.
import type { Sql } from '../../src/db/connect.ts'

/** Counts that differ: of one service, hour, template and status. */
export const wrongCounts = (sql: Sql, services: readonly string[]) => sql<{
  service_id: string
  hour: number
  template_id: string
  key_type: string
  status: string
  counted: number
  stored: number
}>`
  with counted as (
    select service_id, hour, template_id, key_type, status, sum(messages)::integer as messages
    from (select * from hourly_counts union all select * from hourly_changes) both_tables
    where service_id = any (${services}::uuid[])
    group by service_id, hour, template_id, key_type, status
    having sum(messages) <> 0
  ),
  stored as (
    select n.service_id, floor(extract(epoch from uuid_time(n.id)) / 3600)::integer as hour, n.template_id, n.key_type,
           case when s.status = 'created' and n.scheduled_for is not null then 'scheduled' else s.status end as status,
           count(*)::integer as messages
    from notifications n
    join states s on s.id = n.id
    where n.service_id = any (${services}::uuid[])
    group by 1, 2, 3, 4, 5
  )
  select service_id, hour, template_id, key_type, status, coalesce(c.messages, 0) as counted, coalesce(s.messages, 0) as stored
  from counted c
  full join stored s using (service_id, hour, template_id, key_type, status)
  where c.messages is distinct from s.messages`

/** Delivered messages whose class of time to delivery is not the one they are counted in. */
export const wrongClasses = (sql: Sql, services: readonly string[]) => sql<{
  took: number
  counted: number
  stored: number
}>`
  with counted as (
    select took, sum(messages)::integer as messages
    from (select * from hourly_counts union all select * from hourly_changes) both_tables
    where service_id = any (${services}::uuid[])
    group by took
    having sum(messages) <> 0
  ),
  stored as (
    select case when s.status <> 'delivered' then -1
                when t.seconds < 0.1 then 0
                else least(61, 1 + floor(log(1.3, t.seconds / 0.1)))::integer
           end as took, count(*)::integer as messages
    from notifications n
    join states s on s.id = n.id
    cross join lateral (
      select extract(epoch from s.completed_at - greatest(uuid_time(n.id), n.scheduled_for)) as seconds
    ) t
    where n.service_id = any (${services}::uuid[])
    group by 1
  )
  select took, coalesce(c.messages, 0) as counted, coalesce(s.messages, 0) as stored
  from counted c
  full join stored s using (took)
  where c.messages is distinct from s.messages`
