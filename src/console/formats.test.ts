import { expect, test } from 'vitest'
import { createFormats, isTimeZone } from './formats.ts'

// A Thursday.
const now = () => Date.parse('2026-11-12T14:40:00Z')
const vienna = createFormats('Europe/Vienna', now)

test('times in the zone of the person: today, this week, before, in another year', () => {
  expect(vienna.brief('2026-11-12 13:32:08.204555+00')).toBe('14:32:08')
  expect(vienna.brief('2026-11-11 23:30:00+00')).toBe('00:30:00') // already today there
  expect(vienna.brief('2026-11-11 08:00:00+00')).toBe('Wed 09:00')
  expect(vienna.brief('2026-11-13 17:00:00+00')).toBe('Fri 18:00')
  expect(vienna.brief('2026-11-03 08:00:00+00')).toBe('3 Nov')
  expect(vienna.brief('2025-11-03 08:00:00+00')).toBe('3 Nov 2025')
  expect(vienna.full('2026-11-11 13:32:08.5+00')).toBe('Wednesday 11 November 2026, 14:32:08')
  expect(vienna.date('2026-11-11 23:32:08+00')).toBe('Thursday 12 November 2026')
  expect(vienna.precise('2026-11-12 13:32:08.204555+00')).toBe('14:32:08.204')
  expect(vienna.precise('2026-11-11 13:32:08+00')).toBe('11 Nov, 14:32:08.000')
  expect(vienna.day('2026-11-11 13:32:08+00')).toBe('Wed 11 Nov')
  expect(vienna.clock('2026-11-11 13:32:08+00')).toBe('14:32')
})

test('relative only under an hour', () => {
  expect(vienna.ago('2026-11-12 14:39:22+00')).toBe('38 s ago')
  expect(vienna.ago('2026-11-12 14:00:00.5+00')).toBe('39 min ago')
  expect(vienna.ago('2026-11-12 13:39:00+00')).toBe('14:39:00')
  expect(vienna.ago('2026-11-12 14:41:00+00')).toBe('15:41:00')
})

test('without a zone, or with one that does not exist, it is UTC and says so', () => {
  for (const zone of [null, 'Moon/Base', '']) {
    const formats = createFormats(zone, now)
    expect(formats.timeZone).toBe('UTC')
    expect(formats.full('2026-11-11 13:32:08+00')).toBe('Wednesday 11 November 2026, 13:32:08 UTC')
  }
  expect(createFormats('UTC', now).full('2026-11-11 13:32:08+00')).toBe('Wednesday 11 November 2026, 13:32:08')
  expect([isTimeZone('Asia/Tokyo'), isTimeZone('Moon/Base')]).toEqual([true, false])
})

test('numbers', () => {
  expect(vienna.number(1234567)).toBe('1,234,567')
  expect(vienna.share(991, 1000)).toBe('99.1 %')
  expect(vienna.share(0, 0)).toBe('–')
})

test('summer time begins and ends within a day', () => {
  const spring = createFormats('Europe/Vienna', () => Date.parse('2026-03-29T12:00:00Z'))
  expect(spring.brief('2026-03-29 00:59:59+00')).toBe('01:59:59')
  expect(spring.brief('2026-03-29 01:00:00+00')).toBe('03:00:00')
  const kathmandu = createFormats('Asia/Kathmandu', now)
  expect(kathmandu.clock('2026-11-12 18:20:00+00')).toBe('00:05')
  expect(kathmandu.day('2026-11-12 18:20:00+00')).toBe('Fri 13 Nov')
})

test('in French', () => {
  const french = createFormats('Europe/Vienna', now, 'fr')
  expect(french.full('2026-11-11 13:32:08+00')).toBe('mercredi 11 novembre 2026 à 14:32:08')
  expect(french.full('2026-12-01 13:32:08+00')).toBe('mardi 1er décembre 2026 à 14:32:08')
  expect(french.brief('2026-11-11 08:00:00+00')).toBe('mer. 09:00')
  expect(french.brief('2026-11-03 08:00:00+00')).toBe('3 nov.')
  expect(french.brief('2025-05-03 08:00:00+00')).toBe('3 mai 2025')
  expect(french.precise('2026-11-11 13:32:08+00')).toBe('11 nov., 14:32:08,000')
  expect(french.day('2026-11-11 13:32:08+00')).toBe('mer. 11 nov.')
  expect(french.ago('2026-11-12 14:35:00+00')).toBe('il y a 5\u00a0min')
  expect(french.number(1234.5)).toBe('1\u202f234,5')
  expect(french.share(991, 1000)).toBe('99,1\u00a0%')
  expect(createFormats(null, now, 'fr').full('2026-11-11 13:32:08+00')).toBe('mercredi 11 novembre 2026 à 13:32:08 UTC')
})

test('a duration has one unit, in both languages', () => {
  const [en, fr] = [createFormats('UTC', () => 0), createFormats('UTC', () => 0, 'fr')]
  expect([20, 851, 3_700, 90_000, 200_000].map(en.duration)).toEqual(['20 s', '14 min', '1 h', '1 day', '2 days'])
  expect([851, 90_000, 200_000].map(fr.duration)).toEqual(['14\u00a0min', '1\u00a0jour', '2\u00a0jours'])
})

test('the axis of a chart is short, in both languages', () => {
  const [en, fr] = [createFormats('UTC', () => 0), createFormats('UTC', () => 0, 'fr')]
  expect([500, 2_500, 200_000].map(en.axis)).toEqual(['500', '2.5k', '200k'])
  expect([2_500, 200_000].map(fr.axis)).toEqual(['2,5\u00a0k', '200\u00a0k'])
})
