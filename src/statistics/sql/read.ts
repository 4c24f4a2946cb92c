// Reads of the counts: always the sum of both tables in one statement, so that a number is exact while changes are added up.
import type { Channel } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'

/** The counts of a service since an hour, without test keys, which send nothing. */
const since = (service: Id, hour: number): Part => part`(
      select hour, channel, template_id, status, took, messages
      from hourly_counts
      where service_id = ${service}
        and hour >= ${hour}
        and key_type <> 'test'
      union all
      select hour, channel, template_id, status, took, messages
      from hourly_changes
      where service_id = ${service}
        and hour >= ${hour}
        and key_type <> 'test'
    )`

/** `day`: the index of the day. Without a day, what its template has in all days. */
export type CountRow = {
  day: number | null
  channel: Channel | null
  status: string | null
  took: number | null
  template_id: Id | null
  messages: number
}

/**
 * The counts of the days that start in these hours: by day, channel and status; by day, channel and time to delivery; by template
 * and status. One pass over the rows.
 */
export const countsSince = (sql: Sql, service: Id, starts: readonly number[]) => sql<CountRow>`
  select day, channel, status, took, template_id, sum(messages)::integer as messages
  from (
    select width_bucket(hour, ${bare(starts)}::integer[]) - 1 as day, channel, status, template_id, took, messages
    from ${since(service, starts[0] ?? 0)} counts
  ) counts
  group by grouping sets ((day, channel, status), (day, channel, took), (template_id, status))
  having sum(messages) <> 0`

/** Whether the service has ever sent a message with a live or team key. */
export async function hasAny(sql: Sql, service: Id): Promise<boolean> {
  const [row] = await sql<{ any: boolean }>`
    select exists (select from hourly_counts where service_id = ${service} and key_type <> 'test')
        or exists (select from hourly_changes where service_id = ${service} and key_type <> 'test') as any`
  return row?.any === true
}
