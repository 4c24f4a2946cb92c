import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { find, type ShownJob, cancel as stop } from './sql.ts'

/** Only a scheduled job that has not begun can be cancelled. The statement decides; the rest finds the reason for a refusal. */
export async function cancel(sql: Sql, actor: Actor, service: Id, id: Id): Promise<ShownJob> {
  requirePermission(actor, 'cancel-messages', service)
  const cancelled = await stop(sql, service, id, actor)
  const job = await find(sql, service, id)
  if (!job) throw refuse.notFound()
  if (!cancelled) throw job.status === 'cancelled' ? refuse.alreadyCancelled() : refuse.notCancellable()
  return job
}
