import { expect, test } from 'vitest'
import { startsOfDays } from './days.ts'

const starts = (now: string, zone: string, days = 3) =>
  startsOfDays(Date.parse(now), zone, days).map(hour => new Date(hour * 3_600_000).toISOString().slice(0, 16))

test('days begin at midnight of the zone', () => {
  expect(starts('2026-11-12T14:00:00Z', 'UTC')).toEqual(['2026-11-10T00:00', '2026-11-11T00:00', '2026-11-12T00:00'])
  expect(starts('2026-11-12T02:00:00Z', 'America/Toronto')).toEqual([
    '2026-11-09T05:00',
    '2026-11-10T05:00',
    '2026-11-11T05:00',
  ])
  expect(starts('2026-03-01T12:00:00Z', 'Pacific/Auckland', 2)).toEqual(['2026-02-28T11:00', '2026-03-01T11:00'])
})

test('on the days on which the clocks change', () => {
  expect(starts('2026-03-30T12:00:00Z', 'Europe/Berlin')).toEqual([
    '2026-03-27T23:00',
    '2026-03-28T23:00',
    '2026-03-29T22:00',
  ])
  // Midnight does not exist on this day.
  expect(starts('2026-04-24T12:00:00Z', 'Africa/Cairo', 1)).toHaveLength(1)
})

test('half an hour is rounded down', () => {
  expect(starts('2026-11-12T14:00:00Z', 'Asia/Kolkata', 1)).toEqual(['2026-11-11T18:00'])
})
