import { expect, test } from 'vitest'
import { createClock, fromMicros, spaced, zulu } from './clock.ts'
import { createIds, floorOf, microsOf, readId } from './id.ts'

test('an id contains its microsecond, and ids of one process strictly increase', () => {
  let at = 1_781_000_000_000.123
  const clock = createClock(() => at)
  const ids = createIds(clock)
  let last = ''
  for (let i = 0; i < 20_000; i++) {
    const id = ids.next()
    expect(id > last).toBe(true)
    last = id
  }
  for (let micro = 0; micro < 1000; micro++) {
    at = 1_781_000_100_000 + micro / 1000
    const micros = clock.micros()
    expect(microsOf(ids.next())).toBe(micros)
    expect(microsOf(floorOf(micros))).toBe(micros)
  }
})

test('the clock never runs backwards, whatever the machine or a correction does', () => {
  let at = 5_000
  const clock = createClock(() => at)
  expect(clock.now()).toBe(5_000)
  at = 1_000
  expect(clock.now()).toBe(5_000)
  clock.follow(11_000)
  expect(clock.now()).toBe(11_000)
})

test('4.7 small corrections backwards make the clock stand still; a step of more than 2 s is followed, also by ids', () => {
  let at = 1_000_000
  const clock = createClock(() => at)
  const ids = createIds(clock)
  expect(clock.follow(5_000_000)).toBe(0)
  const first = ids.next()
  expect(clock.follow(4_998_500)).toBe(0)
  expect(clock.now()).toBe(5_000_000)
  expect(clock.follow(4_997_500)).toBe(-2_500) // 1 s more, but 2.5 s in all
  expect(clock.now()).toBe(4_997_500)
  expect(ids.next() < first).toBe(true)

  at += 1_000
  expect(clock.follow(4_398_500)).toBe(-600_000)
  expect(microsOf(ids.next())).toBe(4_398_500_000)
  const later = ids.next()
  at += 1
  expect(ids.next() > later).toBe(true)
  expect(clock.follow(4_998_501)).toBe(600_000)
  expect(microsOf(ids.next())).toBe(4_998_501_000)
})

test('a reading of the database that took long corrects no more than it proves wrong', () => {
  let at = 1_000_000
  const clock = createClock(() => at)
  clock.follow(5_000_000, 2)
  expect(clock.now()).toBe(5_000_001)
  at += 10_000
  clock.follow(5_008_000, 4_000) // between 5,008 and 5,012 s: we may be right
  expect(clock.now()).toBe(5_010_001)
  clock.follow(5_010_500, 10)
  expect(clock.now()).toBe(5_010_500)
})

test("setting the machine's clock changes nothing", async () => {
  const real = Date.now
  const clock = createClock()
  clock.follow(real())
  const before = clock.now()
  try {
    for (const step of [-600_000, 7_200_000]) {
      Date.now = () => real() + step
      expect(Math.abs(clock.now() - before)).toBeLessThan(60_000)
    }
  } finally {
    Date.now = real
  }
})

test('contract 1.6: any spelling of 32 hexadecimal digits is an id', () => {
  const id = '0190a1b2-c3d4-7000-8000-0123456789ab'
  for (const spelling of [
    id,
    id.toUpperCase(),
    `{${id}}`,
    `urn:uuid:${id}`,
    id.replaceAll('-', ''),
    '0190a1b2c3d4-70008000-0123456789ab',
  ])
    expect(readId(spelling)).toBe(id)
  for (const wrong of [
    '',
    ' ',
    ` ${id}`,
    `${id} `,
    `{${id}`,
    `${id}}`,
    `${id}0`,
    id.slice(1),
    `g${id.slice(1)}`,
    7,
    null,
  ])
    expect(readId(wrong)).toBe(null)
  expect(readId('00000000-0000-0000-0000-000000000000')).toBe('00000000-0000-0000-0000-000000000000')
})

test('contract 1.5: six digits of fraction, always', () => {
  expect(zulu('2026-06-15 12:30:00+00')).toBe('2026-06-15T12:30:00.000000Z')
  expect(zulu('2026-06-15 12:30:00.12+00')).toBe('2026-06-15T12:30:00.120000Z')
  expect(spaced('2026-06-15 12:30:00.123456+00')).toBe('2026-06-15 12:30:00.123456')
  expect(zulu(fromMicros(1_781_000_000_000_001))).toBe('2026-06-09T10:13:20.000001Z')
})
