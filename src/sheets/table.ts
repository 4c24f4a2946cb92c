// From a table, as a reader of one format gives it, to chunks of rows that are stored. Everything that limits a file is checked
// here, row by row, so that a file which breaks a limit costs no more than one within it.
import { isBlankCell } from '../bulk/rows.ts'
import { type Delimiter, type Encoding, type Format, LIMITS, type Unreadable } from './sheet.ts'

export type Table = {
  format: Format
  encoding: Encoding | null
  delimiter: Delimiter | null
  sheetName: string | null
  otherSheets: readonly string[]
  /** The line of the header. */
  firstLine: number
  header: readonly string[]
  /** Cells as displayed, at most `width` a row. */
  rows(width: number): Iterable<readonly string[]>
}

/** What a reader of one format makes of a file. */
export type Found = { ok: true; table: Table } | { ok: false; problem: Unreadable }

/** Rows as JSON, and their lines. */
export type RowChunk = { json: Uint8Array; lines: Int32Array }

export type ReadTable = Omit<Table, 'rows' | 'firstLine'> & {
  header: readonly string[]
  rowCount: number
  blankRows: number
  chunks: readonly RowChunk[]
}

const CHUNK_ROWS = 500
/** Long cells make a chunk of fewer rows, because a chunk is sealed at once. */
const CHUNK_CHARACTERS = 500_000

export type TableReading = { ok: true; table: ReadTable } | { ok: false; problem: Unreadable }

const unreadable = (problem: Unreadable): TableReading => ({ ok: false, problem })

/** `onRow`: called with the number of rows so far. */
export function cut(table: Table, onRow: (rows: number) => void = () => {}): TableReading {
  const { rows, firstLine, ...about } = table
  const header = withoutBlankEnd(table.header).map(text => text.trim())
  if (header.every(isBlankCell)) return unreadable({ kind: 'empty' })
  if (header.length > LIMITS.columns) return unreadable({ kind: 'too-many-columns', most: LIMITS.columns })
  const longHeader = longCell(header, firstLine)
  if (longHeader) return unreadable(longHeader)

  const chunks: RowChunk[] = []
  let open: (readonly string[])[] = []
  let lines: number[] = []
  let characters = 0
  const close = () => {
    if (open.length > 0) chunks.push({ json: jsonOf(open), lines: Int32Array.from(lines) })
    open = []
    lines = []
    characters = 0
  }
  let line = firstLine
  let rowCount = 0
  let total = 0
  let [blankRows, blankSince] = [0, 0]
  for (const given of rows(header.length)) {
    line++
    if (given.every(isBlankCell)) {
      blankSince++
      continue
    }
    const tooLong = longCell(given, line)
    if (tooLong) return unreadable(tooLong)
    if (++rowCount > LIMITS.rows) return unreadable({ kind: 'too-many-rows', most: LIMITS.rows })
    blankRows += blankSince
    blankSince = 0
    open.push(given)
    lines.push(line)
    const length = lengthOf(given)
    characters += length
    total += length
    if (total > LIMITS.characters) return unreadable({ kind: 'too-much' })
    if (open.length === CHUNK_ROWS || characters > CHUNK_CHARACTERS) close()
    onRow(rowCount)
  }
  close()
  if (rowCount === 0) return unreadable({ kind: 'no-rows' })
  return { ok: true, table: { ...about, header, rowCount, blankRows, chunks } }
}

function lengthOf(cells: readonly string[]): number {
  let length = 0
  for (const cell of cells) length += cell.length
  return length
}

function longCell(cells: readonly string[], line: number): Unreadable | null {
  const column = cells.findIndex(cell => cell.length > LIMITS.cell)
  return column === -1 ? null : { kind: 'long-cell', line, column: column + 1, most: LIMITS.cell }
}

function withoutBlankEnd(header: readonly string[]): readonly string[] {
  const last = header.findLastIndex(text => !isBlankCell(text))
  return header.slice(0, last + 1)
}

/** Shared memory, so that chunks are not copied between threads. */
function jsonOf(rows: readonly (readonly string[])[]): Uint8Array {
  const text = Buffer.from(JSON.stringify(rows), 'utf8')
  const own = new Uint8Array(new SharedArrayBuffer(text.length))
  own.set(text)
  return own
}
