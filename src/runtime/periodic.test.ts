import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { startPeriodic } from './periodic.ts'

test('runs do not overlap, a failed run is followed by the next, and none begins after stop', async () => {
  let [running, most, runs, faults] = [0, 0, 0, 0]
  const periodic = startPeriodic(
    async () => {
      most = Math.max(most, ++running)
      runs++
      await sleep(30)
      running--
      if (runs === 2) throw new Error('this run fails')
    },
    1,
    () => faults++,
  )
  await vi.waitUntil(() => runs >= 4)
  await periodic.stop()
  expect({ running, most, faults }).toEqual({ running: 0, most: 1, faults: 1 })
  const before = runs
  await sleep(100)
  expect(runs).toBe(before)
})

test('the pause may depend on the number of runs', async () => {
  const asked: number[] = []
  const periodic = startPeriodic(
    async () => {},
    runs => {
      asked.push(runs)
      return 1
    },
    () => {},
  )
  await vi.waitUntil(() => asked.length > 3)
  await periodic.stop()
  expect(asked.slice(0, 4)).toEqual([0, 1, 2, 3])
})

test('a parent signal ends the series, and work under way sees it', async () => {
  const parent = new AbortController()
  let seen: boolean | undefined
  let runs = 0
  const periodic = startPeriodic(
    async signal => {
      runs++
      parent.abort()
      seen = signal.aborted
    },
    1,
    () => {},
    parent.signal,
  )
  await vi.waitUntil(() => runs === 1)
  await periodic.stop()
  expect([seen, runs]).toEqual([true, 1])
})
