// Reads a text file or pasted text as a table: which encoding, which delimiter, then header and rows.
import { isUtf8 } from 'node:buffer'
import { sheetOfCsv } from '../bulk/rows.ts'
import type { Delimiter, Encoding, Origin } from './sheet.ts'
import type { Table } from './table.ts'

/** How much of a file decides its encoding without a byte order mark, and its delimiter. */
const SAMPLE_BYTES = 64 * 1024
const SAMPLE_LINES = 20

/** Null: no text. */
export function tableOfText(bytes: Buffer, origin: Origin): Table | null {
  const encoding = encodingOf(bytes)
  if (encoding === null) return null
  const text = decoded(bytes, encoding)
  if (isMarkup(text)) return null
  const named = /^sep=([,;\t])\r?\n/i.exec(text)
  const delimiter = (named?.[1] as Delimiter | undefined) ?? delimiterOf(text, origin)
  const rest = named ? text.slice(named[0].length) : text
  const sheet = sheetOfCsv(rest, delimiter)
  return {
    format: 'csv',
    encoding,
    delimiter,
    sheetName: null,
    otherSheets: [],
    firstLine: (named ? 2 : 1) + blankLines(rest),
    header: sheet.header.map(plain),
    *rows(width) {
      for (const cells of sheet.rows(width)) yield cells.map(plain)
    },
  }
}

/** Undoes what core/csv.ts does to a cell that looks like a formula: rows with problems are downloaded, corrected and uploaded again. */
const plain = (cell: string) => (cell.charCodeAt(0) === 0x27 && /^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** Lines without content before the header. */
function blankLines(text: string): number {
  const blank = /^(?:[ \t,;]*(?:\r\n|\r|\n))*/.exec(text)?.[0] ?? ''
  return blank.match(/\r\n|\r|\n/g)?.length ?? 0
}

export function encodingOf(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [0, 0]
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at & 1] = (zeros[at & 1] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  // Latin letters in UTF-16 are a letter and a zero. Zeros elsewhere are no text.
  if (even + odd > 0) {
    const most = sample.length / 2
    if (odd > most * 0.4 && even < most * 0.05) return 'utf-16le'
    if (even > most * 0.4 && odd < most * 0.05) return 'utf-16be'
    return null
  }
  if (bytes.includes(0)) return null
  if (isUtf8(bytes)) return hasControls(sample) ? null : 'utf-8'
  return hasControls(sample) ? null : 'windows-1252'
}

/** Control characters that no text has. Vertical tab, form feed and escape occur in exports. */
const hasControls = (sample: Buffer) => sample.some(byte => byte < 0x09 || (byte > 0x0d && byte < 0x1b))

/** Windows-1252 differs from Latin 1 in these places; those that it does not define are the replacement character. */
const FROM_80 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ'

function decoded(bytes: Buffer, encoding: Encoding): string {
  // TextDecoder of some versions of Node reads this as Latin 1.
  if (encoding === 'windows-1252')
    return bytes.toString('latin1').replace(/[\u0080-\u009f]/g, one => FROM_80[one.charCodeAt(0) - 0x80] ?? '')
  // Removes a byte order mark, and replaces halves of characters.
  return new TextDecoder(encoding).decode(bytes)
}

/** A web page or XML, as some programs write under the name of a spreadsheet. */
const isMarkup = (text: string) => /^\s*<(?:!doctype|\?xml|html|table|meta)\b/i.test(text.slice(0, 1_000))

const DELIMITERS: readonly Delimiter[] = ['\t', ';', ',']

/** The delimiter that divides most lines into as many cells as the header; of equal ones, the one with more columns. */
export function delimiterOf(text: string, origin: Origin): Delimiter {
  const sample = text.slice(0, SAMPLE_BYTES)
  let best: { delimiter: Delimiter; same: number; columns: number } | null = null
  for (const delimiter of DELIMITERS) {
    const [columns = 1, ...others] = widthsOf(sample, delimiter, sample.length < text.length)
    if (columns < 2) continue
    // Cells are copied from a spreadsheet with tabs; a comma or semicolon is part of a cell.
    if (origin === 'pasted' && delimiter === '\t') return delimiter
    const same = others.length === 0 ? 1 : others.filter(width => width === columns).length / others.length
    if (!best || same > best.same || (same === best.same && columns > best.columns)) best = { delimiter, same, columns }
  }
  return best?.delimiter ?? ','
}

/** `isCut`: the last line is not complete. */
function widthsOf(sample: string, delimiter: Delimiter, isCut: boolean): number[] {
  const sheet = sheetOfCsv(sample, delimiter)
  const widths = [sheet.header.length]
  for (const cells of sheet.rows(Number.POSITIVE_INFINITY)) {
    if (widths.length > SAMPLE_LINES) break
    if (cells.length > 1 || cells[0]?.trim()) widths.push(cells.length)
  }
  return isCut && widths.length <= SAMPLE_LINES && widths.length > 2 ? widths.slice(0, -1) : widths
}
