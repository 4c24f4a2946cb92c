// Looks through the XML of a spreadsheet before SheetJS reads it: how far down its cells have values, and how many cells its repeats
// would make. SheetJS makes every repeated cell, and a repeat can be written in a few bytes.
import { inflateRawSync } from 'node:zlib'
import { dataOf, type Entry } from '../files/zip.ts'
import { type Format, LIMITS, type Unreadable } from './sheet.ts'

/** Cells that are made by repeats, beyond those that are written. */
const MOST_REPEATED = 1_000_000
/** Rows with a cell that may be blank, as formulas leave them. After this many, a sheet has too many rows in any case. */
export const MOST_VALUED = LIMITS.rows + 10_000
/** Of a sheet in any spreadsheet program. */
export const LAST_LINE = 1_048_576

/** Read of every sheet, also of one that is not found here. */
const FEWEST_LINES = LIMITS.rows + 1_000

/** `lines`: so many must be read to see every row with a value, or that there are too many. */
export type Scan = { ok: true; lines: number } | { ok: false; problem: Unreadable }

export function scan(content: Buffer, entries: readonly Entry[], format: Format): Scan {
  const sheets: Counted[] = []
  for (const entry of entries.filter(({ name }) =>
    format === 'ods' ? name === 'content.xml' : /\.xml$/i.test(name),
  )) {
    const xml = textOf(content, entry)
    if (/<!(?:doctype|entity)/i.test(xml)) return { ok: false, problem: { kind: 'damaged' } }
    const found = format === 'ods' ? countTables(xml) : xml.includes('sheetData') ? [countRows(xml)] : []
    if (found === null) return { ok: false, problem: { kind: 'too-much' } }
    for (const one of found) sheets.push(one)
  }
  // Which of several sheets is read is known only later.
  const [only] = sheets.length === 1 ? sheets : []
  if (only && only.valued > MOST_VALUED) return { ok: false, problem: { kind: 'too-many-rows', most: LIMITS.rows } }
  const lines = sheets.reduce((most, sheet) => Math.max(most, sheet.lines), FEWEST_LINES)
  return { ok: true, lines: Math.min(lines, LAST_LINE) }
}

/** Names and numbers are ASCII in every encoding that SheetJS reads. Comments are removed, because SheetJS removes them, too. */
function textOf(content: Buffer, { offset, compressed, method }: Entry): string {
  const at = dataOf(content, offset)
  const data = content.subarray(at, at + compressed)
  const xml = (method === 0 ? data : inflateRawSync(data)).toString('latin1')
  return xml.includes('<!--') ? xml.replace(/<!--[\s\S]*?-->/g, '') : xml
}

/** `valued`: rows with a value. `lines`: the line of the last of them, or of the one that is too many. */
type Counted = { valued: number; lines: number }

const ROW = /<(?:\w+:)?row\b([^<>]*)>|<(?:\w+:)?(?:v|is)\b/g

function countRows(xml: string): Counted {
  const counted: Counted = { valued: 0, lines: 0 }
  let line = 0
  let isOpen = false
  for (const [, row] of xml.matchAll(ROW)) {
    if (row !== undefined) {
      const given = /\sr=["'](\d+)["']/.exec(row)?.[1]
      line = given ? Number(given) : line + 1
      isOpen = true
    } else if (isOpen) {
      isOpen = false
      add(counted, line, 1)
    }
  }
  return counted
}

const TABLE = /<(\/?)(?:[\w-]+:)?(table|table-row|table-cell)(\s(?:[^<>"]|"[^<"]*")*)?>/g
const ROWS_REPEATED = /\bnumber-rows-repeated="([^"]*)"/
const COLUMNS_REPEATED = /\bnumber-columns-repeated="([^"]*)"/

/** One for each table; null: repeats make too many cells. */
function countTables(xml: string): Counted[] | null {
  const tables: Counted[] = []
  let counted: Counted = { valued: 0, lines: 0 }
  let [line, rows, repeated] = [0, 1, 0]
  let isOpen = false
  for (const { 0: tag, 1: end, 2: name, 3: attributes = '', index } of xml.matchAll(TABLE)) {
    if (name === 'table') {
      if (end) tables.push(counted)
      counted = { valued: 0, lines: 0 }
      line = 0
    } else if (name === 'table-row') {
      if (end) line += rows
      else rows = timesIn(ROWS_REPEATED, attributes)
      isOpen = !end
    } else if (!end && !isBlankCell(xml, index + tag.length, attributes)) {
      repeated += rows * timesIn(COLUMNS_REPEATED, attributes) - 1
      if (repeated > MOST_REPEATED) return null
      if (isOpen) add(counted, line + rows, rows)
      isOpen = false
    }
  }
  return tables
}

/** Blank cells are repeated to the end of the sheet in most files; SheetJS passes them over. */
const isBlankCell = (xml: string, after: number, attributes: string) =>
  attributes.endsWith('/') || (xml.startsWith('</', after) && !attributes.includes('value'))

/** As SheetJS reads numbers. */
const timesIn = (pattern: RegExp, attributes: string) => Number(pattern.exec(attributes)?.[1] ?? 1) || 1

function add(counted: Counted, line: number, rows: number) {
  const isEnough = counted.valued > MOST_VALUED
  counted.valued += rows
  if (!isEnough) counted.lines = Math.max(counted.lines, line)
}
