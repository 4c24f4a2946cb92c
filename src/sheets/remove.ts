// Discards a sheet with all its rows.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { SheetChecks } from './checks.ts'
import type { SheetApp } from './read.ts'
import { refuse } from './refusals.ts'
import { remove as drop, find } from './sql.ts'

export async function remove(
  app: Pick<SheetApp, 'db'> & { sheets: { checks: SheetChecks } },
  actor: PersonActor,
  service: Id,
  id: Id,
): Promise<void> {
  requirePermission(actor, 'send-messages', service)
  const found = await find(app.db.sql, { service_id: service, person_id: actor.id }, id)
  if (!found) throw refuse.notFound()
  if (found.state === 'sent') throw refuse.alreadySent()
  await drop(app.db.sql, id)
  app.sheets.checks.forget(id)
}
