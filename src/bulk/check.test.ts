import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectLinear, repeated } from '../../test/support/hostile.ts'
import { type CheckedRow, checkRows, type RowRules, rowErrorsSentence } from './check.ts'
import { matchColumns } from './columns.ts'
import { sheetOfCsv, sheetOfRows } from './rows.ts'

const email: RowRules = { type: 'email' }

function check(file: string | unknown[], placeholders: string[] = [], rules: RowRules = email): CheckedRow[] {
  const reading = typeof file === 'string' ? { ok: true as const, sheet: sheetOfCsv(file) } : sheetOfRows(file)
  if (!reading.ok) throw new Error(reading.problem)
  return [...checkRows(reading.sheet, matchColumns(reading.sheet.header, rules.type, placeholders), rules)]
}

const columns = (header: string[], placeholders: string[] = []) => matchColumns(header, 'email', placeholders)

test('contract 20, 10: the sentence about rows', () => {
  const rows = check(
    [
      ['email address', 'name'],
      ['a@example.org', 'A'],
      ['bad', 'B'],
      ['c@example.org', ''],
    ],
    ['name'],
  )
  expect(rowErrorsSentence(rows)).toBe(
    'Some rows have errors. Row 2 - email address: invalid recipient. Row 3 - name: Missing.',
  )
})

test('contract 21, 15: several errors of a row in header order, joined by a comma without a space', () => {
  const rows = check('First Name, E-Mail_Address ,town\n,bad,\n,,', ['town', 'first_name', 'town'])
  expect(rowErrorsSentence(rows)).toBe(
    'Some rows have errors. Row 1 - First Name: Missing,E-Mail_Address: invalid recipient,town: Missing.',
  )
})

test('contract 9: the first 20 failing rows, good ones not counted', () => {
  const rows = check(`email address\n${'a@example.org\nbad\n'.repeat(30)}`)
  const sentence = rowErrorsSentence(rows)
  expect(sentence.match(/Row \d+ - /g)).toHaveLength(20)
  expect(sentence).toMatch(/Row 40 - email address: invalid recipient\.$/)
  expect(rowErrorsSentence(rows, 1)).toBe('Some rows have errors. Row 2 - email address: invalid recipient.')
})

test('contract 21, 6: length is measured after filling', () => {
  const text = { isTooLong: (values: CheckedRow['personalisation']) => `${values.p}`.length + 600 > 612 }
  const rows = check('phone number,p\n6135550123,123456789012\n6135550123,1234567890123', ['p'], { type: 'sms', text })
  expect(rows.map(row => [row.tooLong, row.errors])).toEqual([
    [false, []],
    [true, []],
  ])
})

test('contract 9: missing and duplicate headers, by code point, as spelled', () => {
  expect(columns(['Name'], ['name', 'Zebra', 'apple', '\u{1F600}', '\uFB01']).missing).toEqual([
    'Zebra',
    'apple',
    'email address',
    '\uFB01',
    '\u{1F600}',
  ])
  expect(columns([]).missing).toEqual(['email address'])
  const repeated = columns(['name', 'x', 'NAME', 'email address', ' Email-Address', 'x', 'name'], ['name'])
  expect(repeated.duplicates).toEqual(['Email-Address', 'NAME', 'email address', 'name'])
  expect(repeated.duplicateRecipients).toEqual(['email address', 'Email-Address'])
  expect(columns(['adresse courriel', 'extra', 'extra']).duplicates).toEqual([])
})

test('contract 8: a column named reference', () => {
  expect(check('Reference,email address\nR 1 ,a@example.org\n,b@example.org').map(row => row.reference)).toEqual([
    'R 1',
    null,
  ])
  expect(check('email address\na@example.org')[0]?.reference).toBeNull()
})

test('a checked row has the recipient as given and its key', () => {
  expect(check('email address,name\n A@Example.org ,Ann', ['Name'])).toEqual([
    {
      row: 1,
      recipient: 'A@Example.org',
      key: 'a@example.org',
      personalisation: { emailaddress: 'A@Example.org', name: 'Ann' },
      reference: null,
      errors: [],
      tooLong: false,
    },
  ])
})

test('defect 7 not copied: a recipient column in the other language is validated', () => {
  const rows = check('adresse courriel,name\na@example.org,A\nbad,B\n,C', ['name'])
  expect(rowErrorsSentence(rows)).toBe(
    'Some rows have errors. Row 2 - adresse courriel: invalid recipient. Row 3 - adresse courriel: Missing.',
  )
  expect(rows[0]?.key).toBe('a@example.org')
})

test('S-15 headers and placeholders may be called anything', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length']
  const rows = check(`email address,${names.join(',')}\na@example.org,1,2,3,4,5`, names)
  expect(rows[0]?.errors).toEqual([])
  expect(Object.entries(rows[0]?.personalisation ?? {})).toEqual([
    ['emailaddress', 'a@example.org'],
    ['proto', '1'],
    ['constructor', '2'],
    ['tostring', '3'],
    ['hasownproperty', '4'],
    ['length', '5'],
  ])
  expect(check('email address,__proto__\na@example.org,x', ['toString'])[0]?.personalisation).toEqual({
    emailaddress: 'a@example.org',
  })
})

test('S-15 a million columns, in the header or in a row', () => {
  const wide = sheetOfCsv(`${'x,'.repeat(1_000_000)}email address\na@example.org`)
  expect(wide.header).toHaveLength(1_001) // enough to be refused
  expect(check(`email address\na@example.org,${','.repeat(1_000_000)}`)[0]?.key).toBe('a@example.org')
})

test('no file throws', () => {
  const piece = fc.constantFrom(
    'email address',
    'phone number',
    'name',
    ',',
    '\n',
    '"',
    'a@example.org',
    '6135550123',
    ' ',
    '\0',
    'é',
  )
  const file = fc.oneof(
    fc.array(piece).map(parts => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(file, fc.constantFrom('email' as const, 'sms' as const), (text, type) => {
      rowErrorsSentence(check(text, ['name'], { type }))
    }),
    { numRuns: 500 },
  )
})

test.each(['name,', 'Name,name,', ' , ', 'email address,', '\t', '_-'])('S-28 a header of 100 kB of %j', async unit => {
  await expectLinear(
    text => matchColumns(sheetOfCsv(text).header, 'email', ['name', 'N']),
    repeated(unit, 'email address,'),
  )
})
