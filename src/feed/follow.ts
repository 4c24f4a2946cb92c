// One request for events: what comes after a place in the log, or, if there is nothing, what comes within some seconds.
import type { Clock } from '../core/clock.ts'
import { microsOf } from '../core/id.ts'
import { readTime } from '../core/read-time.ts'
import type { Sql } from '../db/connect.ts'
import type { EventType, Position, Scope } from '../events/event.ts'
import { isAhead } from '../events/sql.ts'
import type { Caller } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import { readCursor } from './cursor.ts'
import { type EventPage, endOfLog, type Oldest, oldestOf, positionAt, readEvents } from './read.ts'
import { refuse } from './refusals.ts'
import type { Waits } from './waits.ts'

export type FollowApp = { sql: Sql; clock: Clock; reads: Pick<Reads, 'run'>; waits: Waits }

export type FollowQuery = {
  after: string | undefined
  types: readonly EventType[] | null
  limit: number
  waitSeconds: number
}

/** Pages without an event of the wanted types that one request reads before it answers with an empty one. */
const MOST_PAGES = 20

/** `signal` aborts when the caller has disconnected. `stillMay` throws when the caller may not read any more after a wait. */
export async function follow(
  { sql, clock, reads, waits }: FollowApp,
  { service, key }: Caller,
  { after, types, limit, waitSeconds }: FollowQuery,
  { signal, stillMay }: { signal: AbortSignal; stillMay(): Promise<unknown> },
): Promise<EventPage & { waitedMs: number }> {
  const scope = { service_id: service.id, key_type: key.key_type }
  const next = (from: Position) =>
    readEvents(sql, scope, from, { types, most: limit, oldest: oldestOf(clock, service) })
  let page = await reads.run(service.id, true, async () => {
    const from =
      after === undefined ? await whatIsKept(sql, scope, oldestOf(clock, service)) : await placeOf(sql, scope, after)
    const first = await next(from)
    if (first.position === from && after !== undefined && (await isAhead(sql, from))) throw refuse.aheadOfLog(after)
    return first
  })
  let waitedMs = 0
  for (let pages = 1; page.events.length === 0 && pages < MOST_PAGES && !signal.aborted; pages++) {
    if (!page.hasMore) {
      const began = performance.now()
      const isFound = await waits.wait(scope, page.position, types, waitSeconds * 1000 - waitedMs, signal)
      waitedMs += performance.now() - began
      if (!isFound) break
      await stillMay()
    }
    const { position } = page
    page = await reads.run(service.id, false, () => next(position))
  }
  return { ...page, waitedMs }
}

/** The beginning of what may still be shown. */
const whatIsKept = (sql: Sql, scope: Scope, oldest: Oldest) =>
  positionAt(sql, scope, Math.min(...Object.values(oldest).map(microsOf)))

async function placeOf(sql: Sql, scope: Scope, after: string): Promise<Position> {
  if (after === 'now') return endOfLog(sql, scope)
  const micros = readTime(after)
  if (micros !== null) return positionAt(sql, scope, micros)
  const position = readCursor(after)
  if (!position) throw refuse.badCursor(after.slice(0, 100))
  return position
}
