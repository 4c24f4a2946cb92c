// Compares the counts with the messages themselves. Written from what the tables mean, not from the code that counts.
import type { Sql } from '../../src/db/connect.ts'

export type WrongCount = { of: string; key: object; counted: number; stored: number }

/** Counts that differ: by hour, status and time to delivery, by day, template and status, or by day, key and status. */
export const wrongCounts = (sql: Sql, services: readonly string[]) => sql<WrongCount>`
  with stored as materialized (
    select n.service_id, floor(extract(epoch from uuid_time(n.id)) / 3600)::integer as hour, n.channel, n.template_id, n.key_id,
           n.key_type, coalesce(s.parts, 0) as parts,
           case when s.status = 'created' and n.scheduled_for is not null then 'scheduled' else s.status end as status,
           case when s.status <> 'delivered' then -1
                when t.seconds < 0.1 then 0
                -- In double precision, as they are counted: exactly at an edge (0.28561 s) the last digit decides.
                else least(61, 1 + floor(ln(t.seconds::float8 / 0.1::float8) / ln(1.3::float8)))::integer
           end as took
    from notifications n
    join states s on s.id = n.id
    cross join lateral (
      select extract(epoch from s.completed_at - greatest(uuid_time(n.id), n.scheduled_for)) as seconds
    ) t
    where n.service_id = any (${services}::uuid[])
  ),
  both_tables as (
    select 'hour' as of, jsonb_build_object('service', service_id, 'hour', hour, 'channel', channel, 'key', key_type,
                                            'status', status, 'took', took) as key, 0 as counted, 1 as stored
    from stored
    union all
    select 'hour', jsonb_build_object('service', service_id, 'hour', hour, 'channel', channel, 'key', key_type,
                                      'status', status, 'took', took), messages, 0
    from (select service_id, hour, channel, key_type, status, took, messages from hourly_counts
          union all
          select service_id, hour, channel, key_type, status, took, messages from hourly_changes) counts
    where service_id = any (${services}::uuid[])
    union all
    select 'template', jsonb_build_object('service', service_id, 'day', hour / 24, 'template', template_id, 'key', key_type,
                                          'status', status), 0, 1
    from stored
    union all
    select 'template', jsonb_build_object('service', service_id, 'day', day, 'template', template_id, 'key', key_type,
                                          'status', status), messages, 0
    from (select service_id, day, template_id, key_type, status, messages from template_counts
          union all
          select service_id, hour / 24, template_id, key_type, status, messages from hourly_changes) counts
    where service_id = any (${services}::uuid[])
    union all
    select 'key', jsonb_build_object('service', service_id, 'day', hour / 24, 'id', key_id, 'status', status), 0, 1
    from stored
    where key_id is not null
    union all
    select 'key', jsonb_build_object('service', service_id, 'day', day, 'id', key_id, 'status', status), messages, 0
    from (select service_id, day, key_id, status, messages from key_counts
          union all
          select service_id, hour / 24, key_id, status, messages from hourly_changes where key_id is not null) counts
    where service_id = any (${services}::uuid[])
    union all
    select 'parts', jsonb_build_object('service', service_id, 'hour', hour, 'status', status), 0, parts
    from stored
    union all
    select 'parts', jsonb_build_object('service', service_id, 'hour', hour, 'status', status), parts, 0
    from (select service_id, hour, status, parts from hourly_counts
          union all
          select service_id, hour, status, parts from hourly_changes) counts
    where service_id = any (${services}::uuid[])
  )
  select of, key, sum(counted)::integer as counted, sum(stored)::integer as stored
  from both_tables
  group by of, key
  having sum(counted) <> sum(stored)`
