import { describe, expect, test } from 'vitest'
import type { Job } from './job.ts'
import { createPace, minutesLeft, paceOf, progressOf } from './progress.ts'
import type { ShownJob } from './sql/read.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const job = (status: Job['status'], counts: Record<string, number> = {}, scheduled_for: string | null = null) =>
  ({
    ...{ status, scheduled_for, notification_count: 100 },
    counts: Object.entries(counts).map(([status, count]) => ({ status, count })),
  }) as unknown as ShownJob

describe('progress', () => {
  test.each([
    ['scheduled', false, job('pending', {}, '2026-11-16 13:00:00+00')],
    ['waiting', false, job('pending', {}, '2026-11-16 11:00:00+00')],
    ['waiting', false, job('pending')],
    ['sending', false, job('in progress', { created: 50 })],
    ['sending', false, job('finished', { created: 1, delivered: 99 })],
    ['finished', false, job('finished', { sending: 1, delivered: 99 })],
    ['finished', true, job('finished', { 'permanent-failure': 1, delivered: 99 })],
    ['cancelled', true, job('cancelled')],
    ['over-limit', true, job('sending limits exceeded')],
    ['error', false, job('error', { created: 1 })],
  ] as const)('%s, over: %s', (status, isOver, given) => {
    expect(progressOf(given, NOW)).toMatchObject({ status, isOver })
  })

  test.each(['cancelled', 'sending limits exceeded'] as const)('%s: no row waits any more', status => {
    expect(progressOf(job(status), NOW)).toMatchObject({ waiting: 0, cancelled: 100 })
    expect(progressOf(job(status, { delivered: 3 }), NOW)).toMatchObject({ waiting: 0, cancelled: 97, delivered: 3 })
  })

  test('every row is counted once; what is not a message yet waits', () => {
    const counts = { created: 7, sending: 5, pending: 1, sent: 2, delivered: 30, 'temporary-failure': 3, cancelled: 1 }
    const found = progressOf(job('in progress', counts), NOW)
    expect(found).toMatchObject({ delivered: 32, inTransit: 6, failed: 3, cancelled: 1, handedOver: 41, waiting: 58 })
    expect(found.delivered + found.inTransit + found.failed + found.cancelled + found.waiting).toBe(100)
  })
})

describe('pace', () => {
  test('is that of the last minute, from the first moment on', () => {
    const pace = createPace(0, 1_000, 600)
    expect(pace.add(1, 1_000)).toBe(600)
    // Half of the 600 were more than a minute ago then.
    expect(pace.add(30_000, 1_100)).toBe(400)
    expect(pace.add(60_000, 1_200)).toBe(200)
    expect(pace.add(90_000, 1_200)).toBe(100)
    expect(pace.add(200_000, 1_200)).toBe(0)
  })

  test('of a job in its first minute is that since it began', () => {
    expect(paceOf(100, null, NOW)).toBe(null)
    expect(paceOf(100, NOW - 1_000, NOW)).toBe(null)
    expect(paceOf(100, NOW - 5_000, NOW)).toBe(1_200)
    expect(paceOf(100, NOW - 600_000, NOW)).toBe(100)
    expect(minutesLeft(progressOf(job('in progress', { delivered: 40 }), NOW), null)).toBe(null)
  })

  test('the rest takes as long as it does at this pace', () => {
    const progress = progressOf(job('in progress', { delivered: 40 }), NOW)
    expect(minutesLeft(progress, 30)).toBe(2)
    expect(minutesLeft(progress, 0)).toBe(null)
    expect(minutesLeft(progressOf(job('finished', { delivered: 100 }), NOW), 30)).toBe(null)
  })
})
