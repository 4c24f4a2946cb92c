import { expect, test } from 'vitest'
import { createRate } from './rate.ts'
import { createRecall } from './recall.ts'

test('turns are evenly spaced, however late a timer is', async () => {
  const rate = createRate(200)
  const since = performance.now()
  const turns = Array.from({ length: 21 }, () => rate.turn(1, false))
  expect(turns[0]).toBe(undefined)
  await turns[10]
  expect(performance.now() - since).toBeGreaterThan(48)
  const until = performance.now() + 30
  while (performance.now() < until); // the process is busy: turns come late, but not later than that
  await turns[20]
  expect(performance.now() - since).toBeGreaterThan(98)
  expect(performance.now() - since).toBeLessThan(180)
})

test('urgent turns go first, and a turn costs what it says', async () => {
  const rate = createRate(100)
  const order: string[] = []
  const since = performance.now()
  expect(rate.turn(3, false)).toBe(undefined)
  const waiting = [
    rate.turn(1, false)?.then(() => order.push('ordinary')),
    rate.turn(1, true)?.then(() => order.push('urgent')),
  ]
  const backlogs = [rate.backlogMs(true), rate.backlogMs(false)].map(ms => Math.ceil(ms / 10) * 10)
  expect(backlogs).toEqual([40, 50])
  await Promise.all(waiting)
  expect(order).toEqual(['urgent', 'ordinary'])
  expect(performance.now() - since).toBeGreaterThan(38)
})

test('a charge makes those who wait, wait longer', async () => {
  const rate = createRate(100)
  const since = performance.now()
  void rate.turn(1, false)
  const turn = rate.turn(1, false)
  rate.charge(3)
  await turn
  expect(performance.now() - since).toBeGreaterThan(38)
})

test('an idle rate accumulates nothing, and without a rate there is no limit', async () => {
  const rate = createRate(50)
  await new Promise(resume => setTimeout(resume, 100))
  expect([rate.turn(1, false), rate.backlogMs(false) > 15]).toEqual([undefined, true])
  const unlimited = createRate(null)
  unlimited.charge(1_000)
  expect([unlimited.turn(1_000, false), unlimited.backlogMs(false)]).toEqual([undefined, 0])
})

test('a recalled turn goes to the next that waits', async () => {
  const rate = createRate(20)
  const recall = createRecall()
  expect(rate.turn(1, false)).toBe(undefined)
  const recalled = [1, 2, 3].map(() => rate.turn(1, false, recall))
  const next = rate.turn(1, false)
  recall.recall()
  expect(await Promise.all(recalled)).toEqual([false, false, false])
  expect(rate.backlogMs(false)).toBeLessThanOrEqual(100)
  expect(await next).toBe(true)
})
