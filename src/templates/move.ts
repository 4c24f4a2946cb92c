import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { move as write } from './sql.ts'

/**
 * Puts templates into a folder, or out of all with null. The folder belongs to the head, so this makes no version; through PATCH it
 * does, because there every change is one (contract 13.2). Archived templates are in no folder and stay there.
 */
export async function move(
  app: { db: { sql: Sql }; clock: Clock },
  actor: Actor,
  service: Id,
  ids: readonly Id[],
  folder: Id | null,
): Promise<{ moved: number }> {
  requirePermission(actor, 'manage-templates', service)
  const done = await write(app.db.sql, service, ids, folder, fromMicros(app.clock.micros()), actor)
  if (!done.has_folder) throw refuse.folderNotFound()
  if (done.known < new Set(ids).size) throw refuse.notFound()
  return { moved: done.moved }
}
