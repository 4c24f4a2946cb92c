import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { createEventHints, type EventHints } from './hints.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const [ANNA, BERT] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b'] as Id[]
type Sent = { at: number; services: string }

/** Hints of several processes: a notification of one is heard by all, a millisecond later. */
function processes(count: number): { all: EventHints[]; sent: Sent[] } {
  const sent: Sent[] = []
  const sql = (async (_: TemplateStringsArray, _channel: string, services: string) => {
    sent.push({ at: performance.now(), services })
    setTimeout(() => all.map(one => one.hear(services)), 1)
    return []
  }) as unknown as Sql
  const all = Array.from({ length: count }, () => createEventHints(sql, () => {}))
  return { all, sent }
}

const announce = (hints: EventHints | undefined, ...services: (Id | undefined)[]) =>
  hints?.announce(services.filter(one => one !== undefined))

test('the first event is announced at once, the next ones of the process after a rest, together', () => {
  const { all, sent } = processes(1)
  const began = performance.now()
  announce(all[0], ANNA)
  vi.advanceTimersByTime(6)
  announce(all[0], ANNA)
  announce(all[0], BERT)
  vi.advanceTimersByTime(1_000)
  expect(sent.map(({ at, services }) => [at - began, services])).toEqual([
    [5, ANNA],
    [55, `${ANNA} ${BERT}`],
  ])
})

test('what another process announces is announced later, and only if there are events since', () => {
  const { all, sent } = processes(1)
  const began = performance.now()
  announce(all[0], ANNA)
  vi.advanceTimersByTime(6)
  announce(all[0], ANNA, BERT) // rests until 55
  vi.advanceTimersByTime(20)
  announce(all[0], BERT)
  vi.advanceTimersByTime(5)
  all[0]?.hear(`${ANNA} ${BERT}`) // Bert's last event is too new to be certain
  vi.advanceTimersByTime(1_000)
  expect(sent.map(one => one.services)).toEqual([ANNA, BERT])
  expect((sent[1]?.at ?? 0) - began).toBeGreaterThanOrEqual(31 + 50)
  expect((sent[1]?.at ?? 0) - began).toBeLessThanOrEqual(31 + 75)
})

test('what another process says of other services does not delay ours', () => {
  const { all, sent } = processes(1)
  const began = performance.now()
  announce(all[0], ANNA)
  vi.advanceTimersByTime(6)
  announce(all[0], ANNA)
  for (let ms = 0; ms < 200; ms++) {
    all[0]?.hear(BERT as Id)
    vi.advanceTimersByTime(1)
  }
  expect(sent.map(({ at }) => at - began)).toEqual([5, 55])
})

test('eight processes with one busy service send little more than one, and the last event is always announced', () => {
  const rate = (count: number) => {
    const { all, sent } = processes(count)
    for (let ms = 0; ms < 2_000; ms++) {
      for (const one of all) announce(one, ANNA)
      vi.advanceTimersByTime(1)
    }
    const last = performance.now()
    const during = sent.length
    vi.advanceTimersByTime(1_000)
    expect(sent.some(({ at }) => at >= last)).toBe(true)
    return during
  }
  const [one, eight] = [rate(1), rate(8)]
  expect(one).toBeGreaterThanOrEqual(25)
  expect(one).toBeLessThanOrEqual(40)
  expect(eight).toBeLessThanOrEqual(one * 2)
})
