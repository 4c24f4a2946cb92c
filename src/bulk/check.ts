// Checks every row of a recipient file, one by one (content-rules 10.3, 10.4). It keeps no state between rows, so the worker can
// store them in chunks. Errors are data; their sentences are at the end of this file.

import { CHANNELS, type Channel } from '../channels/index.ts'
import type { PhonePlan } from '../recipients/plans.ts'
import { strip } from '../recipients/strip.ts'
import { renderedLimit } from '../rendering/size.ts'
import type { Column, Columns } from './columns.ts'
import type { Sheet } from './rows.ts'

/** Repeated columns form a list. The service refuses such files earlier (contract 9); the test vectors contain them. */
export type Value = string | null | (string | null)[]
export type RowValues = Record<string, Value>

const tooLargeText = `Content has a character count greater than the limit of ${renderedLimit}`

export type CellError = {
  key: string
  /** Header text as given; null for an error of the whole row. */
  column: string | null
  problem: 'missing' | 'recipient' | 'large'
  /** `Missing`, the error of the recipient, or the text about length. */
  message: string
}

export type CheckedRow = {
  /** From 1. */
  row: number
  recipient: string | null
  /** Lower-cased address or E.164; absent when the recipient is missing or wrong. */
  key: string | undefined
  /** By normalised name. */
  personalisation: RowValues
  reference: string | null
  /** In header order. */
  errors: CellError[]
  /** The filled text message has more than 612 units. */
  tooLong: boolean
}

/** What rendering knows about the text message of a template. */
export type TextMeasure = {
  /** Whether the message filled with these values has more than 612 units, prefix included. */
  isTooLong(values: RowValues): boolean
}

/** What rendering knows about the size of an e-mail of a template. */
export type EmailMeasure = { isTooLarge(values: RowValues): boolean }

export type RowRules = {
  type: Channel
  /** False: numbers of other countries are refused. */
  international?: boolean
  plan?: PhonePlan
  /** True once the file will be refused whatever the remaining recipients are. */
  isDecided?: () => boolean
  text?: TextMeasure
  email?: EmailMeasure
}

export function* checkRows(sheet: Sheet, columns: Columns, rules: RowRules): Generator<CheckedRow, void, undefined> {
  const read = createRecipientReader(rules)
  let row = 0
  for (const cells of sheet.rows(columns.width)) yield checkRow(cells, ++row, columns, rules, read)
}

/** A recipient that was not checked does not count as valid. */
const unread: Reading = { message: '' }

type Reading = { key: string } | { message: string }

function checkRow(
  cells: string[],
  row: number,
  columns: Columns,
  rules: RowRules,
  read: (text: string) => Reading,
): CheckedRow {
  // Keys contain no underscore, so `__proto__` cannot be one.
  const personalisation: RowValues = {}
  const errors: CellError[] = []
  let recipient: string | null = null
  let key: string | undefined
  for (const column of columns.used) {
    const value = valueIn(cells, column)
    if (column.isValue) personalisation[column.key] = value
    if (column.isRecipient) {
      recipient = typeof value === 'string' ? value : null
      const reading = recipient === null ? undefined : rules.isDecided?.() ? unread : read(recipient)
      if (reading && 'key' in reading) key = reading.key
      else if (reading) errors.push(errorOf(column, 'recipient', reading.message))
      else if (columns.duplicateRecipients.length === 0) errors.push(errorOf(column, 'missing', 'Missing'))
    } else if (value === null) errors.push(errorOf(column, 'missing', 'Missing'))
  }
  const reference = columns.reference === undefined ? null : cellAt(cells, columns.reference)
  const tooLong = rules.text?.isTooLong(personalisation) ?? false
  if (rules.email?.isTooLarge(personalisation))
    errors.push({ key: '', column: null, problem: 'large', message: tooLargeText })
  return { row, recipient, key, personalisation, reference, errors, tooLong }
}

function createRecipientReader({ type, international = true, plan }: RowRules): (text: string) => Reading {
  const { read } = CHANNELS[type].recipient
  const rules = { international, ...(plan && { plan }) }
  return text => {
    const reading = read(text, rules)
    return reading.ok ? { key: reading.key } : { message: reading.problem }
  }
}

function valueIn(cells: string[], column: Column): Value {
  const first = column.at[0]
  if (first !== undefined && column.at.length === 1) return cellAt(cells, first)
  return listOf(column.at.map(at => cellAt(cells, at)))
}

// The first non-empty value is used as it is; every later cell is appended, empty ones too.
function listOf(values: (string | null)[]): Value {
  const first = values.findIndex(value => value !== null)
  if (first < 0) return null
  return first === values.length - 1 ? (values[first] ?? null) : values.slice(first)
}

function cellAt(cells: string[], at: number): string | null {
  const cell = cells[at]
  return cell === undefined ? null : strip(cell) || null
}

const errorOf = (column: Column, problem: CellError['problem'], message: string): CellError => ({
  key: column.key,
  column: column.header,
  problem,
  message,
})

/** `Some rows have errors. Row 2 - email address: invalid recipient. Row 3 - name: Missing.` */
export function rowErrorsSentence(rows: Iterable<Pick<CheckedRow, 'row' | 'errors'>>, max = 20): string {
  const parts = ['Some rows have errors.']
  for (const { row, errors } of rows) {
    if (parts.length > max) break
    if (errors.length > 0) parts.push(rowErrors(row, errors))
  }
  return parts.join(' ')
}

function rowErrors(row: number, errors: readonly CellError[]): string {
  const text = errors
    .map(error => (error.column === null ? error.message : `${error.column}: ${whatIsWrong(error)}`))
    .join(',')
  return `Row ${row} - ${text.endsWith('.') ? text : `${text}.`}`
}

/** `Missing`, `invalid recipient` or the text about length. */
export const whatIsWrong = (error: CellError) => (error.problem === 'recipient' ? 'invalid recipient' : error.message)
