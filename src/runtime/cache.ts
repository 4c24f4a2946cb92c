// A cache of rows with a time to live of a few seconds. Changes are announced by NOTIFY and drop entries at once; the time to
// live covers a lost connection to the database.

export type Cache<K, V> = {
  /** The value itself on a hit, a promise of it on a miss. */
  get(key: K): V | Promise<V>
  /** Removes all entries of an owner (a service). */
  drop(owner: string): void
  clear(): void
}

export function createCache<K, V>(
  clock: { now(): number },
  load: (key: K) => Promise<V>,
  {
    ownerOf,
    seconds = 5,
    most = 10_000,
  }: { ownerOf: (key: K, value: V) => string | null; seconds?: number; most?: number },
): Cache<K, V> {
  type CacheEntry = { value: V | Promise<V>; until: number; owner: string | null }
  const entries = new Map<K, CacheEntry>()
  // A load that began before a change may return the old row: it is returned, but not cached.
  let changes = 0

  return {
    get(key) {
      const found = entries.get(key)
      if (found && found.until > clock.now()) return found.value
      const loading = load(key)
      const entry: CacheEntry = { value: loading, until: clock.now() + seconds * 1000, owner: null }
      const before = changes
      if (entries.size >= most) entries.clear()
      entries.set(key, entry)
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key)
      }
      loading.then(value => {
        entry.value = value
        entry.owner = ownerOf(key, value)
        // A miss is not cached: the row may exist a moment later.
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
