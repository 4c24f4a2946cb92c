// A file that is read, with what a check of it has found.
import type { BulkReport } from '../../bulk/report.ts'
import type { Id } from '../../core/id.ts'
import { check } from '../../sheets/check.ts'
import { rows } from '../../sheets/rows.ts'
import { rowsAt } from '../../sheets/rows-at.ts'
import type { Sheet, UnclearValues } from '../../sheets/sheet.ts'
import { read } from '../../templates/read.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import type { ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import type { ShownProblem } from './words-of.ts'

export type CheckedFile = {
  sheet: Sheet
  template: TemplateRow
  report: BulkReport
  /** The cells of the first row. */
  first: readonly string[]
  duplicates: readonly { to: string; lines: readonly number[]; count: number }[]
  /** Columns with values that are neither yes nor no. */
  unclear: readonly UnclearValues[]
  /** A page of the errors, in the order of the file. */
  problems(from: number, count: number): Promise<ShownProblem[]>
  /** The lines of all rows with errors. */
  badLines(): number[]
}

export async function checkedFile(
  visit: ServiceVisit,
  sheet: Sheet,
  options: { scheduled_for: string | null; sender_id: Id | null; name: string },
): Promise<CheckedFile> {
  const { parts, actor, service } = visit
  const [template, checked, [first]] = await Promise.all([
    read(parts.db.sql, service.id, sheet.template_id),
    check(parts, actor, service.id, sheet.id, options),
    rows(parts, actor, service.id, sheet.id, 0, 1),
  ])
  const lineOf = (row: number) => checked.lines[row - 1] ?? 0
  const cellsAt = (lines: readonly number[]) => rowsAt(parts, actor, service.id, sheet.id, lines)
  const recipientAt = sheet.columns.findIndex(({ target }) => target === 'recipient')
  // The report names columns as the template does.
  const columnOf = (name: string | null) =>
    name === null
      ? -1
      : name === checked.report.columns?.recipient
        ? recipientAt
        : sheet.columns.findIndex(({ target }) => target === `value:${name}` || target === name)
  const same = checked.report.duplicates?.first ?? []
  const firstOfSame = await cellsAt(same.flatMap(one => lineOf(one.rows[0] ?? 0)))
  return {
    sheet,
    template,
    report: checked.report,
    first: first?.cells ?? [],
    duplicates: same.map(({ count, rows: all }) => {
      const lines = all.map(lineOf)
      return { to: firstOfSame.get(lines[0] ?? 0)?.[recipientAt] ?? '', lines, count }
    }),
    unclear: checked.unclear,
    async problems(from, count) {
      const found = [...slice(checked.errors(), from, count)]
      const cells = await cellsAt(found.map(({ row }) => lineOf(row)))
      return found.map(({ row, column, problem, message }) => {
        const [line, at] = [lineOf(row), columnOf(column)]
        return {
          line,
          column: sheet.columns[at]?.header ?? column,
          value: at === -1 ? null : (cells.get(line)?.[at] ?? ''),
          problem,
          isRecipient: at !== -1 && at === recipientAt,
          message,
        }
      })
    },
    badLines: () => [...new Set([...checked.errors()].map(({ row }) => lineOf(row)))],
  }
}

/** The name that a job gets unless the person writes another one. */
export const jobName = (visit: ServiceVisit, sheet: Sheet): string =>
  sheet.name || t`Pasted rows, ${visit.formats.full(sheet.created_at)}`

function* slice<T>(all: Iterable<T>, from: number, count: number): Generator<T> {
  let at = 0
  for (const one of all) {
    if (at >= from + count) return
    if (at++ >= from) yield one
  }
}
