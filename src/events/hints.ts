// Tells readers of the log, in this process and in others, which services have new events. A hint may be lost when a process ends: readers
// also poll.
import type { Id } from '../core/id.ts'
import { createAnnouncer } from '../db/announce.ts'
import type { Sql } from '../db/connect.ts'
import { notifyOfEvents } from './sql.ts'

export type EventHints = {
  /** These services have new events, which are committed. */
  announce(services: Iterable<Id>): void
  /** Called with the services that have new events; null: any. Returns how to unsubscribe. */
  subscribe(reader: (services: readonly Id[] | null) => void): () => void
  /** A notification; our own are heard too. */
  hear(payload: string): void
}

/** For a command, which ends at once: readers also poll. */
export const NO_HINTS: Pick<EventHints, 'announce'> = { announce() {} }

const REST_MS = 50
/** A notification has at most 8,000 bytes, an id 36. */
const MOST_IDS = 200
const ANY = '*'

export function createEventHints(sql: Sql, onFault: (error: unknown) => void, random = Math.random): EventHints {
  const readers = new Set<(services: readonly Id[] | null) => void>()
  const tell = (services: readonly Id[] | null) => {
    for (const reader of readers) reader(services)
  }
  const announcer = createAnnouncer<Id>({
    restMs: REST_MS,
    send(services) {
      const payload = services.length > MOST_IDS ? ANY : services.join(' ')
      notifyOfEvents(sql, payload).catch(onFault)
    },
    random,
  })
  return {
    announce(services) {
      const all = [...services]
      if (all.length === 0) return
      tell(all)
      announcer.announce(all)
    },
    subscribe(reader) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    hear(payload) {
      const services = payload === ANY ? null : (payload.split(' ') as Id[])
      tell(services)
      announcer.hear(services)
    },
  }
}
