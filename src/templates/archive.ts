import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { find, type TemplateRow, archive as write } from './sql.ts'

/** Cannot be undone. Messages that were accepted with the template are still sent. */
export async function archive(
  app: { sql: Sql; clock: Clock },
  actor: Actor,
  service: Id,
  id: Id,
): Promise<TemplateRow> {
  requirePermission(actor, 'manage-templates', service)
  const isArchived = await write(app.sql, service, id, fromMicros(app.clock.micros()), actor)
  const template = await find(app.sql, service, id)
  if (!template) throw refuse.notFound()
  if (!isArchived) throw refuse.alreadyArchived()
  return template
}
