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

/** What is used of a day's allowance. */
export async function usedOf(sql: Sql, service: Id, channel: Channel, day: string): Promise<number> {
  const [row] = await sql<{ used: number }>`
    select used
    from usage
    where service_id = ${service} and channel = ${channel} and day = ${day}`
  return row?.used ?? 0
}
