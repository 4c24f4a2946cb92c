import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { refuse } from './refusals.ts'
import { isCancelled, cancel as take } from './sql/cancel.ts'

/** The statement decides the race between a cancel and an engine that takes the ticket. */
export async function cancel(
  app: { sql: Sql; hints: Pick<EventHints, 'announce'> },
  actor: Actor,
  service: Id,
  id: Id,
): Promise<void> {
  requirePermission(actor, 'cancel-messages', service)
  const result = await take(app.sql, service, id, actor)
  if (!result || result.gone) throw refuse.notInDatabase()
  if (!result.scheduled) throw refuse.notScheduled()
  if (result.cancelled) return app.hints.announce([service])
  // An engine has the ticket, or a concurrent cancel, which was not visible in the snapshot of the statement.
  throw (await isCancelled(app.sql, id)) ? refuse.notInDatabase() : refuse.alreadySent()
}
