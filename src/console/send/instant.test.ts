import { expect, test } from 'vitest'
import { localFields, readLocal } from './instant.ts'

const at = (text: string) => Date.parse(text)

test.each([
  ['2026-11-16', '09:00', 'Europe/London', '2026-11-16T09:00:00Z'],
  ['2026-07-16', '09:00', 'Europe/London', '2026-07-16T08:00:00Z'],
  ['2026-11-16', '09:00:30', 'America/St_Johns', '2026-11-16T12:30:30Z'],
  ['2026-11-16', '00:15', 'Asia/Kathmandu', '2026-11-15T18:30:00Z'],
  // Just outside of the hour that is skipped, and of the hour that comes twice.
  ['2026-03-29', '00:59', 'Europe/London', '2026-03-29T00:59:00Z'],
  ['2026-03-29', '02:00', 'Europe/London', '2026-03-29T01:00:00Z'],
  ['2026-10-25', '00:59', 'Europe/London', '2026-10-24T23:59:00Z'],
  ['2026-10-25', '02:00', 'Europe/London', '2026-10-25T02:00:00Z'],
])('%s %s in %s is %s', (day, time, zone, expected) => {
  expect(readLocal(day, time, zone)).toEqual({ kind: 'once', at: at(expected) })
})

test('a time that the clock skips is never, and the same distance after the gap is offered', () => {
  expect(readLocal('2026-03-29', '01:30', 'Europe/London')).toEqual({ kind: 'never', instead: '02:30' })
  expect(readLocal('2026-10-04', '02:10', 'Australia/Lord_Howe')).toEqual({ kind: 'never', instead: '02:40' })
})

test('a time that the clock shows twice is the first one', () => {
  expect(readLocal('2026-10-25', '01:30', 'Europe/London')).toEqual({
    kind: 'twice',
    at: at('2026-10-25T00:30:00Z'),
    second: at('2026-10-25T01:30:00Z'),
  })
})

test.each([
  ['', '09:00'],
  ['2026-02-30', '09:00'],
  ['2026-11-16', '24:00'],
  ['16.11.2026', '09:00'],
  ['2026-11-16', 'nine'],
])('%s %s cannot be read', (day, time) => {
  expect(readLocal(day, time, 'UTC')).toEqual({ kind: 'unreadable' })
})

test('fields of a moment are those of the clock', () => {
  expect(localFields(at('2026-07-16T23:30:00Z'), 'Europe/Paris')).toEqual({ day: '2026-07-17', time: '01:30' })
})
