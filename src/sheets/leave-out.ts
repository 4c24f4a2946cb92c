// Rows with errors that a person leaves out of a sheet; they are not sent.
import type { PersonActor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { loadReady, type SheetApp } from './read.ts'
import { setLeftOut } from './sql.ts'

/** `lines` in addition to those that are left out already. */
export async function leaveOut(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  id: Id,
  lines: readonly number[],
): Promise<void> {
  const { record } = await loadReady(app, actor, service, id)
  const all = [...new Set([...record.left_out, ...lines])].sort((a, b) => a - b)
  await setLeftOut(app.db.sql, id, all)
}

/** All rows are in again. */
export async function takeIn(app: SheetApp, actor: PersonActor, service: Id, id: Id): Promise<void> {
  await loadReady(app, actor, service, id)
  await setLeftOut(app.db.sql, id, [])
}
