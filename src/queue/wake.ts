// Notifies engines in other processes that a lane has a due ticket. It is not part of the accepting statement, because commits
// with a NOTIFY are serialised. Engines also poll, so a lost notification costs one second.
import type { Sql } from '../db/connect.ts'

export const WAKE_CHANNEL = 'herald_tickets'
const GATHER_MS = 5
/**
 * The least time between two notifications for one lane, of this process or of another one that was heard: an engine that is
 * working polls anyway. Without hearing, eight processes would send eight times as many.
 */
const REST_MS = 25
/** Of several processes that have heard the same notification, the first one to end its rest sends the next. */
const JITTER_MS = 25
/** A notification that is heard sooner after a commit may have reached the engines before it. */
const SURE_MS = 10

export type Waker = {
  /** The lane has a due ticket, which is committed. */
  wake(lane: string): void
  /** A process has notified the engines. Our own notifications are heard too. */
  hear(lane: string): void
}

type Waiting = { since: number; timer: NodeJS.Timeout }

export function createWaker(sql: Sql, onFault: (error: unknown) => void): Waker {
  const waiting = new Map<string, Waiting>()
  const notifiedAt = new Map<string, number>()

  function notify(lane: string) {
    waiting.delete(lane)
    notifiedAt.set(lane, performance.now())
    sql`select pg_notify(${WAKE_CHANNEL}, ${lane})`.catch(onFault)
  }

  const sendIn = (lane: string, ms: number) => setTimeout(notify, ms, lane).unref()

  return {
    wake(lane) {
      const now = performance.now()
      const known = waiting.get(lane)
      if (known) {
        known.since = now
        return
      }
      const rest = (notifiedAt.get(lane) ?? -REST_MS) + REST_MS - now
      waiting.set(lane, { since: now, timer: sendIn(lane, Math.max(GATHER_MS, rest)) })
    },
    hear(lane) {
      const now = performance.now()
      notifiedAt.set(lane, now)
      const known = waiting.get(lane)
      if (!known) return
      clearTimeout(known.timer)
      if (now - known.since >= SURE_MS) waiting.delete(lane)
      else known.timer = sendIn(lane, REST_MS + Math.random() * JITTER_MS)
    },
  }
}
