// Requests that wait for events. They hold no connection and no admission: one watcher per process asks the log for all of them in
// one statement, soon after a hint, and now and then without one.
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import type { EventType, Position, Scope } from '../events/event.ts'
import type { EventHints } from '../events/hints.ts'
import { newGroups } from '../events/sql.ts'
import { refuse } from './refusals.ts'

export type Waits = {
  /**
   * True as soon as there are events of these types after the position. False when the time is up, when the signal aborts, and at
   * stop. Throws a refusal when too many wait.
   */
  wait(
    scope: Scope,
    after: Position,
    types: readonly EventType[] | null,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean>
  waiting(): number
  /** Ends all waits; later ones end at once. */
  stop(): void
}

/** Of one service, in this process. */
export const MOST_OF_SERVICE = 20

/** After a hint: how soon the log is asked, how often, and for how long; the event may be behind the horizon at first. */
const SOON_MS = 10
const OFTEN_MS = 100
const HINTED_MS = 2_000
/** Without a hint. */
const SELDOM_MS = 2_000

type Waiter = { stamp: bigint; seq: bigint; types: readonly EventType[] | null; end(isFound: boolean): void }
type Watched = { scope: Scope; waiters: Set<Waiter>; hintedUntil: number }

export function createWaits({
  sql,
  hints,
  onFault,
  most,
}: {
  sql: Sql
  hints: Pick<EventHints, 'subscribe'>
  onFault(error: unknown): void
  /** Of all services together, in this process. */
  most: number
}): Waits {
  const watched = new Map<string, Watched>()
  const ofService = new Map<Id, number>()
  let waiting = 0
  let isStopped = false
  let isLooking = false
  let lookedAt = 0
  let lookedAtAll = 0
  let timer: NodeJS.Timeout | undefined

  const unsubscribe = hints.subscribe(services => {
    if (watched.size === 0) return
    const now = performance.now()
    const named = services && new Set(services)
    let isHinted = false
    for (const one of watched.values()) {
      if (named && !named.has(one.scope.service_id)) continue
      one.hintedUntil = now + HINTED_MS
      isHinted = true
    }
    if (isHinted) arm(now)
  })

  /** Sets the timer for the next look. */
  function arm(now: number) {
    if (isLooking || isStopped || watched.size === 0) return
    clearTimeout(timer)
    const isHinted = [...watched.values()].some(one => one.hintedUntil > now)
    const at = isHinted ? Math.max(now + SOON_MS, lookedAt + OFTEN_MS) : lookedAtAll + SELDOM_MS
    timer = setTimeout(look, Math.max(SOON_MS, at - now))
    timer.unref()
  }

  async function look() {
    isLooking = true
    const now = performance.now()
    const isForAll = now >= lookedAtAll + SELDOM_MS
    lookedAt = now
    if (isForAll) lookedAtAll = now
    const places = [...watched.values()].filter(one => isForAll || one.hintedUntil > now)
    try {
      const found = await newGroups(
        sql,
        places.map(({ scope, waiters }) => ({ ...scope, ...earliest(waiters) })),
      )
      for (const { place, stamp, seq, type } of found)
        for (const waiter of places[place]?.waiters ?? []) meet(waiter, BigInt(stamp), BigInt(seq), type)
    } catch (error) {
      onFault(error)
    }
    isLooking = false
    arm(performance.now())
  }

  function leave(key: string, one: Watched, waiter: Waiter) {
    waiting--
    const { service_id } = one.scope
    const left = (ofService.get(service_id) ?? 1) - 1
    if (left === 0) ofService.delete(service_id)
    else ofService.set(service_id, left)
    one.waiters.delete(waiter)
    if (one.waiters.size === 0) watched.delete(key)
  }

  return {
    async wait(scope, after, types, ms, signal) {
      if (isStopped || signal.aborted || ms <= 0) return false
      const count = ofService.get(scope.service_id) ?? 0
      if (count >= MOST_OF_SERVICE) throw tooManyWaiting(MOST_OF_SERVICE)
      if (waiting >= most) throw tooManyWaiting(most)
      const key = `${scope.service_id} ${scope.key_type}`
      const one = watched.get(key) ?? { scope, waiters: new Set(), hintedUntil: 0 }
      watched.set(key, one)
      ofService.set(scope.service_id, count + 1)
      waiting++
      return new Promise<boolean>(resolve => {
        const end = (isFound: boolean) => {
          clearTimeout(timeout)
          signal.removeEventListener('abort', giveUp)
          leave(key, one, waiter)
          resolve(isFound)
        }
        const giveUp = () => end(false)
        const timeout = setTimeout(giveUp, ms)
        const waiter = { stamp: BigInt(after.stamp), seq: BigInt(after.seq), types, end }
        signal.addEventListener('abort', giveUp)
        one.waiters.add(waiter)
        // An event may have been hinted at since the caller read.
        const now = performance.now()
        one.hintedUntil = Math.max(one.hintedUntil, now + OFTEN_MS)
        arm(now)
      })
    },
    waiting: () => waiting,
    stop() {
      isStopped = true
      unsubscribe()
      clearTimeout(timer)
      for (const { waiters } of [...watched.values()]) for (const waiter of [...waiters]) waiter.end(false)
    },
  }
}

/** The lowest position of those who wait for the same events. */
function earliest(waiters: ReadonlySet<Waiter>): { stamp: string; seq: string } {
  let low: Waiter | null = null
  for (const waiter of waiters) if (!low || isAfter(low, waiter.stamp, waiter.seq)) low = waiter
  return { stamp: String(low?.stamp ?? 0), seq: String(low?.seq ?? 0) }
}

const isAfter = (one: { stamp: bigint; seq: bigint }, stamp: bigint, seq: bigint) =>
  one.stamp > stamp || (one.stamp === stamp && one.seq > seq)

/** A new group: the waiter wakes, or goes past it if it waits for other types. */
function meet(waiter: Waiter, stamp: bigint, seq: bigint, type: EventType) {
  if (!isAfter({ stamp, seq }, waiter.stamp, waiter.seq)) return
  waiter.stamp = stamp
  waiter.seq = seq
  if (!waiter.types || waiter.types.includes(type)) waiter.end(true)
}

/** A waiting request may end at any time. */
function tooManyWaiting(most: number): Refusal {
  const { kind, messages } = refuse.tooManyWaiting(most)
  return new Refusal(kind, messages, { 'retry-after': '1' })
}
