import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { type Owner, removeWebhook } from './sql/manage.ts'

/** Cannot be undone. Events stay in the log. */
export async function remove(app: { db: { sql: Sql } }, actor: Actor, owner: Owner, id: Id): Promise<void> {
  requirePermission(actor, 'manage-webhooks', owner.service_id)
  if (!(await removeWebhook(app.db.sql, owner, id, actor))) throw refuse.notFound()
}
