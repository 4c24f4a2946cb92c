// Rows of a report as text: CSV for spreadsheets, or an object of JSON in each line.
import { csvRow } from '../core/csv.ts'

export const FORMATS = ['csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

export type ReportRow = Readonly<Record<string, string | number | null>>

/** The header, if the format has one. */
export const headOf = (names: readonly string[], format: Format) => (format === 'csv' ? `${csvRow(names)}\r\n` : '')

export const writerOf = (names: readonly string[], format: Format): ((row: ReportRow) => string) =>
  format === 'csv' ? row => `${csvRow(names.map(name => row[name] ?? null))}\r\n` : row => `${JSON.stringify(row)}\n`
