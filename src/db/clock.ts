// Leases, schedules, days and ids use the clock of the database: the process clock follows it.
import { type Clock, STEP_MS } from '../core/clock.ts'
import type { Sql } from './connect.ts'

/**
 * Also serves as a health check of the database. Returns by how many milliseconds our clock was set, usually 0. Before it is set,
 * `prepare` is called with the new time in milliseconds since 1970.
 */
export async function followDatabase(
  sql: Sql,
  clock: Clock,
  prepare: (there: number) => Promise<unknown> = async () => {},
): Promise<number> {
  let reading = await timed(sql)
  if (Math.abs(reading.there - clock.now()) > STEP_MS) {
    await prepare(reading.there)
    reading = await timed(sql)
  }
  return clock.follow(reading.there, reading.travelMs)
}

async function timed(sql: Sql) {
  const before = performance.now()
  const there = await databaseMillis(sql)
  return { there, travelMs: performance.now() - before }
}

export async function databaseMillis(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  return row?.ms ?? 0
}
