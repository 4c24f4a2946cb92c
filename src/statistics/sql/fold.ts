// Maintenance of the counts.
import { part, type Sql } from '../../db/connect.ts'
import type { Step } from '../../runtime/steps.ts'
import { serviceIds } from '../../services/sql.ts'
import { added } from './counted.ts'

/**
 * Adds the next changes to the counts. One statement takes them away and adds them, so two processes never add the same. Counts are
 * locked in order, so that two statements cannot deadlock. Counts that have become 0 are removed afterwards, unless another
 * statement has added to them meanwhile.
 */
export async function fold(sql: Sql, most: number): Promise<Step<never>> {
  const rows = await sql<{ found: number } & Emptied>`
    with taken as materialized (
      delete from hourly_changes
      where ctid = any (array(select ctid from hourly_changes limit ${most} for update skip locked))
      returning service_id, hour, channel, key_type, key_id, template_id, status, took, messages, parts, parted
    ),
    hours as (
      insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages, parts, parted)
      select service_id, hour, channel, key_type, status, took, ${sums}
      from taken
      group by service_id, hour, channel, key_type, status, took
      having ${isChange}
      order by service_id, hour, channel, key_type, status, took
      on conflict (service_id, hour, channel, key_type, status, took)
      do update set ${added(part`hourly_counts`)}
      returning ctid, messages
    ),
    by_template as (
      insert into template_counts (service_id, day, template_id, key_type, status, messages, parts, parted)
      select service_id, hour / 24, template_id, key_type, status, ${sums}
      from taken
      group by service_id, hour / 24, template_id, key_type, status
      having ${isChange}
      order by service_id, hour / 24, template_id, key_type, status
      on conflict (service_id, day, template_id, key_type, status)
      do update set ${added(part`template_counts`)}
      returning ctid, messages
    ),
    by_key as (
      insert into key_counts (service_id, day, key_id, key_type, status, messages, parts, parted)
      select service_id, hour / 24, key_id, key_type, status, ${sums}
      from taken
      where key_id is not null
      group by service_id, hour / 24, key_id, key_type, status
      having ${isChange}
      order by service_id, hour / 24, key_id, key_type, status
      on conflict (service_id, day, key_id, key_type, status)
      do update set ${added(part`key_counts`)}
      returning ctid, messages
    )
    select (select count(*) from taken)::integer as found,
           (select array_agg(ctid::text) from hours where messages = 0) as hours,
           (select array_agg(ctid::text) from by_template where messages = 0) as templates,
           (select array_agg(ctid::text) from by_key where messages = 0) as keys`
  const { found = 0, hours, templates, keys } = rows[0] ?? {}
  if (hours || templates || keys)
    await sql`
      with hours as (
        delete from hourly_counts where ctid = any (${hours ?? []}::tid[]) and ${isEmpty}
      ),
      by_key as (
        delete from key_counts where ctid = any (${keys ?? []}::tid[]) and ${isEmpty}
      )
      delete from template_counts where ctid = any (${templates ?? []}::tid[]) and ${isEmpty}`
  return { found, last: null }
}

/** Where counts have become 0, as positions in the tables. */
type Emptied = Readonly<Record<'hours' | 'templates' | 'keys', string[] | null>>

const sums = part`sum(messages), sum(parts), sum(parted)`
const isChange = part`sum(messages) <> 0 or sum(parts) <> 0 or sum(parted) <> 0`
const isEmpty = part`messages = 0 and parts = 0 and parted = 0`

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
    ),
    by_key as (
      delete from key_counts
      where ctid = any (array(
        select c.ctid
        from ${serviceIds} v
        cross join lateral (
          select ctid from key_counts where service_id = v.id and day < ${before}::integer / 24 limit ${most}
        ) c
        limit ${most}))
      returning 1
    )
    select greatest((select count(*) from hours), (select count(*) from by_template), (select count(*) from by_key))::integer as found`
  return { found: row?.found ?? 0, last: null }
}
