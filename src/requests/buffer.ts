// Collects the requests of a process and writes them once a second by one statement. A request is never slowed or failed by it: what
// cannot be written is dropped and counted, and a process that is killed loses the last second. A service that makes more requests
// than its allowance has the rest counted, not listed; refusals have an allowance of their own, because they are what people look for.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { classOf, type ListedRequest, type StatusClass } from './request.ts'
import { insert, type NewRequest } from './sql.ts'

export type RequestBuffer = {
  /** `describe` is called only when the request is listed. */
  note(service: Id, status: number, describe: () => Omit<ListedRequest, 'status'>): void
  /** Writes what has been noted. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Rows: at once, and per second from then on. */
type Allowance = { burst: number; perSecond: number }
export const OF_SERVICE = {
  answered: { burst: 100, perSecond: 10 },
  refused: { burst: 200, perSecond: 50 },
} as const satisfies Record<string, Allowance>
/** Of all services together, per process. */
export const OF_PROCESS = {
  answered: { burst: 1_000, perSecond: 100 },
  refused: { burst: 1_000, perSecond: 200 },
} as const satisfies Record<string, Allowance>

const FLUSH_MS = 1_000

type Used = { answered: number; refused: number }
type Kind = keyof Used
type Unlisted = { service: Id; status: StatusClass; count: number }

export function createRequestBuffer(app: {
  sql: Sql
  ids: { next(): Id }
  /** Requests that are not in the log because they could not be written. */
  onDropped(requests: number): void
  onFault(error: unknown): void
}): RequestBuffer {
  let rows: NewRequest[] = []
  let unlisted = new Map<string, Unlisted>()
  /** What services have used of their allowance. */
  const used = new Map<Id, Used>()
  const all: Used = { answered: 0, refused: 0 }

  /** Whether the request is listed. */
  function take(service: Id, kind: Kind): boolean {
    const own = used.get(service) ?? { answered: 0, refused: 0 }
    if (own[kind] >= OF_SERVICE[kind].burst || all[kind] >= OF_PROCESS[kind].burst) return false
    own[kind]++
    all[kind]++
    used.set(service, own)
    return true
  }

  function refill(seconds: number) {
    for (const kind of ['answered', 'refused'] as const) {
      all[kind] = Math.max(0, all[kind] - OF_PROCESS[kind].perSecond * seconds)
      for (const own of used.values()) own[kind] = Math.max(0, own[kind] - OF_SERVICE[kind].perSecond * seconds)
    }
    for (const [service, own] of used) if (own.answered === 0 && own.refused === 0) used.delete(service)
  }

  async function write() {
    if (rows.length === 0 && unlisted.size === 0) return
    const counted = [...unlisted.values()].map(({ service, status, count }) => ({
      ...{ id: app.ids.next(), service_id: service, key_id: null, method: null, path: null, status },
      ...{ error: null, reason: null, took_ms: 0, unlisted: count },
    }))
    const batch = [...rows, ...counted]
    rows = []
    unlisted = new Map()
    try {
      await insert(app.sql, batch)
    } catch (error) {
      app.onDropped(batch.reduce((sum, row) => sum + (row.unlisted ?? 1), 0))
      app.onFault(error)
    }
  }

  let flushedAt = performance.now()
  let writing: Promise<void> = Promise.resolve()
  const flush = () => {
    const now = performance.now()
    refill((now - flushedAt) / 1000)
    flushedAt = now
    writing = writing.then(write)
    return writing
  }
  const periodic = startPeriodic(flush, FLUSH_MS, app.onFault)

  return {
    note(service, status, describe) {
      if (take(service, status >= 400 ? 'refused' : 'answered')) {
        rows.push({ id: app.ids.next(), service_id: service, status, unlisted: null, ...describe() })
        return
      }
      const group = classOf(status)
      const name = `${service} ${group}`
      const counted = unlisted.get(name)
      if (counted) counted.count++
      else unlisted.set(name, { service, status: group, count: 1 })
    },
    flush,
    async stop() {
      await periodic.stop()
      await flush()
    },
  }
}
