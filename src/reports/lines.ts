// Rows of a report as text: CSV for spreadsheets, or an object of JSON in each line.
import { csvRow } from '../core/csv.ts'

export const FORMATS = ['csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

export type ReportRow = Readonly<Record<string, string | number | null>>

/** The next page is read while this one is written. */
export async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  const read = () => {
    const next = pages.next()
    // Reported when it is awaited; the reader may have gone before.
    next.catch(() => {})
    return next
  }
  let next = read()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = read()
      yield value
    }
  } finally {
    await pages.return(undefined)
  }
}

/** The header, if the format has one. */
export const headOf = (names: readonly string[], format: Format) => (format === 'csv' ? `${csvRow(names)}\r\n` : '')

export const writerOf = (names: readonly string[], format: Format): ((row: ReportRow) => string) =>
  format === 'csv' ? row => `${csvRow(names.map(name => row[name] ?? null))}\r\n` : row => `${JSON.stringify(row)}\n`
