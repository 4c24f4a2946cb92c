// Files of every kind that people have, and hostile ones.
import { describe, expect, test } from 'vitest'
import { cpuMilliseconds } from '../../test/support/cpu.ts'
import { archive, docx, ole, pdf, png } from '../../test/support/documents.ts'
import { odsFile, packed, xlsxFile } from '../../test/support/spreadsheets.ts'
import { tableOf } from './format.ts'
import { LIMITS, type Origin, type Unreadable } from './sheet.ts'
import { cut, type ReadTable } from './table.ts'

function reading(content: Buffer | string, origin: Origin = 'file') {
  const found = tableOf(Buffer.from(content), origin)
  return found.ok ? cut(found.table) : found
}

function tableIn(content: Buffer | string, origin: Origin = 'file'): ReadTable {
  const found = reading(content, origin)
  if (!found.ok) throw new Error(`unreadable: ${JSON.stringify(found.problem)}`)
  return found.table
}

function problemIn(content: Buffer | string): Unreadable | null {
  const found = reading(content)
  return found.ok ? null : found.problem
}

const rowsIn = ({ chunks }: ReadTable) =>
  chunks.flatMap(({ json }) => JSON.parse(Buffer.from(json).toString('utf8')) as string[][])
const linesIn = ({ chunks }: ReadTable) => chunks.flatMap(({ lines }) => [...lines])

const TEXT = 'prénom;ville\nZoë;Genève\nJörg;Köln – Süd\n'
const utf16 = (text: string, isBig = false) => {
  const bytes = Buffer.from(text, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}
/** Latin 1, and the character of Windows-1252 that the test has. */
const windows = (text: string) => Buffer.from(text.replaceAll('–', '\u0096'), 'latin1')

describe('encodings', () => {
  test.each([
    ['utf-8', Buffer.from(TEXT), 'utf-8'],
    ['utf-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`), 'utf-8'],
    ['utf-16le with a mark', utf16(`\ufeff${TEXT}`), 'utf-16le'],
    ['utf-16be with a mark', utf16(`\ufeff${TEXT}`, true), 'utf-16be'],
    ['utf-16le without a mark', utf16(TEXT), 'utf-16le'],
    ['utf-16be without a mark', utf16(TEXT, true), 'utf-16be'],
    ['windows-1252', windows(TEXT), 'windows-1252'],
  ])('%s', (_name, bytes, encoding) => {
    const table = tableIn(bytes)
    expect(table).toMatchObject({ encoding, delimiter: ';', header: ['prénom', 'ville'] })
    expect(rowsIn(table)).toEqual([
      ['Zoë', 'Genève'],
      ['Jörg', 'Köln – Süd'],
    ])
  })
})

describe('delimiters', () => {
  test.each([
    ['comma', 'a,b\n1,2\n', ','],
    ['semicolon with decimal commas', 'name;amount\nAnn;1,50\nBob;2,75\n', ';'],
    ['comma with semicolons in a cell', 'name,note\nAnn,"a;b;c"\nBob,x;y\n', ','],
    ['tab', 'a\tb\n1\t2\n', '\t'],
    ['tab with commas in the header', 'name, given\tcity\nAnn\tBonn, Rhein\n', '\t'],
    ['named in the first line', 'sep=;\na,b;c\n1;2\n', ';'],
    ['one column', 'email address\nann@example.org\n', ','],
  ])('%s', (_name, text, delimiter) => {
    expect(tableIn(text).delimiter).toBe(delimiter)
  })

  test('pasted cells have tabs', () => {
    const table = tableIn('email address\tnote\nann@example.org\t"two\nlines"\nbob@example.org\tx, y; z', 'pasted')
    expect(table.delimiter).toBe('\t')
    expect(rowsIn(table)).toEqual([
      ['ann@example.org', 'two\nlines'],
      ['bob@example.org', 'x, y; z'],
    ])
  })
})

describe('lines', () => {
  test('are those of the file; blank rows are counted and left out, also at the end', () => {
    const table = tableIn('\n,,\na,b\n1,2\n,\n3,4\n\n,,,\n')
    expect([table.header, rowsIn(table), linesIn(table)]).toEqual([
      ['a', 'b'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
      [4, 6],
    ])
    expect(table.blankRows).toBe(1)
  })

  test('cells that our own CSV has made harmless are read as they were', () => {
    const rows = rowsIn(tableIn(`"phone number","x"\n"'+16135550123","'quoted'"\n"'=1+1","'"\n`))
    expect(rows).toEqual([
      ['+16135550123', "'quoted'"],
      ['=1+1', "'"],
    ])
  })
})

const SHEET = [
  ['email address', 'code', 'born', 'phone', 'amount'],
  [
    'ann@example.org',
    { v: 42, format: 'zeros' },
    { v: 44_986, format: 'date' },
    { v: 16_135_550_123, format: 'general' },
    { v: 1234.5, format: 'money' },
  ],
  [
    'bob@example.org',
    '007',
    { v: 44_986, format: 'written' },
    { v: 491_701_234_567, format: 'scientific' },
    { f: '1+1', v: '=cmd' },
  ],
  [],
  ['cy@example.org', 0.1, 1e-7, 123_456_789_012_345, null],
] as const

describe('.xlsx', () => {
  test('cells as they are displayed: zeros kept, no scientific notation, dates as written or ISO', () => {
    const table = tableIn(xlsxFile([{ name: 'Permits', rows: SHEET }]))
    expect(table).toMatchObject({ format: 'xlsx', encoding: null, sheetName: 'Permits', otherSheets: [] })
    expect(rowsIn(table)).toEqual([
      ['ann@example.org', '00042', '2023-03-01', '16135550123', '1,234.50'],
      ['bob@example.org', '007', '1 of March 2023', '491701234567', '=cmd'],
      ['cy@example.org', '0.1', '0.0000001', '123456789012345'],
    ])
    expect(linesIn(table)).toEqual([2, 3, 5])
  })

  test('the first visible sheet with data; the others are named', () => {
    const file = xlsxFile([
      { name: 'Secret', rows: [['a'], ['hidden']], hidden: true },
      { name: 'Empty', rows: [] },
      { name: 'Données & co', rows: [[], ['a'], ['1']] },
      { name: 'More', rows: [['b']] },
    ])
    const table = tableIn(file)
    expect(table).toMatchObject({ sheetName: 'Données & co', otherSheets: ['Empty', 'More'] })
    expect(linesIn(table)).toEqual([3])
  })

  test('the name of the file does not matter, only its content does', () => {
    expect(tableIn(xlsxFile([{ name: 'A', rows: [['a'], ['1']] }])).format).toBe('xlsx')
    expect(tableIn('a,b\n1,2').format).toBe('csv')
  })
})

describe('.ods', () => {
  test('cells as they are displayed', () => {
    const table = tableIn(
      odsFile([
        {
          name: 'Blatt 1',
          rows: [
            ['email address', 'born', 'phone'],
            ['ann@example.org', { date: '2023-03-01', shown: '01.03.2023' }, 16_135_550_123],
            ['bob@example.org', '007', 0.5],
          ],
        },
        { name: 'Blatt 2', rows: [['x']] },
      ]),
    )
    expect(table).toMatchObject({ format: 'ods', sheetName: 'Blatt 1', otherSheets: ['Blatt 2'] })
    const [ann, bob] = rowsIn(table)
    expect(ann?.[0]).toBe('ann@example.org')
    expect(['01.03.2023', '2023-03-01']).toContain(ann?.[1])
    expect(ann?.[2]).toBe('16135550123')
    expect(bob).toEqual(['bob@example.org', '007', '0.5'])
  })
})

describe('files that cannot be read', () => {
  const one = xlsxFile([{ name: 'A', rows: [['a'], ['1']] }])
  test.each<[string, Buffer | string, Unreadable['kind']]>([
    ['nothing', ' \n\n', 'empty'],
    ['a header only', 'a,b\n', 'no-rows'],
    ['a spreadsheet without data', xlsxFile([{ name: 'A', rows: [] }]), 'empty'],
    ['PDF', pdf(), 'unknown-format'],
    ['a picture', png(), 'unknown-format'],
    ['Word', docx(), 'unknown-format'],
    ['a web page', '<html><table><tr><td>a</td></tr></table></html>', 'unknown-format'],
    ['.xls', ole('Workbook'), 'old-excel'],
    ['.xlsx with a password', ole('EncryptionInfo', 'EncryptedPackage'), 'password'],
    [
      '.ods with a password',
      odsFile([{ name: 'A', rows: [['a'], ['1']] }], { manifest: '<manifest:encryption-data/>' }),
      'password',
    ],
    ['a truncated spreadsheet', one.subarray(0, one.length - 100), 'damaged'],
    ['half a spreadsheet', one.subarray(0, one.length / 2), 'damaged'],
    ['an archive that is encrypted', archive([['xl/workbook.xml', 'x', { flags: 1 }]]), 'damaged'],
    [
      'a spreadsheet without a workbook',
      archive([
        ['[Content_Types].xml', '<Types/>'],
        ['xl/a.xml', '<a/>'],
      ]),
      'damaged',
    ],
  ])('%s', (_name, content, kind) => {
    expect(problemIn(content)).toEqual({ kind })
  })
})

describe('hostile files', () => {
  test('1,000 columns are read, one more is too many', () => {
    const wide = (columns: number) =>
      `${Array.from({ length: columns }, (_, n) => `c${n}`).join(',')}\n${'1,'.repeat(columns - 1)}1\n`
    expect(tableIn(wide(1_000)).header).toHaveLength(1_000)
    expect(problemIn(wide(1_001))).toEqual({ kind: 'too-many-columns', most: 1_000 })
    const cells = Array.from({ length: 1_001 }, (_, n) => `c${n}`)
    expect(problemIn(xlsxFile([{ name: 'A', rows: [cells, ['1']] }]))).toMatchObject({ kind: 'too-many-columns' })
  })

  test('50,000 rows are read, one more is too many', () => {
    const long = (rows: number) => `a,b\n${'1,2\n'.repeat(rows)}`
    expect(tableIn(long(50_000)).rowCount).toBe(50_000)
    expect(problemIn(long(50_001))).toEqual({ kind: 'too-many-rows', most: 50_000 })
    const rows = Array.from({ length: 50_002 }, () => ['1'])
    expect(problemIn(xlsxFile([{ name: 'A', rows }]))).toMatchObject({ kind: 'too-many-rows' })
  })

  test('one long cell', () => {
    expect(problemIn(`a,b\n1,${'x'.repeat(LIMITS.cell + 1)}\n`)).toEqual({
      kind: 'long-cell',
      line: 2,
      column: 2,
      most: LIMITS.cell,
    })
    // An open quote makes the rest of the file one cell.
    expect(problemIn(`a,b\n1,"${'x,y\n'.repeat(100_000)}`)).toMatchObject({ kind: 'long-cell', line: 2 })
    // 50 MB that are small in the archive.
    const rows = [['a'], ['x'.repeat(50_000_000)]]
    expect(problemIn(xlsxFile([{ name: 'A', rows }]))).toEqual({ kind: 'damaged' })
  })

  test('a bomb: more than its size says, and a ratio that no spreadsheet has', () => {
    const zeros = Buffer.alloc(30_000_000)
    expect(problemIn(xlsxFile([{ name: 'A', rows: [['a'], ['1']] }], [packed('xl/media/x.bin', zeros)]))).toEqual({
      kind: 'damaged',
    })
    const [name, data] = packed('xl/media/x.bin', Buffer.alloc(1_000_000))
    const lying = xlsxFile([{ name: 'A', rows: [['a'], ['1']] }], [[name, data, { method: 8, size: 10 }]])
    expect(problemIn(lying)).toEqual({ kind: 'damaged' })
  })

  /** Refusing a hostile file takes less time than reading an ordinary one: at most 5 s, also on a slow machine. */
  function early(content: Buffer): Unreadable | null {
    const began = cpuMilliseconds()
    const problem = problemIn(content)
    expect(cpuMilliseconds() - began).toBeLessThan(5_000)
    return problem
  }
  const odsWith = (...rows: (string | { xml: string })[][]) => odsFile([{ name: 'A', rows }])
  const cell = (attributes: string, text = '<text:p>x</text:p>') => ({
    xml: `<table:table-cell ${attributes}>${text}</table:table-cell>`,
  })

  test('.ods: cells and rows that are repeated without end are counted, not made', () => {
    const across = cell('table:number-columns-repeated="1000000000" office:value-type="string"')
    expect(early(odsWith(['email address'], [across]))).toEqual({ kind: 'too-much' })
    const number = cell('office:value-type="float" office:value="1" table:number-columns-repeated="100000000"', '')
    expect(early(odsWith(['email address'], [number]))).toEqual({ kind: 'too-much' })
    const both = odsFile([{ name: 'A', rows: [['a'], [cell('table:number-columns-repeated="2000"')]] }], {
      rowAttributes: 'table:number-rows-repeated="2e3"',
    })
    expect(early(both)).toEqual({ kind: 'too-much' })
    const formula = cell('table:formula="of:=A1>B1" table:number-columns-repeated="1000000000"')
    expect(early(odsWith(['email address'], [formula]))).toEqual({ kind: 'too-much' })
    const hidden = cell('table:number-colu<!-- -->mns-repeated="1000000000"')
    expect(early(odsWith(['email address'], [hidden]))).toEqual({ kind: 'too-much' })
  })

  test('.ods: repeats that people have are read: equal rows, and blank cells down to the end of the sheet', () => {
    const blank = { xml: '<table:table-cell table:number-columns-repeated="16384"/>' }
    const styled = cell('table:style-name="ce1" table:number-columns-repeated="1000"', '')
    const end = {
      xml: '</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/>',
    }
    const same = { xml: '</table:table-row><table:table-row table:number-rows-repeated="3">' }
    const file = odsWith(['a', 'b', blank], ['1', '2', styled], [same, '3', '4'], ['5', '6', end])
    expect(rowsIn(tableIn(file)).map(row => row.slice(0, 2))).toEqual([
      ...[
        ['1', '2'],
        ['3', '4'],
        ['3', '4'],
        ['3', '4'],
        ['5', '6'],
      ],
    ])
  })

  const sheetOf = (rows: string, before = '') =>
    `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${before}<sheetData>${rows}</sheetData></worksheet>`
  const xlsxWith = (rows: string, before = '') => xlsxFile([{ name: 'A', rows: [], xml: sheetOf(rows, before) }])
  const line = (r: number | string, text: string, column = 'A') =>
    `<row r="${r}"><c r="${column}${r}" t="inlineStr"><is><t>${text}</t></is></c></row>`

  test('.xlsx: dimensions, line numbers and columns that no sheet has take no memory', () => {
    const wide = '<dimension ref="A1:XFD1048576000"/><cols><col min="1" max="1000000000"/></cols>'
    expect(rowsIn(tableIn(xlsxWith(line(1, 'a') + line(2, 'x'), wide)))).toEqual([['x']])
    expect(rowsIn(tableIn(xlsxWith(line(1, 'a') + line(2, 'x') + line(4_000_000_000, 'far'))))).toEqual([['x']])
    expect(early(xlsxWith(line(1, 'a', 'ZZZZZZ') + line(2, 'x')))).toEqual({ kind: 'no-rows' })
  })

  test('.xlsx: one shared text in very many cells', () => {
    const strings = `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>${'x y '.repeat(20_000)}</t></si></sst>`
    const rows = Array.from({ length: 20_000 }, (_, n) => `<row r="${n + 1}"><c r="A${n + 1}" t="s"><v>0</v></c></row>`)
    const file = xlsxFile(
      [{ name: 'A', rows: [], xml: sheetOf(rows.join('')) }],
      [packed('xl/sharedStrings.xml', strings)],
    )
    expect(early(file)).toEqual({ kind: 'too-much' })
  })

  test('very many rows are refused before they are read; rows far below others are not lost', () => {
    const many = (count: number, every: number) => {
      const rows: string[] = []
      for (let n = 0; n < count; n++) rows.push(line(1 + n * every, String(n)))
      return xlsxWith(rows.join(''))
    }
    expect(early(many(150_000, 1))).toEqual({ kind: 'too-many-rows', most: 50_000 })
    const sparse = tableIn(many(20_000, 4))
    expect(sparse.rowCount).toBe(19_999)
    expect(linesIn(sparse).at(-1)).toBe(79_997)
  })

  test('a workbook in binary form', () => {
    const more = [packed('xl/worksheets/sheet1.bin', Buffer.alloc(10))]
    expect(problemIn(xlsxFile([{ name: 'A', rows: [['a'], ['1']] }], more))).toEqual({ kind: 'unknown-format' })
  })

  test('a long cell that is no repetition', () => {
    const text = Array.from({ length: 300_000 }, (_, n) => String((n * 7919) % 1_000_003)).join(' ')
    expect(problemIn(xlsxWith(line(1, 'a') + line(2, text)))).toEqual({
      ...{ kind: 'long-cell', line: 2, column: 1, most: LIMITS.cell },
    })
  })

  test('an archive with very many entries', () => {
    const many = Array.from({ length: LIMITS.entries }, (_, n) => [`xl/media/${n}.png`, 'x'] as const)
    expect(problemIn(xlsxFile([{ name: 'A', rows: [['a'], ['1']] }], many))).toEqual({ kind: 'too-much' })
  })

  test('entities that multiply are refused before anything reads them', () => {
    const prolog = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
    expect(problemIn(odsFile([{ name: 'A', rows: [['a'], ['1']] }], { prolog }))).toEqual({ kind: 'damaged' })
    const xml = `<?xml version="1.0"?>${prolog}<worksheet><sheetData/></worksheet>`
    expect(problemIn(xlsxFile([{ name: 'A', rows: [], xml }]))).toEqual({ kind: 'damaged' })
  })

  test('formulas are text, and their last value is what counts', () => {
    const rows = [['a'], [{ f: 'WEBSERVICE("http://x")', v: 'seen' }]] as const
    expect(rowsIn(tableIn(xlsxFile([{ name: 'A', rows }])))).toEqual([['seen']])
    expect(rowsIn(tableIn('a,b\n=1+1,@x\n'))).toEqual([['=1+1', '@x']])
  })
})
