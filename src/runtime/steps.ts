// Maintenance of any size as a series of short steps: each handles at most 10,000 rows, so none runs into a timeout or keeps its
// locks for long, and the caller may pause or end the series between two steps.

/** Yields after every step: how many rows it has changed or removed. */
export type Steps = AsyncGenerator<number, void>

/** How many rows a step has found, and the key of the last one, after which the next step continues. */
export type Step<Key> = {
  found: number
  last: Key | null
  /** How many of them were changed or removed; absent: all. */
  changed?: number
}

const FIRST = 1_000
const LEAST = 100
const MOST = 10_000
/** Steps grow while they take less than this, and shrink when they take more than SLOW_MS because the database is busy. */
const QUICK_MS = 150
const SLOW_MS = 600

/**
 * Calls `work` with the last key and a maximum number of rows until it finds fewer than that. Continuing after the last key keeps
 * a step cheap also while deleted rows cannot be vacuumed.
 */
export async function* inSteps<Key>(
  work: (after: Key | null, most: number) => Promise<Step<Key>>,
  limit = MOST,
): Steps {
  let after: Key | null = null
  for (let most = Math.min(FIRST, limit); ; ) {
    const since = performance.now()
    const { found, last, changed }: Step<Key> = await work(after, most)
    const took = performance.now() - since
    yield changed ?? found
    if (found < most) return
    after = last
    if (took < QUICK_MS) most = Math.min(limit, most * 2)
    if (took > SLOW_MS) most = Math.max(LEAST, Math.floor(most / 2))
  }
}

/** Runs a series to its end without a pause; for tests and commands. Returns the number of rows. */
export async function runSteps(steps: Steps): Promise<number> {
  let rows = 0
  for await (const one of steps) rows += one
  return rows
}
