// Delays answers to callers that are slowed down. Only so many wait at the same time, so that they do not use up memory: beyond that
// an answer is not delayed.
import { setTimeout as sleep } from 'node:timers/promises'

export type Delay = () => Promise<void>

const MOST_WAITING = 1_000

/** `wait`: tests have their own. */
export function createDelay(ms: number, wait: () => Promise<unknown> = () => sleep(ms)): Delay {
  let waiting = 0
  return async () => {
    if (waiting >= MOST_WAITING) return
    waiting++
    try {
      await wait()
    } finally {
      waiting--
    }
  }
}
