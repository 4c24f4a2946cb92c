// Who shows wrong keys again and again is told no more and more slowly (S-02). Only the no is late and its words stay the same;
// a right key is never slowed, so that callers behind one address do not pay for each other.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'

export type Failures = {
  /** Counts one failure of this address and resolves when it may be told. */
  add(address: string): Promise<void>
  size(): number
}

const WINDOW_MS = 60_000
/** Failures in a minute that are answered at once. */
export const FREE = 60
const DELAY_MS = 1_000
/** Bounds of what strangers can make us keep: addresses, and answers that wait. Beyond them a no is told at once. */
const MOST_ADDRESSES = 10_000
const MOST_WAITING = 1_000

type Options = { most?: number; wait?: () => Promise<unknown> }

export function createFailures(clock: Clock, { most = MOST_ADDRESSES, wait = pause }: Options = {}): Failures {
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
    async add(address) {
      if (isOurs(address) || count(networkOf(address)) <= FREE || waiting >= MOST_WAITING) return
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

const pause = () => sleep(DELAY_MS)

// A proxy on this machine that nobody has named in the settings: its address is everybody's.
const isOurs = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address)

/** One person has a whole /64 of IPv6 addresses. */
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
