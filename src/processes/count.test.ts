import { expect, test } from 'vitest'
import { connectionsNeeded, countOf, fitting } from './count.ts'

const GIB = 1024 ** 3

test('auto: one process on up to two cores, then seven for ten cores', () => {
  const counts = [1, 2, 3, 4, 8, 10, 16, 32, 128].map(cores => countOf('auto', { cores, bytes: 256 * GIB }))
  expect(counts).toEqual([1, 1, 2, 3, 6, 7, 11, 22, 64])
})

test('auto: half a gibibyte of memory for each, and at least one process', () => {
  expect([0.25, 1, 2, 3].map(size => countOf('auto', { cores: 16, bytes: size * GIB }))).toEqual([1, 2, 4, 6])
})

test('a number is taken as it is given', () => {
  expect(countOf(8, { cores: 1, bytes: GIB })).toBe(8)
})

test('auto takes at most half of the connections of the database; a number that does not fit is refused', () => {
  expect(fitting('auto', 10, 3)).toBe(1)
  expect(fitting(6, 10, 100)).toBe(6)
  expect(() => fitting(7, 10, 100)).toThrow(
    'HERALD_PROCESSES is 7. With 12 connections for each and 20 for others they need 104, but the database allows 100:',
  )
})

test('an embedded database has room for what auto chooses, and for a number', () => {
  for (const count of [2, 8, 64]) {
    const most = connectionsNeeded(count, 10)
    expect(fitting(count, 10, most)).toBe(count)
    expect(Math.floor(most / 2 / 12)).toBe(count)
  }
})
