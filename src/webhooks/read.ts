import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { type EventGroup, groupOf, type Scope } from '../events/event.ts'
import { type Behind, behind } from '../events/sql/behind.ts'
import { byId } from '../events/sql.ts'
import { refuse } from './refusals.ts'
import { findWebhook, listWebhooks, type Owner } from './sql/manage.ts'
import { readWebhook, type StoredWebhook, type Webhook } from './webhook.ts'

type App = { db: { sql: Sql }; seal: Seal }

/** An endpoint and how far it is behind the log. */
export type ShownWebhook = Webhook & { behind: Behind }

export async function read(app: App, owner: Owner, id: Id): Promise<ShownWebhook> {
  const found = await findWebhook(app.db.sql, owner, id)
  if (!found) throw refuse.notFound()
  return shown(app, found)
}

export const list = async (app: App, owner: Owner): Promise<ShownWebhook[]> =>
  allShown(app, await listWebhooks(app.db.sql, owner))

export async function shown(app: App, row: StoredWebhook): Promise<ShownWebhook> {
  const [webhook] = await allShown(app, [row])
  return webhook as ShownWebhook
}

async function allShown(app: App, rows: readonly StoredWebhook[]): Promise<ShownWebhook[]> {
  const webhooks = rows.map(row => readWebhook(app.seal, row))
  const counts = webhooks.length === 0 ? [] : await behind(app.db.sql, webhooks)
  return webhooks.map((webhook, at) => ({ ...webhook, behind: counts[at] as Behind }))
}

/** The group of an event of this service and type of key, and the message or job; null: there is no such event. */
export async function findEvent(sql: Sql, scope: Scope, event: Id): Promise<{ group: EventGroup; subject: Id } | null> {
  const { group: id, n } = groupOf(event)
  const [group] = await byId(sql, [id])
  const subject = group?.subjects[n]
  const isOurs = group?.service_id === scope.service_id && group.key_type === scope.key_type
  return group && subject && isOurs ? { group, subject } : null
}
