// Reads .xlsx and .ods as a person sees them: displayed text, with two exceptions. Numbers are never shown in scientific notation,
// and dates in the format that depends on the language of the program are ISO 8601. SheetJS reads the content; before that the
// archive is checked, because SheetJS trusts what it is given.
import { constants, inflateRawSync } from 'node:zlib'
import { read, type WorkBook, type WorkSheet } from '@e965/xlsx'
import { isBlankCell } from '../bulk/rows.ts'
import { decimal } from '../core/number.ts'
import { dataOf, type Entry, readDirectory } from '../files/zip.ts'
import { LAST_LINE, MOST_VALUED, scan } from './scan.ts'
import { type Format, LIMITS, type Unreadable } from './sheet.ts'
import type { Found } from './table.ts'

/** A sheet without data is passed over, up to this many. */
const MOST_EMPTY = 20

/** `header`: the index of its row. */
type Kept = { name: string; names: readonly string[]; sheet: WorkSheet; header: number }

export function tableOfSpreadsheet(content: Buffer): Found {
  const archive = readDirectory(content)
  if (!archive.ok) return { ok: false, problem: { kind: 'damaged' } }
  const { entries } = archive
  const format = formatOf(entries)
  if (!format) return { ok: false, problem: { kind: 'unknown-format' } }
  const problem = problemOf(content, entries)
  if (problem) return { ok: false, problem }
  const scanned = scan(content, entries, format)
  if (!scanned.ok) return scanned
  let found: Kept | null
  try {
    found = firstWithData(content, format, scanned.lines)
  } catch {
    // It throws for everything that is missing or wrong inside.
    return { ok: false, problem: { kind: 'damaged' } }
  }
  if (!found) return { ok: false, problem: { kind: 'empty' } }
  const { name, names, sheet, header } = found
  const rows = rowsOf(sheet)
  // Further rows may have been left out.
  if (rows.filter(row => row && row.length > 0).length > MOST_VALUED)
    return { ok: false, problem: { kind: 'too-many-rows', most: LIMITS.rows } }
  return {
    ok: true,
    table: {
      format,
      encoding: null,
      delimiter: null,
      sheetName: name,
      otherSheets: names.filter(other => other !== name),
      firstLine: header + 1,
      header: cellsOf(rows[header], LIMITS.columns + 1),
      *rows(width) {
        for (let at = header + 1; at < rows.length; at++) yield cellsOf(rows[at], width)
      },
    },
  }
}

function formatOf(entries: readonly Entry[]): Format | null {
  const has = (name: string) => entries.some(entry => entry.name === name)
  // .xlsb has the same parts in another form, which cannot be looked through before it is read.
  if (entries.some(({ name }) => /^xl\/worksheets\/.*\.bin$/i.test(name))) return null
  if (has('[Content_Types].xml') && entries.some(({ name }) => /^xl\/.*\.xml$/.test(name))) return 'xlsx'
  return has('content.xml') && has('META-INF/manifest.xml') ? 'ods' : null
}

/** The directory was checked for contradictions; the sizes in it are the real ones. */
function problemOf(content: Buffer, entries: readonly Entry[]): Unreadable | null {
  const size = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (entries.length > LIMITS.entries || size > LIMITS.inflatedBytes) return { kind: 'too-much' }
  for (const entry of entries) {
    if (!/\.(?:xml|rels)$/i.test(entry.name)) continue
    const start = beginningOf(content, entry)
    // No spreadsheet program writes a document type; it can define entities that multiply.
    if (/<!(?:doctype|entity)/i.test(start)) return { kind: 'damaged' }
    if (entry.name === 'META-INF/manifest.xml' && start.includes('encryption-data')) return { kind: 'password' }
  }
  return null
}

const LOOK_BYTES = 64 * 1024

/** The first part of an entry, as text. */
function beginningOf(content: Buffer, { offset, compressed, method }: Entry): string {
  const at = dataOf(content, offset)
  const data = content.subarray(at, at + Math.min(compressed, LOOK_BYTES))
  if (method === 0) return data.toString('latin1')
  return inflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1')
}

const OPTIONS = {
  type: 'buffer',
  dense: true,
  cellFormula: false,
  cellHTML: false,
  cellNF: true,
  cellText: true,
  dateNF: 'yyyy-mm-dd',
} as const

/** Of .xlsx one sheet is read at a time; .ods is one document, which is read once. */
function firstWithData(content: Buffer, format: Format, lines: number): Kept | null {
  const options = { ...OPTIONS, sheetRows: lines }
  const book = read(content, format === 'ods' ? options : { ...options, sheets: [] })
  const names = visibleSheets(book)
  for (const name of names.slice(0, MOST_EMPTY)) {
    const { Sheets } = format === 'ods' ? book : read(content, { ...options, sheets: name })
    const sheet = Sheets[name]
    if (!sheet) continue
    const header = rowsOf(sheet).findIndex(row => !cellsOf(row, LIMITS.columns + 1).every(isBlankCell))
    if (header !== -1) return { name, names, sheet, header }
  }
  return null
}

/** All, when none is visible. */
function visibleSheets({ SheetNames, Workbook }: WorkBook): readonly string[] {
  const hidden = new Set(Workbook?.Sheets?.filter(sheet => sheet.Hidden).map(sheet => sheet.name) ?? [])
  const visible = SheetNames.filter(name => !hidden.has(name))
  return visible.length > 0 ? visible : SheetNames
}

type Cell = { t?: string; v?: unknown; w?: string; z?: unknown }
type Row = readonly (Cell | undefined)[] | undefined

/** Rows from the first line on; one without cells is undefined. A line number can be anything: no program has more lines. */
const rowsOf = (sheet: WorkSheet): Row[] => Array.from(((sheet['!data'] ?? []) as Row[]).slice(0, LAST_LINE))

function cellsOf(row: Row, width: number): string[] {
  const cells: string[] = []
  for (let at = 0; row && at < row.length && at < width; at++) cells.push(textOf(row[at]))
  return cells
}

function textOf(cell: Cell | undefined): string {
  if (!cell || cell.v === undefined || cell.v === null || cell.t === 'z') return ''
  if (typeof cell.v === 'number' && (isGeneral(cell.z) || /\dE[+-]?\d+$/i.test(cell.w ?? ''))) return decimal(cell.v)
  return cell.w ?? String(cell.v)
}

const isGeneral = (format: unknown) => format === undefined || /^general$/i.test(String(format))
