// Rows kept in memory for a few seconds. A change is heard at once by NOTIFY; the seconds are for the case that the
// line to the database is down without anyone having noticed.
import type { Clock } from '../core/clock.ts'

export type Cache<K, V> = {
  /** The value itself when it is in memory: whoever awaits it does not wait. */
  get(key: K): V | Promise<V>
  /** Forget what belongs to an owner (a service), whatever its keys. */
  drop(owner: string): void
  clear(): void
}

export function createCache<K, V>(
  clock: Clock,
  load: (key: K) => Promise<V>,
  {
    ownerOf,
    seconds = 5,
    most = 10_000,
  }: { ownerOf: (key: K, value: V) => string | null; seconds?: number; most?: number },
): Cache<K, V> {
  type Entry = { value: V | Promise<V>; until: number; owner: string | null }
  const entries = new Map<K, Entry>()
  // A load that began before a change was heard may bring back the old row: it is answered, but not kept.
  let changes = 0

  return {
    get(key) {
      const found = entries.get(key)
      if (found && found.until > clock.now()) return found.value
      const loading = load(key)
      const entry: Entry = { value: loading, until: clock.now() + seconds * 1000, owner: null }
      const before = changes
      if (entries.size >= most) entries.clear()
      entries.set(key, entry)
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key)
      }
      loading.then(value => {
        entry.value = value
        entry.owner = ownerOf(key, value)
        // Nothing found is not remembered: it may exist a moment later.
        if (before !== changes || value === null) forget()
      }, forget)
      return loading
    },
    drop(owner) {
      changes++
      for (const [key, entry] of entries) if (entry.owner === owner || entry.owner === null) entries.delete(key)
    },
    clear() {
      changes++
      entries.clear()
    },
  }
}
