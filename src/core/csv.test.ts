import { expect, test } from 'vitest'
import { csvRow } from './csv.ts'

test('no cell is a formula, and telephone numbers stay as they are', () => {
  const cells = [
    '=1+1',
    '+1+1',
    '-2',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '+16135550123',
    '+1 613-555-0123',
    '+',
    '+1234567890123456',
    '+1\n=1',
  ]
  expect(csvRow(cells)).toBe(
    `"'=1+1","'+1+1","'-2","'@SUM(A1)","'\t=1","'\r=1","+16135550123","'+1 613-555-0123","'+","'+1234567890123456","'+1\n=1"`,
  )
  expect(csvRow(['a "quote"', null, 3])).toBe('"a ""quote""","","3"')
})
