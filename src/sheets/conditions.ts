// Values of yes-or-no columns that are neither: the text of the condition is not shown for them, which the person may not have meant.
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { strip } from '../recipients/strip.ts'
import { isYesOrNo, keyOf } from '../rendering/placeholders.ts'
import { type Draft, placeholdersOf } from '../templates/draft.ts'
import type { LoadedSheet } from './read.ts'
import { chunksOf, opened } from './rows.ts'
import type { UnclearValues } from './sheet.ts'

/** By column, in the order of the file. Reads the rows only if a column is matched to a condition. */
export async function unclearConditions(
  app: { db: { sql: Sql }; seal: Seal },
  { record, header, match }: LoadedSheet,
  content: Draft,
): Promise<UnclearValues[]> {
  const conditions = new Set(
    placeholdersOf(content).flatMap(({ name, isCondition }) => (isCondition ? [keyOf(name)] : [])),
  )
  const columns = match.flatMap((target, at) =>
    target?.startsWith('value:') && conditions.has(keyOf(target.slice('value:'.length))) ? [at] : [],
  )
  if (columns.length === 0) return []
  const leftOut = new Set(record.left_out)
  const found = new Map<number, UnclearValues>()
  for await (const chunk of chunksOf(app.db.sql, record.id, 0))
    for (const { line, cells } of opened(app.seal, chunk)) {
      if (leftOut.has(line)) continue
      for (const at of columns) {
        const value = strip(cells[at] ?? '')
        // A blank cell is an error of its own.
        if (value === '' || isYesOrNo(value)) continue
        const known = found.get(at)
        if (known) known.rows++
        else found.set(at, { header: header[at] ?? '', rows: 1, first: { line, value } })
      }
    }
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one)
}
