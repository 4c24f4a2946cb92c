// Maintenance of the counts.
import type { Sql } from '../../db/connect.ts'
import type { Step } from '../../runtime/steps.ts'
import { serviceIds } from '../../services/sql.ts'

/**
 * Adds the next changes to the counts. One statement takes them away and adds them, so two processes never add the same. Counts are
 * locked in order, so that two statements cannot deadlock. Counts that have become 0 are removed afterwards, unless another
 * statement has added to them meanwhile.
 */
export async function fold(sql: Sql, most: number): Promise<Step<never>> {
  const rows = await sql<{ found: number; hours: string[] | null; templates: string[] | null }>`
    with taken as materialized (
      delete from hourly_changes
      where ctid = any (array(select ctid from hourly_changes limit ${most} for update skip locked))
      returning service_id, hour, channel, key_type, template_id, status, took, messages
    ),
    hours as (
      insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages)
      select service_id, hour, channel, key_type, status, took, sum(messages)
      from taken
      group by service_id, hour, channel, key_type, status, took
      having sum(messages) <> 0
      order by service_id, hour, channel, key_type, status, took
      on conflict (service_id, hour, channel, key_type, status, took)
      do update set messages = hourly_counts.messages + excluded.messages
      returning ctid, messages
    ),
    by_template as (
      insert into template_counts (service_id, day, template_id, key_type, status, messages)
      select service_id, hour / 24, template_id, key_type, status, sum(messages)
      from taken
      group by service_id, hour / 24, template_id, key_type, status
      having sum(messages) <> 0
      order by service_id, hour / 24, template_id, key_type, status
      on conflict (service_id, day, template_id, key_type, status)
      do update set messages = template_counts.messages + excluded.messages
      returning ctid, messages
    )
    select (select count(*) from taken)::integer as found,
           (select array_agg(ctid::text) from hours where messages = 0) as hours,
           (select array_agg(ctid::text) from by_template where messages = 0) as templates`
  const { found = 0, hours, templates } = rows[0] ?? {}
  if (hours || templates)
    await sql`
      with hours as (
        delete from hourly_counts where ctid = any (${hours ?? []}::tid[]) and messages = 0
      )
      delete from template_counts where ctid = any (${templates ?? []}::tid[]) and messages = 0`
  return { found, last: null }
}

/** Counts of hours before this one. Each service is a range of the primary keys. */
export async function purgeCounts(sql: Sql, before: number, most: number): Promise<Step<never>> {
  const [row] = await sql<{ found: number }>`
    with hours as (
      delete from hourly_counts
      where ctid = any (array(
        select c.ctid
        from ${serviceIds} v
        cross join lateral (
          select ctid from hourly_counts where service_id = v.id and hour < ${before} limit ${most}
        ) c
        limit ${most}))
      returning 1
    ),
    by_template as (
      delete from template_counts
      where ctid = any (array(
        select c.ctid
        from ${serviceIds} v
        cross join lateral (
          select ctid from template_counts where service_id = v.id and day < ${before}::integer / 24 limit ${most}
        ) c
        limit ${most}))
      returning 1
    )
    select greatest((select count(*) from hours), (select count(*) from by_template))::integer as found`
  return { found: row?.found ?? 0, last: null }
}
