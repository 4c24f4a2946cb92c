// Leases, schedules, days and ids go by the database's clock: the process clock follows it.
import type { Clock } from '../core/clock.ts'
import type { Sql } from './connect.ts'

/** Asked also to see whether the database answers at all. Returns by how many milliseconds our clock was set, mostly 0. */
export async function followDatabase(sql: Sql, clock: Clock): Promise<number> {
  const before = performance.now()
  const there = await databaseMillis(sql)
  return clock.follow(there, performance.now() - before)
}

export async function databaseMillis(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  return row?.ms ?? 0
}
