// The list of everything that is wrong with a file, as lines of JSON or as CSV, in pieces: the file with the most errors makes a
// gigabyte, which is never in memory.
import { setImmediate as turn } from 'node:timers/promises'
import { csvRow } from '../core/csv.ts'
import type { CheckedBulk } from './check-file.ts'
import type { RowError } from './report.ts'

/** `row` is null for a problem of the whole file. */
type ErrorLine = Omit<RowError, 'row' | 'problem'> & { row: number | null; problem: RowError['problem'] | 'file' }

export const FORMATS = {
  'application/x-ndjson': { head: '', line: (error: ErrorLine) => JSON.stringify(error) },
  'text/csv': {
    head: `${csvRow(['row', 'column', 'problem', 'message'])}\n`,
    line: ({ row, column, problem, message }: ErrorLine) => csvRow([row, column, problem, message]),
  },
} as const

export type ErrorFormat = keyof typeof FORMATS

const PIECE = 32_768

/** First what is wrong with the whole file. No line: nothing is wrong. */
export async function* errorLines(
  { ofFile, errors }: Pick<CheckedBulk, 'ofFile' | 'errors'>,
  format: ErrorFormat,
): AsyncGenerator<string, void> {
  const { head, line } = FORMATS[format]
  let piece = head
  for (const { message } of ofFile) piece += `${line({ row: null, column: null, problem: 'file', message })}\n`
  for (const error of errors()) {
    piece += `${line(error)}\n`
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
    await turn()
  }
  if (piece !== '') yield piece
}
