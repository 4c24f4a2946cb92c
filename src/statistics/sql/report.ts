// Counts of a period for reports: always together with the changes in one statement, as in read.ts.
import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'

/** `parts`: of text messages that were handed over; `parted`: how many those are. */
export type Counted = { status: string; messages: number; parts: number; parted: number }

const sums = part`sum(messages)::integer as messages, sum(parts)::integer as parts, sum(parted)::integer as parted`
const isCounted = part`sum(messages) <> 0 or sum(parts) <> 0`

export type DayCount = Counted & { day: number; channel: Channel; key_type: string }

/** By UTC day, channel, key type and status; `until`: an hour that is not in it. */
export const countsBetween = (sql: Sql, service: Id, keyTypes: readonly string[], since: number, until: number) =>
  sql<DayCount>`
    select hour / 24 as day, channel, key_type, status, ${sums}
    from (
      select hour, channel, key_type, status, messages, parts, parted
      from hourly_counts
      where service_id = ${service}
        and hour >= ${since}
        and hour < ${until}
      union all
      select hour, channel, key_type, status, messages, parts, parted
      from hourly_changes
      where service_id = ${service}
        and hour >= ${since}
        and hour < ${until}
    ) all_counts
    where key_type = any (${keyTypes}::text[])
    group by hour / 24, channel, key_type, status
    having ${isCounted}
    order by 1, 2, 3, 4`

/** By template and status, of whole UTC days; `until`: a day that is not in it. */
export const templateCountsBetween = (
  sql: Sql,
  service: Id,
  keyTypes: readonly string[],
  since: number,
  until: number,
  most: number,
) => sql<Counted & { template_id: Id }>`
  select template_id, status, ${sums}
  from (
    select template_id, key_type, status, messages, parts, parted
    from template_counts
    where service_id = ${service}
      and day >= ${since}
      and day < ${until}
    union all
    select template_id, key_type, status, messages, parts, parted
    from hourly_changes
    where service_id = ${service}
      and hour >= ${since}::integer * 24
      and hour < ${until}::integer * 24
  ) all_counts
  where key_type = any (${keyTypes}::text[])
  group by template_id, status
  having ${isCounted}
  order by template_id, status
  limit ${most}`

/**
 * By key and status, of whole UTC days; `until`: a day that is not in it. Messages without a key, which people have sent or which were
 * accepted before keys were counted, are what all counts have more than those of keys. One statement, hence one snapshot. A difference
 * below 0 is possible for a day after an upgrade, until the days are counted again: the version before counts no keys.
 */
export const keyCountsBetween = (
  sql: Sql,
  service: Id,
  keyTypes: readonly string[],
  since: number,
  until: number,
  most: number,
) => sql<Counted & { key_id: Id | null }>`
  with keyed as materialized (
    select key_id, status, ${sums}
    from (
      select key_id, key_type, status, messages, parts, parted
      from key_counts
      where service_id = ${service}
        and day >= ${since}
        and day < ${until}
      union all
      select key_id, key_type, status, messages, parts, parted
      from hourly_changes
      where service_id = ${service}
        and hour >= ${since}::integer * 24
        and hour < ${until}::integer * 24
        and key_id is not null
    ) all_counts
    where key_type = any (${keyTypes}::text[])
    group by key_id, status
  ),
  remaining as (
    select status, ${sums}
    from (
      select key_type, status, messages, parts, parted
      from hourly_counts
      where service_id = ${service}
        and hour >= ${since}::integer * 24
        and hour < ${until}::integer * 24
      union all
      select key_type, status, messages, parts, parted
      from hourly_changes
      where service_id = ${service}
        and hour >= ${since}::integer * 24
        and hour < ${until}::integer * 24
      union all
      select (${keyTypes}::text[])[1], status, -messages, -parts, -parted
      from keyed
    ) all_counts
    where key_type = any (${keyTypes}::text[])
    group by status
  )
  select key_id, status, messages, parts, parted
  from (
    select key_id, status, messages, parts, parted from keyed
    union all
    select null, status, greatest(messages, 0), greatest(parts, 0), greatest(parted, 0) from remaining
  ) groups
  where messages <> 0 or parts <> 0
  order by key_id nulls first, status
  limit ${most}`
