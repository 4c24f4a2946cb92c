import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { refuse } from './refusals.ts'
import { cancel as stop } from './sql/cancel.ts'
import { find, type ShownJob } from './sql/read.ts'

/** Only a scheduled job that has not begun can be cancelled. The statement decides; the rest finds the reason for a refusal. */
export async function cancel(
  { sql, hints }: { sql: Sql; hints: Pick<EventHints, 'announce'> },
  actor: Actor,
  service: Id,
  id: Id,
): Promise<ShownJob> {
  requirePermission(actor, 'cancel-messages', service)
  const cancelled = await stop(sql, service, id, actor)
  if (cancelled) hints.announce([service])
  const job = await find(sql, service, id)
  if (!job) throw refuse.notFound()
  if (!cancelled) throw job.status === 'cancelled' ? refuse.alreadyCancelled() : refuse.notCancellable()
  return job
}
