// Rows of a sheet by their lines, all with one statement.
import type { PersonActor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { loadReady, type SheetApp } from './read.ts'
import { opened } from './rows.ts'
import { chunksWith } from './sql/lines.ts'

const MOST = 1_000

/** Cells by line. A line that the file does not have is left out. */
export async function rowsAt(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  id: Id,
  lines: readonly number[],
): Promise<Map<number, readonly string[]>> {
  await loadReady(app, actor, service, id)
  const wanted = new Set(lines.slice(0, MOST))
  const found = new Map<number, readonly string[]>()
  if (wanted.size === 0) return found
  for (const chunk of await chunksWith(app.db.sql, id, [...wanted])) {
    for (const { line, cells } of opened(app.seal, chunk)) if (wanted.has(line)) found.set(line, cells)
    // Opening a chunk takes up to some milliseconds.
    await new Promise(resume => setImmediate(resume))
  }
  return found
}
