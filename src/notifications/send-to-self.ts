// A person tries a template: its latest version goes to their own address or number, as a normal message of the service.
import { may, type PersonActor, requirePermission } from '../audit/actor.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Values } from '../rendering/placeholders.ts'
import { listUsers } from '../services/sql.ts'
import { type SendAsApp, sendAs } from './send-as.ts'

/** Authors may, too: only to themselves. */
export const mayTry = (actor: PersonActor, service: Id): boolean =>
  may(actor, 'manage-templates', service) || may(actor, 'send-messages', service)

/** Where the person gets messages of this channel; null: the team has no number of theirs, or they are not in the team. */
export async function ownRecipient(
  sql: Sql,
  actor: PersonActor,
  service: Id,
  channel: Channel,
): Promise<string | null> {
  const address = actor.email_address.toLowerCase()
  const user = (await listUsers(sql, service)).find(one => one.email_address.toLowerCase() === address)
  return user?.[CHANNELS[channel].recipient.field] ?? null
}

/** Returns the id of the message; null: there is no recipient (see `ownRecipient`), or it is one for smoke tests. */
export async function sendToSelf(
  app: SendAsApp & { db: { sql: Sql } },
  actor: PersonActor,
  service: Id,
  template: { id: Id; type: Channel },
  personalisation: Values,
  { base }: { base: string },
): Promise<Id | null> {
  if (!mayTry(actor, service)) requirePermission(actor, 'send-messages', service)
  const to = await ownRecipient(app.db.sql, actor, service, template.type)
  if (to === null) return null
  const sender: PersonActor = { ...actor, permissions: [...actor.permissions, 'send-messages'] }
  const given = { channel: template.type, to, template_id: template.id, personalisation }
  return sendAs(app, sender, service, given, { base, act: { action: 'message sent', detail: { to: 'self' } } })
}
