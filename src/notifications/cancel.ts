import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { isCancelled, cancel as take } from './sql/cancel.ts'

/** Exactly one wins: the caller who cancels, or the engine that hands over. */
export async function cancel(app: { sql: Sql }, actor: Actor, service: Id, id: Id): Promise<void> {
  requirePermission(actor, 'cancel-messages', service)
  const result = await take(app.sql, service, id, actor)
  if (!result || result.gone) throw refuse.notInDatabase()
  if (!result.scheduled) throw refuse.notScheduled()
  if (result.cancelled) return
  // Either an engine has it, or another cancel was faster, which this statement could not see when it began.
  throw (await isCancelled(app.sql, id)) ? refuse.notInDatabase() : refuse.alreadySent()
}
