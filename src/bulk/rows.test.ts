import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectLinear, repeated } from '../../test/support/hostile.ts'
import { type Sheet, sheetOfCsv, sheetOfRows } from './rows.ts'

const everything = Number.POSITIVE_INFINITY
const read = (sheet: Sheet) => [sheet.header, ...sheet.rows(everything)]
const readCsv = (text: string) => read(sheetOfCsv(text))

function readRows(rows: unknown[]) {
  const reading = sheetOfRows(rows)
  return reading.ok ? read(reading.sheet) : reading.problem
}

test('contract 9 quoting: doubled inside, spaces before, text after, newlines kept, a quote inside a cell is itself', () => {
  expect(readCsv('a,b\n"x,""y""", "two\r\nlines" tail\nun"quoted,  z ')).toEqual([
    ['a', 'b'],
    ['x,"y"', 'two\r\nlines tail'],
    ['un"quoted', 'z'],
  ])
})

test('contract 9 an unclosed quote runs to the end', () => {
  expect(readCsv('a,b\nx,"y\nz,1')).toEqual([
    ['a', 'b'],
    ['x', 'y\nz,1'],
  ])
})

test('defect 9 not copied: CR alone ends a row, like LF and CRLF', () => {
  expect(readCsv('a,b\rx,y\r\nz,w\n\r1,2\r\r')).toEqual([['a', 'b'], ['x', 'y'], ['z', 'w'], [''], ['1', '2']])
})

test('defect 8 not copied: leading commas are columns without a name, except on blank rows', () => {
  expect(readCsv(',,email address\n1,2,a@b.org,,\n,,')).toEqual([
    ['', '', 'email address'],
    ['1', '2', 'a@b.org'],
  ])
  expect(readCsv('\uFEFF\n , ,\r\n  ,email address\nx,a@b.org')).toEqual([
    ['', 'email address'],
    ['x', 'a@b.org'],
  ])
  expect(readRows([['', null], ['', 'email address'], ['x', 'a@b.org'], [''], []])).toEqual([
    ['', 'email address'],
    ['x', 'a@b.org'],
  ])
})

test('rows are counted without the header, blank ones between others too', () => {
  expect(sheetOfCsv('a\n1\n\n2\n\n\n').rowCount).toBe(3)
  expect(sheetOfCsv('a\n"1\n2"\n3').rowCount).toBe(2)
  expect(sheetOfCsv('a').rowCount).toBe(0)
  expect(sheetOfCsv(' \n,,\uFEFF').header).toEqual([])
  expect(sheetOfRows([])).toMatchObject({ ok: true, sheet: { header: [], rowCount: 0 } })
})

test('contract 9 scalars of rows by their text form, null as empty', () => {
  expect(readRows([['a'], [1, 1.5, -7, true, false, null, 0.00001, 1e-10, 1e21, 0]])).toEqual([
    ['a'],
    ['1', '1.5', '-7', 'True', 'False', '', '0.00001', '0.0000000001', '1000000000000000000000', '0'],
  ])
  expect(readRows([['a'], [['x', 1, null], { k: true }]])).toEqual([['a'], ['[x, 1, None]', '{k: True}']])
})

test.each([
  [1, 'int'],
  [1.5, 'float'],
  [true, 'bool'],
  [null, 'NoneType'],
  ['text', 'str'],
  [{}, 'dict'],
])('contract 8 a row that is not an array: %j', (row, kind) => {
  expect(readRows([['a'], [1], row])).toBe(`iterable expected, not ${kind}`)
})

test('S-15 only the requested cells are built', () => {
  const sheet = sheetOfCsv(`a,b\n1,2,${'x,'.repeat(10)}"q,q"\n3`)
  expect([...sheet.rows(1)]).toEqual([['1'], ['3']])
  expect([...sheet.rows(0)]).toEqual([[], []])
})

const writeCell = (text: string) => (/[",\r\n]|^ /.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const write = (rows: string[][], end: string) => rows.map(row => row.map(writeCell).join(',')).join(end)
const cell = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.constantFrom('"', ',', '\n', '\r', ' ', 'a', "'")).map(parts => parts.join('')),
)
// Solid ends, so that trimming the whole file has nothing to take.
const table = fc
  .array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 })
  .map(rows => [['first'], ...rows, ['last']])

test('rows written as CSV are read back', () => {
  fc.assert(
    fc.property(table, fc.constantFrom('\n', '\r\n', '\r'), (rows, end) => {
      expect(readCsv(write(rows, end))).toEqual(rows)
    }),
    { numRuns: 1000 },
  )
})

test('rows equal their CSV', () => {
  const trimmed = (rows: unknown) => (rows as string[][]).map(row => row.map(text => text.trim()))
  fc.assert(
    fc.property(table, rows => {
      expect(trimmed(readRows(rows))).toEqual(trimmed(readCsv(write(rows, '\n'))))
    }),
  )
})

test('no text throws, and the count is the number of rows', () => {
  const text = fc
    .array(fc.constantFrom('"', ',', '\n', '\r', ' ', 'a', '\0', '\uFEFF', '\u00a0', '""'))
    .map(parts => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), file => {
      const sheet = sheetOfCsv(file)
      expect([...sheet.rows(everything)]).toHaveLength(sheet.rowCount)
    }),
    { numRuns: 1000 },
  )
})

test('no rows throw', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), rows => {
      readRows(rows)
    }),
  )
})

// Read and let go, as the worker does: keeping every row would measure the garbage collector.
function walk(sheet: Sheet) {
  let cells = sheet.header.length
  for (const row of sheet.rows(everything)) cells += row.length
  return cells
}

test.each(['"', '""', ',', '\n', '\r', ' ', '\uFEFF', '\u00a0', '\0', '"\n', ',"', 'a,', '" ', '"",'])(
  'S-28 100 kB of %j',
  async unit => {
    await expectLinear(text => walk(sheetOfCsv(text)), repeated(unit))
    await expectLinear(text => walk(sheetOfCsv(text)), repeated(unit, 'a,b\n1,"', '"x'))
  },
)

test('S-28 100 kB of rows', async () => {
  const walkRows = (rows: unknown[]) => {
    const reading = sheetOfRows(rows)
    return reading.ok && walk(reading.sheet)
  }
  await expectLinear(walkRows, size => [['a'], ...Array.from({ length: size / 5 }, () => [[]]), ['z']])
  await expectLinear(walkRows, size => Array.from({ length: size / 5 }, () => ['']))
  await expectLinear(walkRows, size => [Array.from({ length: size / 4 }, () => 'x')])
})
