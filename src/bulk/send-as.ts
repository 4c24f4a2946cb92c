// A person sends a bulk job by hand: the same checks and limits as for a live key of the service. It is recorded with the person, in
// the transaction that stores the job.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import type { Services } from '../services/load.ts'
import { accept, type BulkApp } from './accept.ts'

export type SendBulkAsApp = BulkApp & { services: Services }

/** `body`: as a caller of the interface would write it. `within`: part of the same transaction; if it throws, nothing is stored. */
export async function sendBulkAs(
  app: SendBulkAsApp,
  actor: PersonActor,
  serviceId: Id,
  body: Buffer,
  within?: (sql: Sql, job: { id: Id }) => Promise<void>,
): Promise<Id> {
  requirePermission(actor, 'send-messages', serviceId)
  const service = await app.services.get(serviceId)
  if (!service) throw refuseSend.notFound()
  const { id } = await accept(app, { service, actor, key_type: 'normal' }, body, null, undefined, async (sql, job) => {
    await within?.(sql, job)
    await record(sql, 'job sent', actor, serviceId, job.id, { messages: job.notification_count })
  })
  return id
}
