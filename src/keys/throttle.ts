// Failed authentications from one address are throttled (S-02): after 60 in a minute each further refusal is delayed by a second.
// Its wording stays the same. A valid key is never delayed, so callers behind one address do not slow each other down.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'

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
/** Limits on memory: counted networks and delayed refusals. Beyond them a refusal is not delayed. */
const MOST_NETWORKS = 10_000
const MOST_WAITING = 1_000

type Options = { most?: number; wait?: () => Promise<unknown> }

export function createThrottle(clock: Clock, { most = MOST_NETWORKS, wait = delay }: Options = {}): Throttle {
  const seen = new Map<string, { count: number; until: number }>()
  let waiting = 0

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
      if (isLoopback(address) || count(networkOf(address)) <= FREE || waiting >= MOST_WAITING) return
      waiting++
      try {
        await wait()
      } finally {
        waiting--
      }
    },
    size: () => seen.size,
  }
}

const delay = () => sleep(DELAY_MS)

// Probably a proxy on this machine that is not in the settings: all callers share its address.
const isLoopback = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address)

/** An IPv4 address, or the /64 network of an IPv6 address: one subscriber has a whole /64. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address.replace(/^::ffff:/i, '')
  const [front = '', back] = address.split('::')
  const groups = front === '' ? [] : front.split(':')
  if (back !== undefined) {
    const rest = back === '' ? [] : back.split(':')
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest)
  }
  return groups
    .slice(0, 4)
    .map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}
