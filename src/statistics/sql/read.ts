// Reads of the counts: always together with the changes in one statement, so that a number is exact while changes are added up.
// Messages of test keys are left out: they send nothing.
import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Sql } from '../../db/connect.ts'

/** By day and channel with a status, or by whether it is of the last day with a class of the time to delivery. */
export type CountRow =
  | { day: number; channel: Channel; status: string; is_last: null; took: null; messages: number }
  | { day: null; channel: null; status: null; is_last: boolean; took: number; messages: number }

/** The counts of the days that start in these hours; `day` is the index of the day. */
export const countsSince = (sql: Sql, service: Id, starts: readonly number[]) => sql<CountRow>`
  select day, channel, status, is_last, took, sum(messages)::integer as messages
  from (
    select width_bucket(hour, ${bare(starts)}::integer[]) - 1 as day, channel, status, hour >= ${starts.at(-1) ?? 0} as is_last, took,
           messages
    from (
      select hour, channel, status, took, messages
      from hourly_counts
      where service_id = ${service}
        and hour >= ${starts[0] ?? 0}
        and key_type <> 'test'
      union all
      select hour, channel, status, took, messages
      from hourly_changes
      where service_id = ${service}
        and hour >= ${starts[0] ?? 0}
        and key_type <> 'test'
    ) all_counts
  ) of_days
  group by grouping sets ((day, channel, status), (is_last, took))
  having sum(messages) <> 0`

export type TemplateCountRow = { template_id: Id; status: string; messages: number; failed: number }

/** The counts, since a UTC day, of the templates with the most messages of these statuses: by template and status. */
export const failingTemplates = (
  sql: Sql,
  service: Id,
  sinceDay: number,
  failed: readonly string[],
  most: number,
) => sql<TemplateCountRow>`
  with counts as materialized (
    select template_id, status, sum(messages)::integer as messages
    from (
      select template_id, status, messages
      from template_counts
      where service_id = ${service}
        and day >= ${sinceDay}
        and key_type <> 'test'
      union all
      select template_id, status, messages
      from hourly_changes
      where service_id = ${service}
        and hour >= ${sinceDay}::integer * 24
        and key_type <> 'test'
    ) all_counts
    group by template_id, status
  ),
  worst as (
    select template_id, sum(messages)::integer as failed
    from counts
    where status = any (${failed}::text[])
    group by template_id
    having sum(messages) > 0
    order by failed desc, template_id
    limit ${most}
  )
  select template_id, status, messages, failed
  from worst
  join counts using (template_id)
  where messages <> 0
  order by failed desc, template_id, messages desc`

/** Whether the service has ever sent a message with a live or team key. */
export async function hasAny(sql: Sql, service: Id): Promise<boolean> {
  const [row] = await sql<{ any: boolean }>`
    select exists (select from hourly_counts where service_id = ${service} and key_type <> 'test')
        or exists (select from hourly_changes where service_id = ${service} and key_type <> 'test') as any`
  return row?.any === true
}

/** Of these templates since a UTC day, by status. */
export const countsOfTemplates = (sql: Sql, service: Id, sinceDay: number, templates: readonly Id[]) => sql<
  Omit<TemplateCountRow, 'failed'>
>`
  select template_id, status, sum(messages)::integer as messages
  from (
    select template_id, status, messages
    from template_counts
    where service_id = ${service}
      and day >= ${sinceDay}
      and key_type <> 'test'
      and template_id = any (${bare(templates)}::uuid[])
    union all
    select template_id, status, messages
    from hourly_changes
    where service_id = ${service}
      and hour >= ${sinceDay}::integer * 24
      and key_type <> 'test'
      and template_id = any (${bare(templates)}::uuid[])
  ) all_counts
  group by template_id, status
  having sum(messages) <> 0`
