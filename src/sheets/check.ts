// Checks a sheet before it is sent, by the same code as the send.
import type { PersonActor } from '../audit/actor.ts'
import { type CheckBulkApp, type CheckedBulk, checkBulk } from '../bulk/check-file.ts'
import type { Id } from '../core/id.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import type { Services } from '../services/load.ts'
import { type BulkOptions, bulkRequestOf } from './body.ts'
import { loadReady, type SheetApp } from './read.ts'
import type { Sheet } from './sheet.ts'

/** `lines`: of each row of the report, whose first row is 1. */
export type CheckedSheet = Pick<CheckedBulk, 'report' | 'errors'> & { sheet: Sheet; lines: readonly number[] }

export async function check(
  app: SheetApp & CheckBulkApp & { services: Services },
  actor: PersonActor,
  serviceId: Id,
  id: Id,
  options: BulkOptions,
): Promise<CheckedSheet> {
  const loaded = await loadReady(app, actor, serviceId, id)
  const service = await app.services.get(serviceId)
  if (!service) throw refuseSend.notFound()
  const { body, lines } = await bulkRequestOf(app, loaded, options)
  const { report, errors } = await checkBulk(app, { service, actor, key_type: 'normal' }, body)
  return { report, errors, lines, sheet: loaded.sheet }
}
