// Notifies engines in other processes that a lane has a due ticket. It is not part of the accepting statement, because commits
// with a NOTIFY are serialised. Engines also poll, so a lost notification costs one second.
import type { Sql } from '../db/connect.ts'

export const WAKE_CHANNEL = 'herald_tickets'
const GATHER_MS = 5
/** The least time between two notifications for one lane: an engine that is working polls anyway. */
const REST_MS = 25

export function createWaker(sql: Sql, onFault: (error: unknown) => void): (lane: string) => void {
  const waiting = new Set<string>()
  const notifiedAt = new Map<string, number>()
  return lane => {
    if (waiting.has(lane)) return
    waiting.add(lane)
    const rest = (notifiedAt.get(lane) ?? 0) + REST_MS - performance.now()
    setTimeout(
      () => {
        waiting.delete(lane)
        notifiedAt.set(lane, performance.now())
        sql`select pg_notify(${WAKE_CHANNEL}, ${lane})`.catch(onFault)
      },
      Math.max(GATHER_MS, rest),
    ).unref()
  }
}
