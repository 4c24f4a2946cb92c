// Messages per day of each service and channel: what is used, and how a statement that stores messages reserves some.

import type { Channel } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'

export type Counter = { service_id: Id; channel: Channel; day: string }

/** Counters of today and the days to come, for which messages may be accepted already. */
export const counters = (sql: Sql, today: string) => sql<Counter>`
  select service_id, channel, day::text
  from usage
  where day >= ${today}::date`

/** All statements of the transaction see the data of this moment. */
export const freeze = (sql: Sql) => sql`set transaction isolation level repeatable read, read only`

/** What is reserved or given back meanwhile stays so. */
export const lower = (sql: Sql, { service_id, channel, day }: Counter, surplus: number) => sql`
  update usage
  set used = greatest(0, used - ${surplus})
  where service_id = ${service_id}
    and channel = ${channel}
    and day = ${day}::date`

/** What is used of a day's allowance. */
export async function usedOf(sql: Sql, { service_id, channel, day }: Counter): Promise<number> {
  const [row] = await sql<{ used: number }>`
    select used
    from usage
    where service_id = ${service_id} and channel = ${channel} and day = ${day}`
  return row?.used ?? 0
}

/** What messages of a batch count against together. */
export type Allowance = { service_id: Id; channel: Channel; day: string; most: number }

/**
 * CTEs that reserve for a batch. `requests` selects, as `requests`, how many messages are wanted of the allowance `u.allowance`,
 * which is its number from 1. The last one, `allowed` (allowance, channel, most, granted, used), says how many may be stored.
 */
export const allowed = (allowances: readonly Allowance[], requests: Part): Part => part`allowances as materialized (
      select *
      from unnest(${bare(allowances.map(a => a.service_id))}::uuid[], ${bare(allowances.map(a => a.channel))}::text[],
                  ${bare(allowances.map(a => a.day))}::date[], ${bare(allowances.map(a => a.most))}::integer[])
           with ordinality as u (service_id, channel, day, most, allowance)
    ),
    reserved as (
      insert into usage (service_id, channel, day, used, granted, most)
      select u.service_id, u.channel, u.day, least(g.requests, u.most), least(g.requests, u.most), u.most
      from allowances u
      cross join lateral (${requests}) g
      where g.requests > 0
      on conflict (service_id, channel, day) do update
      set granted = greatest(0, least(excluded.granted, excluded.most - usage.used)),
          used = usage.used + greatest(0, least(excluded.granted, excluded.most - usage.used)),
          most = excluded.most
      returning service_id, channel, day, used, granted
    ),
    allowed as materialized (
      select a.allowance, a.channel, a.most, r.granted, coalesce(r.used, u.used, 0) as used
      from allowances a
      left join reserved r on r.service_id = a.service_id and r.channel = a.channel and r.day = a.day
      left join usage u on u.service_id = a.service_id and u.channel = a.channel and u.day = a.day
    )`

/** A CTE `reserved`: all messages of one allowance or none; it has a row when they were reserved. */
export const reservedWhole = (
  { service_id, channel, day, most }: Allowance,
  messages: number,
): Part => part`reserved as (
      insert into usage (service_id, channel, day, used, granted, most)
      select ${service_id}, ${channel}, ${day}::date, ${messages}::integer, ${messages}::integer, ${most}::integer
      where ${messages}::integer between 1 and ${most}::integer
      on conflict (service_id, channel, day) do update
      set used = usage.used + excluded.used,
          granted = excluded.granted,
          most = excluded.most
      where usage.used + excluded.used <= excluded.most
      returning service_id
    )`

/** A CTE: gives back what `rows` (service_id, channel, day, messages) had reserved. */
export const givenBack = (rows: Part): Part => part`given_back as (
      update usage
      set used = greatest(0, usage.used - back.messages)
      from (${rows}) back
      where usage.service_id = back.service_id
        and usage.channel = back.channel
        and usage.day = back.day
    )`
