// Failed authentications from one address are throttled (S-02): after 60 in a minute each further refusal is delayed by a second.
// Its wording stays the same. A valid key is never delayed, so callers behind one address do not slow each other down.
import type { Clock } from '../core/clock.ts'
import { LOOPBACK, networkOf } from '../core/network.ts'
import { createDelay } from '../runtime/delay.ts'

export type Throttle = {
  /** Counts a failure of this address and resolves when the refusal may be sent. */
  failed(address: string): Promise<void>
  /** Networks that are counted now. */
  size(): number
}

const WINDOW_MS = 60_000
/** Failures within the window that are not delayed. */
export const FREE = 60
const DELAY_MS = 1_000
/** A limit on memory: beyond it the oldest network is forgotten. */
const MOST_NETWORKS = 10_000

type Options = { most?: number; wait?: () => Promise<unknown> }

export function createThrottle(clock: Clock, { most = MOST_NETWORKS, wait }: Options = {}): Throttle {
  const seen = new Map<string, { count: number; until: number }>()
  const delay = createDelay(DELAY_MS, wait)

  function count(network: string): number {
    const now = clock.now()
    const known = seen.get(network)
    if (known && known.until > now) return ++known.count
    seen.delete(network)
    const [oldest] = seen.keys()
    if (seen.size >= most && oldest !== undefined) seen.delete(oldest)
    seen.set(network, { count: 1, until: now + WINDOW_MS })
    return 1
  }

  return {
    async failed(address) {
      const network = networkOf(address)
      if (network !== LOOPBACK && count(network) > FREE) await delay()
    },
    size: () => seen.size,
  }
}
