import { expect, test } from 'vitest'
import { createBudget } from './budget.ts'

const settled = async (promise: Promise<unknown>) => {
  const mark = Symbol('open')
  return (await Promise.race([promise, new Promise(resolve => setImmediate(() => resolve(mark)))])) !== mark
}

test('reservations beyond the limit wait in order', async () => {
  const budget = createBudget(10)
  const [one, two] = [await budget.take(6), await budget.take(4)]
  const third = budget.take(5)
  const fourth = budget.take(1)
  expect(await settled(third)).toBe(false)
  expect(await settled(fourth)).toBe(false)
  two()
  expect(await settled(third)).toBe(false)
  one()
  expect([await settled(third), await settled(fourth)]).toEqual([true, true])
  expect(budget.inUse()).toBe(6)
})

test('a request above the limit gets all of it, alone', async () => {
  const budget = createBudget(10)
  const all = await budget.take(1_000)
  const next = budget.take(1)
  expect(await settled(next)).toBe(false)
  all()
  expect(await settled(next)).toBe(true)
})

test('releasing twice counts once', async () => {
  const budget = createBudget(10)
  const one = await budget.take(10)
  one()
  one()
  expect(budget.inUse()).toBe(0)
})
