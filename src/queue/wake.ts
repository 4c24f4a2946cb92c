// Notifies engines in other processes that a lane has a due ticket. Engines also poll, so a lost notification costs one second.
import { type Announcer, createAnnouncer } from '../db/announce.ts'
import type { Sql } from '../db/connect.ts'

export const WAKE_CHANNEL = 'herald_tickets'
/** Of one lane; they are independent. An engine that is working polls anyway. */
const REST_MS = 25

export type Waker = {
  /** The lane has a due ticket, which is committed. */
  wake(lane: string): void
  /** A process has notified the engines. Our own notifications are heard too. */
  hear(lane: string): void
}

export function createWaker(sql: Sql, onFault: (error: unknown) => void, random = Math.random): Waker {
  const lanes = new Map<string, Announcer<string>>()

  function announcerOf(lane: string) {
    const known = lanes.get(lane)
    if (known) return known
    const announcer = createAnnouncer<string>({
      restMs: REST_MS,
      send() {
        sql`select pg_notify(${WAKE_CHANNEL}, ${lane})`.catch(onFault)
      },
      random,
    })
    lanes.set(lane, announcer)
    return announcer
  }

  return {
    wake: lane => announcerOf(lane).announce([lane]),
    hear: lane => announcerOf(lane).hear([lane]),
  }
}
