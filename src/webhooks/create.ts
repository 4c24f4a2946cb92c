import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import type { EventType, Scope } from '../events/event.ts'
import { endOfLog } from '../feed/read.ts'
import { type ShownWebhook, shown } from './read.ts'
import { refuse } from './refusals.ts'
import { batchFrom, eventTypesFrom, recipientFrom, tokenFrom, urlFrom } from './rules.ts'
import type { WebhookSettings } from './settings.ts'
import { addWebhook, countWebhooks, lockWebhooksOf } from './sql/manage.ts'
import { type Format, MOST_WEBHOOKS, newSecret, sealTarget } from './webhook.ts'

export type WebhookInput = {
  url: string
  format?: Format
  types?: readonly EventType[] | null
  include_recipient?: boolean
  batch?: number
  token?: string
}

type App = { db: Database; ids: { next(): Id }; seal: Seal; config: WebhookSettings }

/** The secret cannot be read again later; null for the format callback. The endpoint is sent what is logged from now on. */
export async function create(
  app: App,
  actor: Actor,
  scope: Scope,
  input: WebhookInput,
  /** Chosen when a form was made: a form that is sent twice creates one endpoint. */
  id: Id = app.ids.next(),
): Promise<{ webhook: ShownWebhook; secret: string | null }> {
  requirePermission(actor, 'manage-webhooks', scope.service_id)
  const { format = 'standard' } = input
  const url = urlFrom(app.config, input.url)
  const token = tokenFrom(format, input.token)
  const secret = format === 'standard' ? newSecret() : null
  const row = {
    id,
    ...scope,
    format,
    sealed: sealTarget(app.seal, { url, token, secrets: secret === null ? [] : [{ secret, until: null }] }),
    types: eventTypesFrom(format, input.types),
    with_recipient: recipientFrom(format, input.include_recipient),
    batch: batchFrom(format, input.batch ?? 1),
  }
  const created = await app.db.transaction(async sql => {
    await lockWebhooksOf(sql, scope.service_id)
    if ((await countWebhooks(sql, scope.service_id)) >= MOST_WEBHOOKS) throw refuse.tooManyWebhooks(MOST_WEBHOOKS)
    const added = await addWebhook(sql, { ...row, position: await endOfLog(sql, scope) }, actor)
    if (!added) throw refuse.createdBefore()
    return added
  })
  return { webhook: await shown(app, created), secret }
}
