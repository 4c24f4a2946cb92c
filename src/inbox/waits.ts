// Requests that wait for a message to arrive in the inbox. They hold no connection and no admission: one watcher per process asks for
// all of them in one statement, soon after a hint that their service has new events, and now and then without one.
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { refuse } from './refusals.ts'
import { type Awaited, arrived } from './sql.ts'

export type InboxWaits = {
  /**
   * True as soon as there is such a message. False when the time is up, when the signal aborts, and at stop. Throws a refusal when
   * too many wait.
   */
  wait(awaited: Awaited & { scope: { service_id: Id } }, ms: number, signal: AbortSignal): Promise<boolean>
  waiting(): number
  /** Ends all waits; later ones end at once. */
  stop(): void
}

/** Of one service, in this process. */
export const MOST_OF_SERVICE = 20

/** After a hint. The message is added before its event is logged, so that it is there. */
const SOON_MS = 10
const OFTEN_MS = 100
/** Without a hint. */
const SELDOM_MS = 1_000

type Waiter = { awaited: Awaited; service: Id; isHinted: boolean; end(isFound: boolean): void }

export function createInboxWaits({
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
}): InboxWaits {
  const waiters = new Set<Waiter>()
  let isStopped = false
  let isLooking = false
  let lookedAt = 0
  let lookedAtAll = 0
  let timer: NodeJS.Timeout | undefined

  const unsubscribe = hints.subscribe(services => {
    if (waiters.size === 0) return
    const named = services && new Set(services)
    for (const waiter of waiters) if (!named || named.has(waiter.service)) waiter.isHinted = true
    arm()
  })

  /** Sets the timer for the next look. */
  function arm() {
    if (isLooking || isStopped || waiters.size === 0) return
    clearTimeout(timer)
    const now = performance.now()
    const isHinted = [...waiters].some(waiter => waiter.isHinted)
    const at = isHinted ? Math.max(now + SOON_MS, lookedAt + OFTEN_MS) : lookedAtAll + SELDOM_MS
    timer = setTimeout(look, Math.max(SOON_MS, at - now))
    timer.unref()
  }

  async function look() {
    isLooking = true
    lookedAt = performance.now()
    const isForAll = lookedAt >= lookedAtAll + SELDOM_MS
    if (isForAll) lookedAtAll = lookedAt
    const asked = [...waiters].filter(waiter => isForAll || waiter.isHinted)
    for (const waiter of asked) waiter.isHinted = false
    try {
      const found = await arrived(
        sql,
        asked.map(waiter => waiter.awaited),
      )
      for (const { place } of found) asked[place]?.end(true)
    } catch (error) {
      onFault(error)
    }
    isLooking = false
    arm()
  }

  return {
    async wait(awaited, ms, signal) {
      if (isStopped || signal.aborted || ms <= 0) return false
      const service = awaited.scope.service_id
      const ofService = [...waiters].filter(waiter => waiter.service === service).length
      if (ofService >= MOST_OF_SERVICE) throw tooManyWaiting(MOST_OF_SERVICE)
      if (waiters.size >= most) throw tooManyWaiting(most)
      return new Promise<boolean>(resolve => {
        const end = (isFound: boolean) => {
          if (!waiters.delete(waiter)) return
          clearTimeout(timeout)
          signal.removeEventListener('abort', giveUp)
          resolve(isFound)
        }
        const giveUp = () => end(false)
        const timeout = setTimeout(giveUp, ms)
        // A message may have arrived since the caller looked.
        const waiter: Waiter = { awaited, service, isHinted: true, end }
        signal.addEventListener('abort', giveUp)
        waiters.add(waiter)
        arm()
      })
    },
    waiting: () => waiters.size,
    stop() {
      isStopped = true
      unsubscribe()
      clearTimeout(timer)
      for (const waiter of [...waiters]) waiter.end(false)
    },
  }
}

/** A waiting request may end at any time. */
function tooManyWaiting(most: number): Refusal {
  const { kind, messages } = refuse.tooManyWaiting(most)
  return new Refusal(kind, messages, { 'retry-after': '1' })
}
