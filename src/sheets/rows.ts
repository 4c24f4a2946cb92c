// The rows of a sheet: a page of them for a preview, or all of them in order.
import type { PersonActor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { loadReady, type SheetApp } from './read.ts'
import type { SheetRow } from './sheet.ts'
import { chunksWith } from './sql/lines.ts'
import { rowsFrom, type StoredRows } from './sql.ts'

const MOST_ROWS = 200

/** `from`: counts from 0, in the order of the file; rows that are left out are among them. */
export async function rows(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  id: Id,
  from: number,
  count: number,
): Promise<SheetRow[]> {
  await loadReady(app, actor, service, id)
  const wanted = Math.min(count, MOST_ROWS)
  const found: SheetRow[] = []
  for await (const row of allRows(app, id, from)) {
    if (found.length === wanted) break
    found.push(row)
  }
  return found
}

/** One row by its line; null: there is none. */
export async function rowAt(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  id: Id,
  line: number,
): Promise<SheetRow | null> {
  await loadReady(app, actor, service, id)
  const [chunk] = await chunksWith(app.db.sql, id, [line])
  return chunk ? (opened(app.seal, chunk)[chunk.lines.indexOf(line)] ?? null) : null
}

async function* allRows(app: { db: { sql: Sql }; seal: Seal }, id: Id, from: number): AsyncGenerator<SheetRow> {
  for await (const chunk of chunksOf(app.db.sql, id, from))
    yield* opened(app.seal, chunk).slice(Math.max(0, from - chunk.position))
}

/** Chunks that are loaded by one statement. */
const TOGETHER = 8

export async function* chunksOf(sql: Sql, id: Id, from: number): AsyncGenerator<StoredRows> {
  for (;;) {
    const group = await rowsFrom(sql, id, from, TOGETHER)
    yield* group
    const last = group.at(-1)
    if (!last || group.length < TOGETHER) return
    from = last.position + last.lines.length
  }
}

export function opened(seal: Seal, { lines, sealed }: StoredRows): SheetRow[] {
  const cells = JSON.parse(seal.open('sheet rows', sealed).toString('utf8')) as string[][]
  return cells.map((row, at) => ({ line: lines[at] ?? 0, cells: row }))
}
