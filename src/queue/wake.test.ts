import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withSeeds } from '../../test/support/seeds.ts'
import type { Sql } from '../db/connect.ts'
import { createWaker, type Waker } from './wake.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Wakers of several processes: a notification of one is heard by all, a millisecond later. */
function wakers(count: number, random = Math.random): { all: Waker[]; sent: number[] } {
  const sent: number[] = []
  const sql = (async (_: TemplateStringsArray, _channel: string, lane: string) => {
    sent.push(performance.now())
    setTimeout(() => all.map(one => one.hear(lane)), 1)
    return []
  }) as unknown as Sql
  const all = Array.from({ length: count }, () => createWaker(sql, () => {}, random))
  return { all, sent }
}

test('on an idle system engines are notified at once', () => {
  const { all, sent } = wakers(2)
  const began = performance.now()
  all[0]?.wake('email-high')
  vi.advanceTimersByTime(6)
  expect(sent.map(at => at - began)).toEqual([5])
})

test('a process that hears of a notification long enough after its commit sends none', () => {
  const { all, sent } = wakers(2)
  all[0]?.wake('email-high')
  vi.advanceTimersByTime(6)
  all[0]?.wake('email-high') // rests until 30
  vi.advanceTimersByTime(13)
  all[1]?.hear('email-high')
  all[0]?.hear('email-high')
  vi.advanceTimersByTime(1_000)
  expect(sent.length).toBe(1)
})

test('one that hears of it too soon after its commit sends its own after a rest', () =>
  withSeeds(5, random => {
    const { all, sent } = wakers(1, random.next)
    const began = performance.now()
    all[0]?.wake('email-high')
    vi.advanceTimersByTime(1)
    all[0]?.hear('email-high')
    vi.advanceTimersByTime(1_000)
    expect(sent.length).toBe(1)
    expect((sent[0] ?? 0) - began).toBeGreaterThanOrEqual(1 + 25 + 15)
    expect((sent[0] ?? 0) - began).toBeLessThanOrEqual(1 + 25 + 40)
  }))

test('eight processes under load send little more than one, and the last message is always followed by a notification', () =>
  withSeeds(5, random => {
    const rate = (count: number) => {
      const { all, sent } = wakers(count, random.next)
      for (let ms = 0; ms < 2_000; ms++) {
        for (const one of all) one.wake('email-low')
        vi.advanceTimersByTime(1)
      }
      const during = sent.length
      const last = performance.now() - 1
      vi.advanceTimersByTime(100)
      expect(sent.some(at => at >= last && at <= last + 75)).toBe(true)
      return during
    }
    expect(rate(1)).toBeLessThanOrEqual(80)
    expect(rate(8)).toBeLessThanOrEqual(80 + 3 * 8)
  }))

test('lanes are independent', () => {
  const { all, sent } = wakers(1)
  all[0]?.wake('email-low')
  all[0]?.wake('email-high')
  vi.advanceTimersByTime(10)
  expect(sent.length).toBe(2)
})
