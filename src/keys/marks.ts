// Which keys were marked as used a moment ago, so that `last_used_at` of a key is written at most every ten seconds.
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'

export type Marks = {
  /** True if the key has to be marked now, at most once in ten seconds. */
  isDue(key: Id): boolean
  /** Keys that are remembered now. */
  size(): number
}

const MARK_MS = 10_000
/** A limit on memory. Beyond it the key marked longest ago is forgotten, and perhaps marked again too early. */
const MOST_KEYS = 10_000

export function createMarks(clock: Pick<Clock, 'now'>, most = MOST_KEYS): Marks {
  /** By key, when it was marked; the oldest first. */
  const marked = new Map<Id, number>()

  function forget(now: number) {
    for (const [key, at] of marked) {
      if (now - at < MARK_MS && marked.size < most) return
      marked.delete(key)
    }
  }

  return {
    isDue(key) {
      const now = clock.now()
      if (now - (marked.get(key) ?? Number.NEGATIVE_INFINITY) < MARK_MS) return false
      marked.delete(key)
      forget(now)
      marked.set(key, now)
      return true
    },
    size: () => marked.size,
  }
}
