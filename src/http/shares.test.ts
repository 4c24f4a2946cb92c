import { expect, test } from 'vitest'
import { createShares } from './shares.ts'

const never = () => {
  throw new Error('nobody was held back')
}

test('an owner may use as much as is free, so there is room for the next', () => {
  const shares = createShares(120)
  // The first body over the threshold is the one that is read beyond it.
  const beyond = shares.open('a')
  expect(beyond.add(100, never)).toBe(true)
  const [one, two, three] = [shares.open('a'), shares.open('b'), shares.open('c')]
  expect(one.add(60, never)).toBe(true)
  expect(one.add(1, () => {})).toBe(false)
  expect(two.add(29, never)).toBe(true)
  expect(two.add(2, () => {})).toBe(false)
  expect(three.add(10, never)).toBe(true)
  expect(shares.inUse()).toBe(199)
})

test('one body is read to its end however large, in turns by owner', () => {
  const shares = createShares(10)
  const order: string[] = []
  const first = shares.open('a')
  expect(first.add(1_000, never)).toBe(true)
  expect(first.add(1_000, never)).toBe(true)
  const again = shares.open('a')
  expect(again.add(6, () => order.push('a again'))).toBe(false)
  const other = shares.open('b')
  expect(other.add(6, () => order.push('b'))).toBe(false)
  first.close()
  expect(order[0]).toBe('b')
  expect(other.add(1_000, never)).toBe(true)
})

test('paused bodies resume when memory is released, the owner with the least first', () => {
  const shares = createShares(100)
  const beyond = shares.open('x')
  beyond.add(200, never)
  const order: string[] = []
  const [large, full] = [shares.open('large'), shares.open('full')]
  full.add(45, never)
  expect(large.add(34, () => order.push('large'))).toBe(false)
  const small = shares.open('small')
  expect(small.add(30, () => order.push('small'))).toBe(false)
  full.close()
  expect(order).toEqual(['small', 'large'])
})

test('however many bodies of one owner wait, there is room for another owner', () => {
  const shares = createShares(100)
  shares.open('one').add(200, never)
  let held = 0
  for (let n = 0; n < 1_000; n++) if (!shares.open('one').add(10, () => {})) held++
  expect(held).toBe(995)
  expect(shares.open('other').add(20, never)).toBe(true)
})

test('a share is released once, however often close is called, and charges nothing afterwards', () => {
  const shares = createShares(10)
  const one = shares.open('a')
  one.add(4, never)
  one.close()
  one.close()
  expect(one.add(4, never)).toBe(true)
  expect(shares.inUse()).toBe(0)
})
