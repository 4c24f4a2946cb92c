// Seeds for random tests, others in every run: a failure names its seed, TEST_SEED=N repeats it. TEST_SEEDS=1000 tries that
// many in a row. TEST_SEEDS_FROM=N: where the seeds begin; .ci/run takes it from the commit, so that it can be repeated.
import { randomInt } from 'node:crypto'
import { onTestFailed } from 'vitest'
import { createRandom, type Random } from '../../faults/support/random.ts'

const { TEST_SEED, TEST_SEEDS, TEST_SEEDS_FROM } = process.env

const begin = () => Number(TEST_SEED ?? TEST_SEEDS_FROM ?? randomInt(1_000_000_000))

/** For a file whose tests share one seed, which it prints. */
export const SEED = begin()

/** Runs the body with `count` seeds, one after the other. */
export async function withSeeds(count: number, body: (random: Random) => unknown): Promise<void> {
  const first = begin()
  const seeds = Number(TEST_SEEDS ?? (TEST_SEED ? 1 : count))
  for (let seed = first; seed < first + seeds; seed++)
    try {
      await body(createRandom(seed))
    } catch (error) {
      throw new Error(`with TEST_SEED=${seed}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      })
    }
}

/** For a test that takes too long for several seeds. */
export function seeded(): Random {
  const random = createRandom(begin())
  onTestFailed(() => console.error(`repeat it with TEST_SEED=${random.seed}`))
  return random
}
