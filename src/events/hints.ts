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
  /** A notification; our own are heard too. */
  hear(payload: string): void
}

/** For a command, which ends at once: readers also poll. */
export const NO_HINTS: Pick<EventHints, 'announce'> = { announce() {} }

const GATHER_MS = 5
/** The least time between two notifications, of this process or of others that say all that waits here. */
const REST_MS = 50
/** Of several processes that have heard the same notification, the first one to end its rest sends the next. */
const JITTER_MS = 25
/** A notification that is heard sooner after a commit may have reached the readers before it. */
const SURE_MS = 10
/** A notification has at most 8,000 bytes, an id 36. */
const MOST_IDS = 200
const ANY = '*'

export function createEventHints(sql: Sql, onFault: (error: unknown) => void): EventHints {
  const readers = new Set<(services: readonly Id[] | null) => void>()
  /** Services that are not announced yet, with the time of their last commit. */
  const waiting = new Map<Id, number>()
  let timer: NodeJS.Timeout | null = null
  let restsUntil = 0
  const tell = (services: readonly Id[] | null) => {
    for (const reader of readers) reader(services)
  }
  const notify = () => {
    const services = [...waiting.keys()]
    waiting.clear()
    timer = null
    restsUntil = performance.now() + REST_MS
    const payload = services.length > MOST_IDS ? ANY : services.join(' ')
    notifyOfEvents(sql, payload).catch(onFault)
  }
  /** These have been announced: what waits here is announced later, if it is new since then. */
  function postpone(services: readonly Id[] | null) {
    const heard = new Set(services)
    if (!timer || (services && [...waiting.keys()].some(service => !heard.has(service)))) return
    const now = performance.now()
    for (const [service, since] of waiting) if (now - since >= SURE_MS) waiting.delete(service)
    clearTimeout(timer)
    const restMs = REST_MS + Math.random() * JITTER_MS
    restsUntil = now + restMs
    timer = waiting.size > 0 ? setTimeout(notify, restMs).unref() : null
  }
  return {
    announce(services) {
      const all = [...services]
      if (all.length === 0) return
      tell(all)
      const now = performance.now()
      for (const service of all) waiting.set(service, now)
      timer ??= setTimeout(notify, Math.max(GATHER_MS, restsUntil - now)).unref()
    },
    subscribe(reader) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    hear(payload) {
      const services = payload === ANY ? null : (payload.split(' ') as Id[])
      tell(services)
      postpone(services)
    },
  }
}
