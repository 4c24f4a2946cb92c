// Counters of the daily limit, and parts for statements that store messages and count them.

import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'

export type Counter = { service_id: Id; channel: Channel; day: string }

/** Counters of today and of later days, for which scheduled messages may have been accepted. */
export const counters = (sql: Sql, today: string) => sql<Counter>`
  select service_id, channel, day::text
  from usage
  where day >= ${today}::date`

/** All statements of the transaction read the same snapshot. */
export const freeze = (sql: Sql) => sql`set transaction isolation level repeatable read, read only`

/** Subtracts from the counter, so that messages counted meanwhile stay counted. */
export const lower = (sql: Sql, { service_id, channel, day }: Counter, surplus: number) => sql`
  update usage
  set used = greatest(0, used - ${surplus})
  where service_id = ${service_id}
    and channel = ${channel}
    and day = ${day}::date`

/** How many messages are counted. */
export async function usedOf(sql: Sql, { service_id, channel, day }: Counter): Promise<number> {
  const [row] = await sql<{ used: number }>`
    select used
    from usage
    where service_id = ${service_id} and channel = ${channel} and day = ${day}`
  return row?.used ?? 0
}

/** A counter and its limit. */
export type Allowance = { service_id: Id; channel: Channel; day: string; most: number }

/**
 * CTEs that count the messages of a batch, as far as the limits allow. `allowance` numbers the counters from 1. `requests` selects
 * `requests`, the number of messages for the counter `u.allowance`. The result is `allowed` (allowance, channel, most, granted,
 * used): `granted` messages may be stored.
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

/** A CTE `reserved` that counts all messages or none; it has a row if they were counted. */
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

/** A CTE that subtracts the messages of `rows` (service_id, channel, day, messages). */
export const givenBack = (rows: Part): Part => part`given_back as (
      update usage
      set used = greatest(0, usage.used - back.messages)
      from (${rows}) back
      where usage.service_id = back.service_id
        and usage.channel = back.channel
        and usage.day = back.day
    )`
