// Reads a recipient file as header and rows, from CSV text or from `rows` (content-rules 10.1, contract 9). A sheet can be read
// several times: the first pass counts rows without building a cell, later ones build only the cells that the template uses. So a
// file with a million columns or an unclosed quote costs one scan of its text.

import { decimal } from '../core/number.ts'
import { isInvisible, isPlainSpace } from '../recipients/strip.ts'
import { isSpace } from '../rendering/characters.ts'
import { MOST_COLUMNS } from './job.ts'

export type Sheet = {
  header: string[]
  /** Data rows, without the header. */
  rowCount: number
  /** Cells as written, at most `width` a row; a row may be shorter. */
  rows(width: number): Generator<string[], void, undefined>
}

const space = 0x20
const quote = 0x22
const lf = 0x0a
const cr = 0x0d

/** A longer header is refused, so no further cells are read. */
const mostColumns = MOST_COLUMNS + 1

/** `delimiter`: one character. The interface knows only the comma; files that people upload have others. */
export function sheetOfCsv(file: string, delimiter = ','): Sheet {
  const stop = delimiter.charCodeAt(0)
  const text = withoutEdges(file, stop)
  const header: string[] = []
  const start = readRow(text, 0, mostColumns, header, stop)
  let rowCount = 0
  for (let at = start; at < text.length; rowCount++) at = readRow(text, at, 0, header, stop)
  return {
    header,
    rowCount,
    *rows(width) {
      for (let at = start; at < text.length; ) {
        const cells: string[] = []
        at = readRow(text, at, width, cells, stop)
        yield cells
      }
    },
  }
}

/** Adds at most `width` cells of the row that starts at `at` and returns where the next row starts. */
function readRow(text: string, at: number, width: number, cells: string[], delimiter: number): number {
  if (text === '') return 0
  const limit = cells.length + width
  for (;;) {
    while (text.charCodeAt(at) === space) at++
    const start = at
    let quoted: string | undefined
    if (text.charCodeAt(at) === quote) {
      const end = closingQuote(text, at + 1)
      if (cells.length < limit) quoted = text.slice(at + 1, end).replaceAll('""', '"')
      at = Math.min(end + 1, text.length)
    }
    const plain = at
    at = cellEnd(text, at, delimiter)
    // Text after a closing quote belongs to the cell unchanged.
    if (cells.length < limit) cells.push(quoted === undefined ? text.slice(start, at) : quoted + text.slice(plain, at))
    const stop = text.charCodeAt(at++)
    if (stop === delimiter) continue
    return stop === cr && text.charCodeAt(at) === lf ? at + 1 : at
  }
}

/** An unclosed quote extends to the end of the text. */
function closingQuote(text: string, at: number): number {
  for (;;) {
    const found = text.indexOf('"', at)
    if (found < 0) return text.length
    if (text.charCodeAt(found + 1) !== quote) return found
    at = found + 2
  }
}

function cellEnd(text: string, at: number, delimiter: number): number {
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === delimiter || code === lf || code === cr) break
    at++
  }
  return at
}

// Trims both ends, which also removes a byte order mark and blank rows. Leading delimiters are removed only with a blank row: in
// the first row with content they are columns without a name.
function withoutEdges(text: string, delimiter: number): string {
  const isEdge = (code: number) => code === delimiter || isPlainSpace(code) || isInvisible(code)
  let end = text.length
  while (end > 0 && isEdge(text.charCodeAt(end - 1))) end--
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  let start = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === lf || code === cr) start = at + 1
    else if (!isEdge(code) && !isSpace(code)) break
  }
  while (start < end && text.charCodeAt(start) !== delimiter && isBlank(text.charCodeAt(start))) start++
  return text.slice(start, end)
}

const isBlank = (code: number) => isSpace(code) || isInvisible(code)

export type RowsReading = { ok: true; sheet: Sheet } | { ok: false; problem: `iterable expected, not ${NotARow}` }
export type NotARow = 'int' | 'float' | 'bool' | 'NoneType' | 'str' | 'dict'

/** `rows` are read as if written to CSV with minimal quoting and parsed again; no CSV is actually written. */
export function sheetOfRows(rows: readonly unknown[]): RowsReading {
  const lists: unknown[][] = []
  for (const row of rows) {
    if (!Array.isArray(row)) return { ok: false, problem: `iterable expected, not ${kindOf(row)}` }
    lists.push(row)
  }
  let first = 0
  let last = lists.length - 1
  while (last >= 0 && isBlankRow(lists[last])) last--
  while (first < last && isBlankRow(lists[first])) first++
  const header = last < 0 ? [] : (lists[first] ?? []).slice(0, mostColumns).map(cell => written(textOf(cell)))
  if (header[0] !== undefined) header[0] = withoutStart(header[0])
  return {
    ok: true,
    sheet: {
      header,
      rowCount: Math.max(0, last - first),
      *rows(width) {
        for (let at = first + 1; at <= last; at++) {
          const row = lists[at] ?? []
          const cells: string[] = []
          for (let i = 0; i < row.length && i < width; i++) cells.push(textOf(row[i]))
          yield cells
        }
      },
    },
  }
}

const needsQuotes = (text: string) => /[",\r\n]/.test(text)
// A CSV reader skips the spaces before an unquoted cell. For other cells that makes no difference, because they are trimmed
// anyway.
const written = (text: string) => (needsQuotes(text) ? text : text.replace(/^ +/, ''))
const isBlankRow = (row: unknown[] | undefined) => (row ?? []).every(cell => isBlankText(textOf(cell)))

/** Nothing that a person would see. */
export function isBlankCell(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isBlank(text.charCodeAt(i))) return false
  return true
}

function isBlankText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === lf || code === cr || !isBlank(code)) return false
  }
  return true
}

function withoutStart(text: string): string {
  if (needsQuotes(text)) return text
  let at = 0
  while (at < text.length && isBlank(text.charCodeAt(at))) at++
  return text.slice(at)
}

function kindOf(row: unknown): NotARow {
  if (row === null || row === undefined) return 'NoneType'
  if (typeof row === 'boolean') return 'bool'
  if (typeof row === 'bigint') return 'int'
  if (typeof row === 'number') return Number.isInteger(row) ? 'int' : 'float'
  return typeof row === 'string' ? 'str' : 'dict'
}

// Existing callers were written against a Python service, so a boolean is spelled as in Python.
function textOf(cell: unknown, depth = 0): string {
  if (typeof cell === 'string') return cell
  if (cell === null || cell === undefined) return depth === 0 ? '' : 'None'
  if (typeof cell === 'boolean') return cell ? 'True' : 'False'
  if (typeof cell === 'number' || typeof cell === 'bigint') return decimal(cell)
  // The contract does not define lists and objects in a cell: they are shown, not refused, down to a limited depth.
  if (depth > 8) return '...'
  // A list without items is no value (contract 22.1).
  if (depth === 0 && Array.isArray(cell) && !cell.some(Boolean)) return ''
  if (Array.isArray(cell)) return `[${cell.map(item => textOf(item, depth + 1)).join(', ')}]`
  return `{${Object.entries(cell)
    .map(([name, item]) => `${name}: ${textOf(item, depth + 1)}`)
    .join(', ')}}`
}
