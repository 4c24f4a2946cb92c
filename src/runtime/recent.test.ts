import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRecentCount } from './recent.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('counts the events of the last minute', () => {
  const count = createRecentCount()
  expect(count.lastMinute()).toBe(0)
  count.add()
  count.add()
  vi.advanceTimersByTime(30_000)
  count.add()
  expect(count.lastMinute()).toBe(3)
  vi.advanceTimersByTime(31_000)
  expect(count.lastMinute()).toBe(1)
  vi.advanceTimersByTime(30_000)
  expect(count.lastMinute()).toBe(0)
})

test('a long pause empties it', () => {
  const count = createRecentCount()
  for (let at = 0; at < 100; at++) {
    count.add()
    vi.advanceTimersByTime(1_000)
  }
  expect(count.lastMinute()).toBe(59)
  vi.advanceTimersByTime(3_600_000)
  expect(count.lastMinute()).toBe(0)
  count.add()
  expect(count.lastMinute()).toBe(1)
})
