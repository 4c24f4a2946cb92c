// Maintenance of any size as a series of short steps: each handles at most 10,000 rows, so none runs into a timeout or holds its
// locks for long, and whoever drives the series may pause or end it between two steps.

/** What a step has looked at: how many rows, and the key of the last one, after which the next step goes on. */
export type Step<Key> = { found: number; last: Key | null }

const FIRST = 1_000
const LEAST = 100
const MOST = 10_000
/** A step is to take about this long: larger while it is quicker, smaller when the database is busy. */
const QUICK_MS = 150
const SLOW_MS = 600

/**
 * Calls `work` with the last key and a number of rows until it finds fewer than that. Yields after every step. A key that goes on
 * where the last step ended keeps a step cheap also while rows that are deleted cannot be vacuumed.
 */
export async function* inSteps<Key>(
  work: (after: Key | null, most: number) => Promise<Step<Key>>,
  limit = MOST,
): AsyncGenerator<void, void> {
  let after: Key | null = null
  for (let most = Math.min(FIRST, limit); ; ) {
    const since = performance.now()
    const { found, last }: Step<Key> = await work(after, most)
    if (found < most) return
    after = last
    const took = performance.now() - since
    if (took < QUICK_MS) most = Math.min(limit, most * 2)
    if (took > SLOW_MS) most = Math.max(LEAST, Math.floor(most / 2))
    yield
  }
}

/** Work that is a single short step. */
export const once = (work: () => Promise<unknown>): AsyncGenerator<void, void> =>
  inSteps<never>(async () => {
    await work()
    return { found: 0, last: null }
  })

/** Runs a series to its end without a pause; for tests and commands. */
export async function runSteps(steps: AsyncGenerator<void, void>): Promise<void> {
  for await (const _ of steps);
}
