import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { find, archive as putAway, type TemplateRow } from './sql.ts'

/** What was accepted or scheduled with it still goes out; there is no way back. */
export async function archive(
  app: { sql: Sql; clock: Clock },
  actor: Actor,
  service: Id,
  id: Id,
): Promise<TemplateRow> {
  requirePermission(actor, 'manage-templates', service)
  const moved = await putAway(app.sql, service, id, fromMicros(app.clock.micros()), actor)
  const template = await find(app.sql, service, id)
  if (!template) throw refuse.notFound()
  if (!moved) throw refuse.alreadyArchived()
  return template
}
