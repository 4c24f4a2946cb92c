// The rows of a sheet that have errors, as CSV with what is wrong beside them: to correct, and to upload again.
import type { PersonActor } from '../audit/actor.ts'
import type { RowError } from '../bulk/report.ts'
import { csvRow } from '../core/csv.ts'
import type { Id } from '../core/id.ts'
import type { CheckedSheet } from './check.ts'
import { load, type SheetApp } from './read.ts'
import { chunksOf, opened } from './rows.ts'

/** `words`: the heading of the last column, and what is wrong with a row, in the language of the person. */
export async function* badRows(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  { sheet, lines, errors }: CheckedSheet,
  words: { heading: string; of(error: RowError): string },
): AsyncGenerator<string> {
  const { header } = await load(app, actor, service, sheet.id)
  const wrong = new Map<number, string[]>()
  for (const error of errors()) {
    const line = lines[error.row - 1] ?? 0
    const known = wrong.get(line)
    const sentence = words.of(error)
    if (known) known.push(sentence)
    else wrong.set(line, [sentence])
  }
  // With a byte order mark, spreadsheets read it as UTF-8.
  yield `\ufeff${csvRow([...header, words.heading])}\r\n`
  for await (const chunk of chunksOf(app.db.sql, sheet.id, 0)) {
    if (!chunk.lines.some(line => wrong.has(line))) continue
    const rows = opened(app.seal, chunk).filter(({ line }) => wrong.has(line))
    yield rows
      .map(({ line, cells }) => {
        const padded = header.map((_, at) => cells[at] ?? '')
        return `${csvRow([...padded, (wrong.get(line) ?? []).join('; ')])}\r\n`
      })
      .join('')
  }
}
