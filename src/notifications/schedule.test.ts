import { expect, test } from 'vitest'
import { FAR, FORMAT, PAST, readMoment, scheduleProblem } from './schedule.ts'

const at = (text: string) => Date.parse(text)

test('contract 2.8: accepted forms, without a zone in UTC', () => {
  const forms: [string, string][] = [
    ['2026', '2026-01-01T00:00:00Z'],
    ['2026-06', '2026-06-01T00:00:00Z'],
    ['2026-06-15', '2026-06-15T00:00:00Z'],
    ['20260615', '2026-06-15T00:00:00Z'],
    ['2026-06-15T10', '2026-06-15T10:00:00Z'],
    ['2026-06-15T10:30', '2026-06-15T10:30:00Z'],
    ['2026-06-15 10:30:20', '2026-06-15T10:30:20Z'],
    ['20260615T10:30:20', '2026-06-15T10:30:20Z'],
    ['2026-06-15T10:30:20.5', '2026-06-15T10:30:20.500Z'],
    ['2026-06-15T10:30:20,123456', '2026-06-15T10:30:20.123Z'],
    ['2026-06-15T10:30:20Z', '2026-06-15T10:30:20Z'],
    ['2026-06-15T10:30:20+02:00', '2026-06-15T08:30:20Z'],
    ['2026-06-15T10:30:20-0530', '2026-06-15T16:00:20Z'],
    ['2026-06-15T10+02', '2026-06-15T08:00:00Z'],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
  ]
  for (const [form, same] of forms) expect(Math.floor(readMoment(form) ?? 0), form).toBe(at(same))
})

test('everything else is a format error', () => {
  const wrong = [
    '',
    ' ',
    'x',
    '42',
    '2026-13-01',
    '2026-02-29',
    '2026-00-10',
    '2026-1-1',
    '2026-06-15T',
    '2026-06-15T24:00',
    '2026-06-15T10:60',
    '2026-06-15T10:30:60',
    '2026-06-15  10:30',
    '2026-06-15Z',
    '2026-06-15+02:00',
    '20260615T1030',
    '2026-06-15T10:30:20.',
    '2026-06-15T10:30:20+2',
    '2026-06-15T10:30:20+25:00',
    ' 2026-06-15',
    '2026-06-15\n',
    '٢٠٢٦-06-15',
    '0000-01-01',
    `2026-06-15T10:30:20.${'1'.repeat(100)}`,
    '2026-W25-1',
    '2026-166',
    'infinity',
  ]
  for (const text of wrong) expect(scheduleProblem(text, 0), text).toBe(FORMAT)
})

test('not before now, at most 96 hours ahead, exactly 96 hours allowed', () => {
  const now = at('2026-06-15T12:00:00Z')
  expect(scheduleProblem('2026-06-15T12:00:00', now)).toBe(null)
  expect(scheduleProblem('2026-06-15T11:59:59.999', now)).toBe(PAST)
  expect(scheduleProblem('2026-06-19T12:00:00', now)).toBe(null)
  expect(scheduleProblem('2026-06-19T12:00:00.001', now)).toBe(FAR)
  expect(scheduleProblem('2026-06-19T14:00:00+02:00', now)).toBe(null)
})
