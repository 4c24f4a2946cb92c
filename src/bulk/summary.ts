// All that can be said about a recipient file at once (content-rules 10.5, 10.6). The service answers with the first
// problem and needs no summary; a person looking at a file, and the vectors, want everything.

import { createSafelist } from '../recipients/recipient.ts'
import { type CheckedRow, checkRows, type RowRules } from './check.ts'
import { type Columns, type Language, matchColumns } from './columns.ts'
import type { Sheet } from './rows.ts'

export type SummaryRules = RowRules & {
  placeholders: readonly string[]
  language?: Language
  /** Empty or absent: no restriction. */
  safelist?: readonly string[]
  maxRows?: number
  remainingToday?: number
  maxErrorsShown?: number
}

export type Summary = {
  columns: Columns
  rowCount: number
  /** Rows beyond the limit are counted, not checked. */
  rows: CheckedRow[]
  tooManyRows: boolean
  moreRowsThanCanSendToday: boolean
  allowedToSend: boolean
  hasErrors: boolean
  /** Row numbers from 1. */
  failingRows: number[]
  duplicates: Duplicates
}

export function summarise(sheet: Sheet, rules: SummaryRules): Summary {
  const { maxRows = 50_000, remainingToday = Number.POSITIVE_INFINITY, maxErrorsShown = 20, safelist = [] } = rules
  const columns = matchColumns(sheet.header, rules.type, rules.placeholders, rules.language)
  const rows: CheckedRow[] = []
  for (const row of checkRows(sheet, columns, rules)) if (rows.push(row) > maxRows) break
  rows.length = Math.min(rows.length, maxRows)

  const isAllowed = safelist.length > 0 ? createSafelist(safelist, rules.plan) : () => true
  const allowedToSend = rows.every(row => isAllowed(row.recipient))
  const failing = rows.filter(row => row.errors.length > 0 || row.tooLong)
  const tooManyRows = sheet.rowCount > maxRows
  const moreRowsThanCanSendToday = sheet.rowCount > remainingToday
  const hasErrors =
    columns.missing.length + columns.duplicateRecipients.length + failing.length > 0 ||
    tooManyRows ||
    moreRowsThanCanSendToday ||
    !allowedToSend
  return {
    columns,
    rowCount: sheet.rowCount,
    rows,
    tooManyRows,
    moreRowsThanCanSendToday,
    allowedToSend,
    hasErrors,
    failingRows: failing.slice(0, maxErrorsShown).map(row => row.row),
    duplicates: findDuplicates(rows),
  }
}

/** `rows`: every later row of a recipient, numbered from 1; `recipients`: how many occur more than once. */
export type Duplicates = { rows: number[]; recipients: number }

const simulatorNumbers = new Set(['+16132532222', '+16132532223', '+16132532224'])
const isSimulated = (key: string) => key.endsWith('@simulator.amazonses.com') || simulatorNumbers.has(key)

/** A warning, never an error: the same recipient twice is sent twice. */
export function findDuplicates(rows: Iterable<Pick<CheckedRow, 'row' | 'key'>>): Duplicates {
  const times = new Map<string, number>()
  const repeated: number[] = []
  for (const { row, key } of rows) {
    if (key === undefined || isSimulated(key)) continue
    const before = times.get(key) ?? 0
    if (before > 0) repeated.push(row)
    times.set(key, before + 1)
  }
  let recipients = 0
  for (const count of times.values()) if (count > 1) recipients++
  return { rows: repeated, recipients }
}
