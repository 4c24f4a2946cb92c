// Rules of content-rules 9 and 10 that the vectors test and the service never applies: the summary of a whole recipient file and
// the display form of a phone number.

import { searchPhoneNumbersInText } from 'libphonenumber-js/max'
import metadata from 'libphonenumber-js/max/metadata'
import { type CheckedRow, checkRows, type RowRules, type Value } from '../../../src/bulk/check.ts'
import { type Columns, type Language, matchColumns } from '../../../src/bulk/columns.ts'
import { createTextMeasure } from '../../../src/bulk/measure.ts'
import type { Sheet } from '../../../src/bulk/rows.ts'
import { safelistForm } from '../../../src/recipients/recipient.ts'
import { codePoints } from '../../../src/rendering/characters.ts'
import { smsLimit } from '../../../src/rendering/sms.ts'
import { unsupported } from './reference-text.ts'

export type SummaryRules = Pick<RowRules, 'type' | 'international'> & {
  placeholders: readonly string[]
  language: Language
  /** Empty: no restriction. */
  safelist: readonly string[]
  maxRows: number
  remainingToday: number
  maxErrorsShown: number
  /** The content of a text message whose length is checked. */
  content: string | undefined
}

/** A row error of the reference: a cell's problem and its text. */
type SummaryError = { key: string; problem: string; message: string }
type SummaryRow = Omit<CheckedRow, 'errors'> & { errors: SummaryError[] }

/** All problems of a recipient file at once; the service answers with the first one. */
export function summarise(sheet: Sheet, rules: SummaryRules) {
  const columns = matchColumns(sheet.header, rules.type, rules.placeholders, rules.language)
  const measure = rules.content === undefined ? {} : { text: createTextMeasure(rules.content) }
  const rows: SummaryRow[] = []
  for (const row of checkRows(sheet, columns, { ...rules, ...measure })) {
    if (rows.length === rules.maxRows) break
    rows.push(withLongValues(row, columns, rules.content))
  }
  const isAllowed = rules.safelist.length > 0 ? createSafelist(rules.safelist) : () => true
  const allowedToSend = rows.every(row => isAllowed(row.recipient))
  const failing = rows.filter(row => row.errors.length > 0 || row.tooLong)
  const tooManyRows = sheet.rowCount > rules.maxRows
  const moreRowsThanCanSendToday = sheet.rowCount > rules.remainingToday
  const columnProblems = columns.missing.length + columns.duplicateRecipients.length
  return {
    columns,
    rowCount: sheet.rowCount,
    rows,
    tooManyRows,
    moreRowsThanCanSendToday,
    allowedToSend,
    hasErrors: columnProblems + failing.length > 0 || tooManyRows || moreRowsThanCanSendToday || !allowedToSend,
    failingRows: failing.slice(0, rules.maxErrorsShown).map(row => row.row),
    duplicates: findDuplicates(rows),
  }
}

/** Whether a recipient is on a list of recipients (9.3). */
export function createSafelist(entries: readonly unknown[]): (recipient: unknown) => boolean {
  const forms = new Set(entries.map(entry => safelistForm(entry)))
  return recipient => forms.has(safelistForm(recipient))
}

// The reference also measures each value beside the unfilled template, characters that become `?` twice (10.4).
function withLongValues(row: CheckedRow, columns: Columns, content: string | undefined): SummaryRow {
  if (content === undefined) return row
  const isGood = (key: string) => !row.errors.some(error => error.key === key)
  const long = columns.used
    .filter(({ key, isValue }) => isValue && isGood(key))
    .filter(({ key }) => codePoints(content) + weightOf(row.personalisation[key] ?? null) > smsLimit)
  const message = `Maximum ${smsLimit} characters. Some messages may be too long due to custom content.`
  return { ...row, errors: [...row.errors, ...long.map(({ key }) => ({ key, problem: 'long', message }))] }
}

function weightOf(value: Value): number {
  if (value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + weightOf(item), 0)
  const heavy = new Set(unsupported(value))
  return [...value].reduce((sum, char) => sum + (heavy.has(char) ? 2 : 1), 0)
}

const simulatorNumbers = new Set(['+16132532222', '+16132532223', '+16132532224'])
const isSimulated = (key: string) => key.endsWith('@simulator.amazonses.com') || simulatorNumbers.has(key)

/** `rows`: every later row of a recipient, numbered from 1; `recipients`: how many occur more than once. */
function findDuplicates(rows: readonly SummaryRow[]): { rows: number[]; recipients: number } {
  const times = new Map<string, number>()
  const repeated: number[] = []
  for (const { row, key } of rows) {
    if (key === undefined || isSimulated(key)) continue
    const before = times.get(key) ?? 0
    if (before > 0) repeated.push(row)
    times.set(key, before + 1)
  }
  return { rows: repeated, recipients: [...times.values()].filter(count => count > 1).length }
}

/** `+1 613-555-0123`, or the text as it is when no number is found. */
export function humanPhone(text: string): string {
  for (const { number } of searchPhoneNumbersInText(text, 'US')) {
    const { countryCallingCode: code, nationalNumber: digits, ext } = number
    if (code === '1' && digits.length !== 10) continue
    return `+${code} ${grouped(code, digits)}${ext ? ` ext. ${ext}` : ''}`
  }
  return text
}

// By the format table of the library's metadata: its own international form replaces every separator by a space.
function grouped(countryCode: string, digits: string): string {
  const main = metadata.country_calling_codes[countryCode]?.[0]
  const plan: unknown[] = (main ? metadata.countries[main] : metadata.nonGeographic[countryCode]) ?? []
  const formats: unknown[][] = Array.isArray(plan[4]) ? plan[4] : []
  for (const [pattern, national, leading, , , international] of formats) {
    const last = Array.isArray(leading) ? leading.at(-1) : undefined
    if (last !== undefined && !new RegExp(`^(?:${last})`).test(digits)) continue
    const whole = new RegExp(`^(?:${String(pattern)})$`)
    if (international !== 'NA' && whole.test(digits)) return digits.replace(whole, String(international || national))
  }
  return digits
}
