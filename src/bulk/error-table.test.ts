import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CellError, CheckedRow } from './check.ts'
import type { Column } from './columns.ts'
import { createErrorTable, rowErrors } from './error-table.ts'
import type { RowError } from './report.ts'

const columnsOf = (count: number): Column[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `key${at}`,
    header: `Header ${at}`,
    at: [at],
    isRecipient: at === 1,
    isValue: true,
  }))

const rowOf = (row: number, errors: CellError[], tooLong: boolean): CheckedRow => ({
  row,
  recipient: null,
  key: undefined,
  personalisation: {},
  reference: null,
  errors,
  tooLong,
})

test('every error that is put in comes out, in order', () => {
  const given = fc.record({
    width: fc.integer({ min: 2, max: 40 }),
    rows: fc.array(
      fc.record({
        cells: fc.uniqueArray(fc.nat(39)),
        recipient: fc.constantFrom('missing', 'one message', 'another message'),
        large: fc.boolean(),
        flags: fc.record({ notAllowed: fc.boolean(), longReference: fc.boolean(), tooLong: fc.boolean() }),
      }),
      { maxLength: 60 },
    ),
  })
  fc.assert(
    fc.property(given, ({ width, rows }) => {
      const columns = columnsOf(width)
      const table = createErrorTable(columns, 'Ref')
      const expected: RowError[] = []
      let bad = 0
      rows.forEach(({ cells, recipient, large, flags }, at) => {
        const row = at * 7 + 1
        const errors: CellError[] = []
        for (const cell of cells.filter(one => one < width).sort((a, b) => a - b)) {
          const [key, column] = [`key${cell}`, `Header ${cell}`]
          const isRecipient = cell === 1 && recipient !== 'missing'
          const message = isRecipient ? recipient : 'Missing'
          errors.push({ key, column, problem: isRecipient ? 'recipient' : 'missing', message })
          expected.push({ row, column, problem: isRecipient ? 'recipient' : 'missing', message })
        }
        if (large) {
          errors.push({ key: '', column: null, problem: 'large', message: 'large' })
          expected.push({ row, column: null, problem: 'too-large', message: 'large' })
        }
        const add = (column: string | null, problem: RowError['problem']) =>
          expected.push({ row, column, problem, message: expect.any(String) })
        if (flags.notAllowed) add('Header 1', 'not-allowed')
        if (flags.tooLong) add(null, 'too-long')
        if (flags.longReference) add('Ref', 'reference')
        const isBad = errors.length > 0 || Object.values(flags).includes(true)
        expect(table.add(rowOf(row, errors, flags.tooLong), flags)).toBe(isBad)
        if (isBad) bad++
      })
      const whole = table.whole()
      expect([...rowErrors(whole)]).toEqual(expected)
      expect([whole.rows, whole.errors]).toEqual([bad, expected.length])
    }),
  )
})

test('50,000 rows with 1,000 wrong cells each take less than 7 MB', () => {
  const columns = columnsOf(1_000)
  const table = createErrorTable(columns, '')
  const errors = columns.map(
    ({ key, header }): CellError => ({ key, column: header, problem: 'missing', message: 'Missing' }),
  )
  for (let row = 1; row <= 50; row++) table.add(rowOf(row, errors, false), { notAllowed: true, longReference: true })
  expect(table.whole().packed.length * 1_000).toBeLessThan(7_000_000)
})
