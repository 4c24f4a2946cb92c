import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Step } from '../runtime/steps.ts'
import type { Channel } from '../services/service.ts'

/** Counts one request that is not part of a group. */
export async function countRequest(sql: Sql, service: Id, keyType: string, limit: number) {
  const [row] = await sql<{ passed: number; remaining: number; free_in: number }>`
    select passed, remaining, free_in
    from count_requests(${service}, ${keyType}, 1, ${limit})`
  return { passed: row?.passed === 1, limit, remaining: row?.remaining ?? 0, freeInSeconds: row?.free_in ?? 60 }
}

export type Counter = { service_id: Id; channel: Channel; day: string }

/** Counters of today and the days to come, for which messages may be accepted already. */
export const counters = (sql: Sql, today: string) => sql<Counter>`
  select service_id, channel, day::text
  from usage
  where day >= ${today}::date`

/** All statements of the transaction see the data of this moment. */
export const freeze = (sql: Sql) => sql`set transaction isolation level repeatable read, read only`

/** What a counter shows, and what bulk jobs of its day have reserved. */
export async function reserved(sql: Sql, { service_id, channel, day }: Counter, since: Id) {
  const [row] = await sql<{ used: number; by_jobs: number }>`
    select u.used,
           (select coalesce(sum(j.counted), 0)
            from jobs j
            where j.service_id = ${service_id}
              and j.channel = ${channel}
              and j.id >= ${since}
              and j.day = ${day}::date
              and j.status <> 'cancelled')::integer as by_jobs
    from usage u
    where u.service_id = ${service_id} and u.channel = ${channel} and u.day = ${day}::date`
  return { used: row?.used ?? 0, byJobs: row?.by_jobs ?? 0 }
}

/** Single messages that count for the day, among the next ones by id. */
export async function countMessages(
  sql: Sql,
  { service_id, channel, day }: Counter,
  keyType: 'normal' | 'team',
  after: Id,
  most: number,
): Promise<Step<Id> & { counted: number }> {
  const [row] = await sql<Step<Id> & { counted: number }>`
    with next as materialized (
      select n.id, n.scheduled_for
      from notifications n
      where n.service_id = ${service_id}
        and n.key_type = ${keyType}
        and n.channel = ${channel}
        and not n.in_job
        and n.id > ${after}
      order by n.id nulls first
      limit ${most}
    )
    select count(*)::integer as found,
           (select id from next order by id desc limit 1) as last,
           count(*) filter (
             where (coalesce(next.scheduled_for, uuid_time(next.id)) at time zone 'UTC')::date = ${day}::date
               and (select s.status from states s where s.id = next.id) <> 'cancelled')::integer as counted
    from next`
  return row ?? { found: 0, last: null, counted: 0 }
}

/** What is reserved or given back meanwhile stays so. */
export const lower = (sql: Sql, { service_id, channel, day }: Counter, surplus: number) => sql`
  update usage
  set used = greatest(0, used - ${surplus})
  where service_id = ${service_id}
    and channel = ${channel}
    and day = ${day}::date`

/** After the database's clock was set back: requests that were counted in what is the future now would stay for too long. */
export const dropFutureRequests = (sql: Sql) => sql`
  with dropped as (
    delete from rate_hits
    where at > clock_timestamp() + interval '2 seconds'
    returning service_id, key_type, requests
  )
  update rates r
  set in_window = greatest(0, r.in_window - d.requests)
  from (select service_id, key_type, sum(requests)::integer as requests from dropped group by service_id, key_type) d
  where r.service_id = d.service_id
    and r.key_type = d.key_type`

/** What is used of a day's allowance. */
export async function usedOf(sql: Sql, service: Id, channel: Channel, day: string): Promise<number> {
  const [row] = await sql<{ used: number }>`
    select used
    from usage
    where service_id = ${service} and channel = ${channel} and day = ${day}`
  return row?.used ?? 0
}
