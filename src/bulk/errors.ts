// Lists every error of a file, row by row, for the person who corrects it. The interface reports only the first twenty.
import { CHANNELS } from '../channels/index.ts'
import { csvRow } from '../core/csv.ts'
import { homePlan } from '../recipients/plans.ts'
import { smsLimit } from '../rendering/sms.ts'
import { type CellError, type CheckedRow, checkRows, whatIsWrong } from './check.ts'
import { matchColumns } from './columns.ts'
import { LONGEST_REFERENCE, MOST_ROWS } from './job.ts'
import { createMeasures } from './measure.ts'
import { sheetOfCsv } from './rows.ts'
import type { FileRules } from './thread.ts'

/** `row` is null for an error of the whole file, `column` for an error of a whole row. */
export type FileError = { row: number | null; column: string | null; problem: string; value: string | null }

export function errorsOf(file: string, rules: FileRules): FileError[] {
  const sheet = sheetOfCsv(file)
  const columns = matchColumns(sheet.header, rules.channel, rules.names)
  const wholeFile = (column: string | null, problem: string): FileError => ({ row: null, column, problem, value: null })
  const found = [
    ...columns.missing.map(name => wholeFile(name, 'Missing column header')),
    ...columns.duplicates.map(name => wholeFile(name, 'Duplicate column header')),
    ...(sheet.rowCount > MOST_ROWS ? [wholeFile(null, `Too many rows: ${sheet.rowCount} of ${MOST_ROWS}`)] : []),
    ...(sheet.rowCount < 1 ? [wholeFile(null, 'Not enough rows')] : []),
  ]
  // With missing or duplicate columns the rows are not checked.
  if (columns.missing.length + columns.duplicates.length > 0) return found
  const isStranger = strangers(rules)
  const header = columns.used.find(column => column.isRecipient)?.header ?? CHANNELS[rules.channel].recipient.headers.en
  for (const row of checkRows(sheet, columns, {
    type: rules.channel,
    international: rules.international,
    plan: homePlan(rules.homeCountry),
    ...createMeasures(rules),
  })) {
    for (const error of row.errors)
      found.push({ row: row.row, column: error.column, problem: whatIsWrong(error), value: cellOf(row, error) })
    if (isStranger(row))
      found.push({ row: row.row, column: header, problem: 'not in the team or on the safelist', value: row.recipient })
    if (row.tooLong)
      found.push({ row: row.row, column: null, problem: `more than ${smsLimit} characters`, value: null })
    if ([...(row.reference ?? '')].length > LONGEST_REFERENCE)
      found.push({ row: row.row, column: 'reference', problem: 'is too long', value: row.reference })
  }
  return found
}

function strangers({ allowedRecipients, simulated }: FileRules): (row: CheckedRow) => boolean {
  const known = allowedRecipients && new Set([...allowedRecipients, ...simulated])
  return ({ key }) => known !== null && key !== undefined && !known.has(key)
}

function cellOf(row: CheckedRow, { key, problem }: CellError): string | null {
  const value = problem === 'recipient' ? row.recipient : row.personalisation[key]
  return typeof value === 'string' ? value : null
}

/** For a spreadsheet. */
export const asCsv = (errors: readonly FileError[]) =>
  [['row', 'column', 'problem', 'value'], ...errors.map(one => [one.row, one.column, one.problem, one.value])]
    .map(csvRow)
    .join('\n')
