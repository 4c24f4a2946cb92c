// Requests in a sliding window of 60 seconds, counted by the function count_requests of the database.
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'

/** Counts one request that is not part of a batch. */
export async function countRequest(sql: Sql, service: Id, keyType: string, limit: number) {
  const [row] = await sql<{ passed: number; remaining: number; free_in: number }>`
    select passed, remaining, free_in
    from count_requests(${service}, ${keyType}, 1, ${limit})`
  return { passed: row?.passed === 1, limit, remaining: row?.remaining ?? 0, freeInSeconds: row?.free_in ?? 60 }
}

/** Requests of a batch that count against the same rate. */
export type RateGroup = { service_id: Id; key_type: string; requests: number; most: number }

/**
 * A CTE `rated` (rate, service_id, key_type, passed, remaining, free_in) that counts the requests of each group, when `when` holds.
 * `rate` numbers the groups from 1. The caller sorts the groups, so that two statements cannot deadlock.
 */
export const rated = (groups: readonly RateGroup[], when: Part): Part => part`rated as materialized (
      select r.rate, r.service_id, r.key_type, c.passed, c.remaining, c.free_in
      from unnest(${bare(groups.map(g => g.service_id))}::uuid[], ${bare(groups.map(g => g.key_type))}::text[],
                  ${bare(groups.map(g => g.requests))}::integer[], ${bare(groups.map(g => g.most))}::integer[])
           with ordinality as r (service_id, key_type, requests, most, rate)
      cross join lateral count_requests(r.service_id, r.key_type, r.requests, r.most) c
      where ${when}
    )`

/** After the clock of the database was set back: hits with a time in the future would stay in the window for too long. */
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
