// Only the waiting for company: what a batch does otherwise is in test/engine.test.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBatch, type Rest } from './batch.ts'

function watched(rest: Omit<Rest, 'isBusy'>, isBusy = () => false) {
  const groups: number[] = []
  const batch = createBatch<number, number>(
    async items => {
      groups.push(items.length)
      await sleep(5)
      return items.map(item => item * 2)
    },
    { most: 10, inFlight: 1, rest: { ...rest, isBusy } },
  )
  return { groups, add: batch.add }
}

test('who comes alone is not made to wait', async () => {
  const { groups, add } = watched({ several: 3, ms: 60_000, enough: 5, many: 10 })
  for (let n = 0; n < 5; n++) await add(n)
  expect(groups).toEqual([1, 1, 1, 1, 1])
})

test('after a group of several, the next waits for company', async () => {
  const { groups, add } = watched({ several: 3, ms: 200, enough: 100, many: 100 })
  await Promise.all([1, 2, 3].map(add))
  const first = add(4)
  await sleep(20)
  await Promise.all([first, add(5)])
  expect(groups).toEqual([3, 2])
})

test('but not when enough are there', async () => {
  const { groups, add } = watched({ several: 3, ms: 60_000, enough: 4, many: 10 })
  await Promise.all([1, 2, 3].map(add))
  await Promise.all([1, 2, 3, 4].map(add))
  expect(groups).toEqual([3, 4])
})

test('nor when this process is what everybody waits for', async () => {
  const { groups, add } = watched({ several: 3, ms: 60_000, enough: 100, many: 100 }, () => true)
  await Promise.all([1, 2, 3].map(add))
  await add(4)
  expect(groups).toEqual([3, 1])
})

test('where all come at the same moment, the first leave before the last are there', async () => {
  const { groups, add } = watched({ several: 3, ms: 60_000, enough: 3, many: 3 })
  expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(add))).toEqual([2, 4, 6, 8, 10, 12, 14])
  expect(groups).toEqual([3, 4])
})
