import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withSeeds } from '../../test/support/seeds.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { createEventHints, type EventHints } from './hints.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const [ANNA, BERT] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b'] as Id[]
type Sent = { at: number; services: string }

/** Hints of several processes: a notification of one is heard by all, a millisecond later. */
function processes(count: number, random = () => 0): { all: EventHints[]; sent: Sent[] } {
  const sent: Sent[] = []
  const sql = (async (_: TemplateStringsArray, _channel: string, services: string) => {
    sent.push({ at: performance.now(), services })
    setTimeout(() => all.map(one => one.hear(services)), 1)
    return []
  }) as unknown as Sql
  const all = Array.from({ length: count }, () => createEventHints(sql, () => {}, random))
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

test('what another process announces is announced later, and only if there are events since', () =>
  withSeeds(5, random => {
    const { all, sent } = processes(1, random.next)
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
    expect((sent[1]?.at ?? 0) - began).toBeGreaterThanOrEqual(31 + 50 + 15)
    expect((sent[1]?.at ?? 0) - began).toBeLessThanOrEqual(31 + 50 + 40)
  }))

test('a process with nothing to say hears, too: what it announces next rests', () => {
  const { all, sent } = processes(2)
  const began = performance.now()
  announce(all[0], ANNA)
  vi.advanceTimersByTime(10)
  announce(all[1], ANNA) // heard at 6
  vi.advanceTimersByTime(1_000)
  expect(sent.map(({ at }) => at - began)).toEqual([5, 6 + 50 + 15])
})

test('what is announced by others is not announced again because of another service that waits', () => {
  const { all, sent } = processes(1)
  announce(all[0], ANNA)
  vi.advanceTimersByTime(6)
  announce(all[0], ANNA, BERT)
  vi.advanceTimersByTime(20)
  all[0]?.hear(ANNA as Id)
  vi.advanceTimersByTime(1_000)
  expect(sent.map(one => one.services)).toEqual([ANNA, BERT])
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

test('of more services than a notification can name, any may have events, and all of them rest', () => {
  const { all, sent } = processes(2)
  const told: unknown[] = []
  all[1]?.subscribe(services => told.push(services))
  const many = Array.from({ length: 201 }, (_, n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` as Id)
  const began = performance.now()
  announce(all[0], ...many)
  vi.advanceTimersByTime(7)
  expect(told).toEqual([null])
  announce(all[1], many[0])
  vi.advanceTimersByTime(1_000)
  expect(sent.map(({ at, services }) => [at - began, services])).toEqual([
    [5, '*'],
    [6 + 50 + 15, many[0]],
  ])
})

test('eight processes with one busy service send little more than one, and the last event is always announced', () =>
  withSeeds(5, random => {
    const rate = (count: number) => {
      const { all, sent } = processes(count, random.next)
      for (let ms = 0; ms < 2_000; ms++) {
        for (const one of all) announce(one, ANNA)
        vi.advanceTimersByTime(1)
      }
      const during = sent.length
      const last = performance.now() - 1
      vi.advanceTimersByTime(1_000)
      expect(sent.some(({ at }) => at >= last && at <= last + 100)).toBe(true)
      return during
    }
    expect(rate(1)).toBeLessThanOrEqual(40)
    expect(rate(8)).toBeLessThanOrEqual(40 + 3 * 8)
  }))
