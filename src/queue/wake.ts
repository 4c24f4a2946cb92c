// Tells engines in other processes that a lane has something due. Telling is not part of the accepting statement, because
// every commit that notifies waits for every other; one that is lost costs a second, as engines look by themselves.
import type { Sql } from '../db/connect.ts'

export const WAKE_CHANNEL = 'herald_tickets'
const GATHER_MS = 5

export function createWaker(sql: Sql, onFault: (error: unknown) => void): (lane: string) => void {
  const lanes = new Set<string>()
  return lane => {
    if (lanes.has(lane)) return
    lanes.add(lane)
    setTimeout(() => {
      lanes.delete(lane)
      sql`select pg_notify(${WAKE_CHANNEL}, ${lane})`.catch(onFault)
    }, GATHER_MS).unref()
  }
}
