// Tells readers of the log, in this process and in others, which services have new events. Hints are not part of the statements that
// log events, because commits with a NOTIFY are serialised. A hint may be lost when a process ends: readers also poll.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { notifyOfEvents } from './sql.ts'

export type EventHints = {
  /** These services have new events, which are committed. */
  announce(services: Iterable<Id>): void
  /** Called with the services that have new events; null: any. Returns how to unsubscribe. */
  subscribe(reader: (services: readonly Id[] | null) => void): () => void
  /** A notification of another process. */
  hear(payload: string): void
}

/** For a command, which ends at once: readers also poll. */
export const NO_HINTS: Pick<EventHints, 'announce'> = { announce() {} }

const GATHER_MS = 5
/** The least time between two notifications. */
const REST_MS = 50
/** A notification has at most 8,000 bytes, an id 36. */
const MOST_IDS = 200
const ANY = '*'

export function createEventHints(sql: Sql, onFault: (error: unknown) => void): EventHints {
  const readers = new Set<(services: readonly Id[] | null) => void>()
  let waiting = new Set<Id>()
  let notifiedAt = 0
  const tell = (services: readonly Id[] | null) => {
    for (const reader of readers) reader(services)
  }
  const notify = () => {
    const services = [...waiting]
    waiting = new Set()
    notifiedAt = performance.now()
    const payload = services.length > MOST_IDS ? ANY : services.join(' ')
    notifyOfEvents(sql, payload).catch(onFault)
  }
  return {
    announce(services) {
      const all = [...services]
      if (all.length === 0) return
      tell(all)
      if (waiting.size === 0) setTimeout(notify, Math.max(GATHER_MS, notifiedAt + REST_MS - performance.now())).unref()
      for (const service of all) waiting.add(service)
    },
    subscribe(reader) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    hear: payload => tell(payload === ANY ? null : (payload.split(' ') as Id[])),
  }
}
