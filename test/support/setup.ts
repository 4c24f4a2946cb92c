// Runs before every test file.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import { endAll } from './ends.ts'
import './patience.ts'
import './refused.ts'

// Limits and statistics are counted by UTC day: no file makes its messages on one day and counts them on the next.
const DAY_MS = 86_400_000
const LONGEST_MS = 90_000
beforeAll(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < LONGEST_MS) await sleep(left + 2_000)
})
afterAll(endAll)

const { TEST_SEED, TEST_SEEDS_FROM } = process.env
const seed = TEST_SEED ?? TEST_SEEDS_FROM
if (seed) (await import('fast-check')).default.configureGlobal({ seed: Number(seed) })
