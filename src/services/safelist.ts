// Recipients besides the team who may receive messages in trial mode and with team keys.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { safelistForm } from '../recipients/recipient.ts'
import { recipientFrom } from './checks.ts'
import { narrowed } from './find.ts'
import { type HomeApp, planOf } from './home.ts'
import { refuse } from './refusals.ts'
import { addToSafelist as add, listSafelist, removeFromSafelist, type SafelistEntry } from './sql.ts'

type App = HomeApp

export async function addToSafelist(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  service: Id,
  text: string,
): Promise<SafelistEntry> {
  requirePermission(actor, 'manage-service', service)
  const recipient = recipientFrom(text, await planOf(app, service))
  const added = await add(app.db.sql, { id: app.ids.next(), service_id: service, recipient })
  if (!added) throw refuse.safelistTaken(recipient)
  return added
}

/** By id or by the recipient, in any spelling. */
export async function dropFromSafelist(app: App, actor: Actor, service: Id, text: string): Promise<SafelistEntry> {
  requirePermission(actor, 'manage-service', service)
  const all = await listSafelist(app.db.sql, service)
  const plan = await planOf(app, service)
  const wanted = safelistForm(text, plan)
  const [entry, another] = narrowed(all, text, entry => safelistForm(entry.recipient, plan) === wanted)
  if (another) throw refuse.severalEntries(text)
  if (!entry || (await removeFromSafelist(app.db.sql, service, entry.id)).length === 0)
    throw refuse.unknownSafelist(text)
  return entry
}
