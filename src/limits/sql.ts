import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Channel } from '../services/service.ts'

/** Counts one request that is not part of a group. */
export async function countRequest(sql: Sql, service: Id, keyType: string, limit: number) {
  const [row] = await sql<{ passed: number; remaining: number; free_in: number }>`
    select passed, remaining, free_in
    from count_requests(${service}, ${keyType}, 1, ${limit})`
  return { passed: row?.passed === 1, limit, remaining: row?.remaining ?? 0, freeInSeconds: row?.free_in ?? 60 }
}

/** Counters of today and the days to come, for which messages may be accepted already. */
export const counters = (sql: Sql, today: string) => sql<{ service_id: Id; channel: Channel; day: string }>`
  select service_id, channel, day::text
  from usage
  where day >= ${today}::date`

/**
 * Lowers a counter that stands above what it counts, by what it was too high at the moment of the statement: nobody waits while
 * it is counted, and what is reserved or given back meanwhile stays so.
 */
export const lower = (sql: Sql, service: Id, channel: Channel, day: string, since: Id) => sql<{ surplus: number }>`
  with counted as materialized (
    select u.used
           - (select count(*)
              from notifications n
              where n.service_id = ${service}
                and n.channel = ${channel}
                and n.key_type in ('normal', 'team')
                and not n.in_job
                and n.id >= ${since}
                and (coalesce(n.scheduled_for, uuid_time(n.id)) at time zone 'UTC')::date = ${day}::date
                and (select s.status from states s where s.id = n.id) <> 'cancelled')::integer
           - (select coalesce(sum(j.counted), 0)
              from jobs j
              where j.service_id = ${service}
                and j.channel = ${channel}
                and j.id >= ${since}
                and j.day = ${day}::date
                and j.status <> 'cancelled')::integer as surplus
    from usage u
    where u.service_id = ${service} and u.channel = ${channel} and u.day = ${day}::date
  )
  update usage u
  set used = greatest(0, u.used - c.surplus)
  from counted c
  where u.service_id = ${service}
    and u.channel = ${channel}
    and u.day = ${day}::date
    and c.surplus > 0
  returning c.surplus`

/** What is used of a day's allowance. */
export async function usedOf(sql: Sql, service: Id, channel: Channel, day: string): Promise<number> {
  const [row] = await sql<{ used: number }>`
    select used
    from usage
    where service_id = ${service} and channel = ${channel} and day = ${day}`
  return row?.used ?? 0
}
