import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inSteps, runSteps } from './steps.ts'

test('steps grow, continue after the last key, and end with the first that is not full', async () => {
  const calls: [number | null, number][] = []
  const rows = Array.from({ length: 4_500 }, (_, at) => at)
  const steps = inSteps<number>(async (after, most) => {
    calls.push([after, most])
    const found = rows.filter(row => row > (after ?? -1)).slice(0, most)
    return { found: found.length, last: found.at(-1) ?? null, changed: found.filter(row => row % 2 === 0).length }
  })
  expect(await runSteps(steps)).toBe(2_250)
  expect(calls).toEqual([
    [null, 1_000],
    [999, 2_000],
    [2_999, 4_000],
  ])
})

test('a step never exceeds the limit', async () => {
  const sizes: number[] = []
  await runSteps(
    inSteps<number>(async (_after, most) => {
      sizes.push(most)
      return { found: sizes.length < 4 ? most : 0, last: null }
    }, 500),
  )
  expect(sizes).toEqual([500, 500, 500, 500])
})

test('steps shrink while the database is slow, and grow again', async () => {
  const sizes: number[] = []
  await runSteps(
    inSteps<number>(async (_after, most) => {
      sizes.push(most)
      if (sizes.length === 3 || sizes.length === 4) await sleep(700)
      return { found: sizes.length < 20 ? most : 0, last: null }
    }),
  )
  const [, , third = 0, fourth = 0, fifth = 0] = sizes
  expect(fourth).toBe(third / 2)
  expect(fifth).toBe(fourth / 2)
  expect(sizes.at(-1)).toBeGreaterThan(fifth)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000)
})
