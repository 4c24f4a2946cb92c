// Counts of a period for reports: always together with the changes in one statement, as in read.ts.
import type { Channel } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

export type DayCount = { day: number; channel: Channel; key_type: string; status: string; messages: number }

/** By UTC day, channel, key type and status; `until`: an hour that is not in it. */
export const countsBetween = (sql: Sql, service: Id, keyTypes: readonly string[], since: number, until: number) =>
  sql<DayCount>`
    select hour / 24 as day, channel, key_type, status, sum(messages)::integer as messages
    from (
      select hour, channel, key_type, status, messages
      from hourly_counts
      where service_id = ${service}
        and hour >= ${since}
        and hour < ${until}
      union all
      select hour, channel, key_type, status, messages
      from hourly_changes
      where service_id = ${service}
        and hour >= ${since}
        and hour < ${until}
    ) all_counts
    where key_type = any (${keyTypes}::text[])
    group by hour / 24, channel, key_type, status
    having sum(messages) <> 0
    order by 1, 2, 3, 4`

export type TemplateDayCount = { template_id: Id; status: string; messages: number }

/** By template and status, of whole UTC days; `until`: a day that is not in it. */
export const templateCountsBetween = (
  sql: Sql,
  service: Id,
  keyTypes: readonly string[],
  since: number,
  until: number,
  most: number,
) => sql<TemplateDayCount>`
  select template_id, status, sum(messages)::integer as messages
  from (
    select template_id, key_type, status, messages
    from template_counts
    where service_id = ${service}
      and day >= ${since}
      and day < ${until}
    union all
    select template_id, key_type, status, messages
    from hourly_changes
    where service_id = ${service}
      and hour >= ${since}::integer * 24
      and hour < ${until}::integer * 24
  ) all_counts
  where key_type = any (${keyTypes}::text[])
  group by template_id, status
  having sum(messages) <> 0
  order by template_id, status
  limit ${most}`
