import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import type { EventType } from '../events/event.ts'
import { notifyOfEvents } from '../events/sql.ts'
import { positionAt } from '../feed/read.ts'
import { type ShownWebhook, shown } from './read.ts'
import { refuse } from './refusals.ts'
import { batchFrom, eventTypesFrom, momentFrom, recipientFrom, tokenFrom, urlFrom } from './rules.ts'
import type { WebhookSettings } from './settings.ts'
import { changeWebhook, lockWebhook, type Owner } from './sql/manage.ts'
import { retryWaiting } from './sql/replay.ts'
import { readWebhook, sealTarget, type Webhook } from './webhook.ts'

export type WebhookChange = {
  url?: string
  types?: readonly EventType[] | null
  include_recipient?: boolean
  batch?: number
  token?: string
  state?: 'active' | 'paused'
  /** Its position becomes this time, in the past. */
  from?: string
}

type App = { db: Database; clock: Clock; seal: Seal; config: WebhookSettings }

/**
 * What is not given stays. An endpoint that becomes active goes on where it was, unless `from` is given. Then, and with another
 * address, what it refused is tried again at once.
 */
export async function change(
  app: App,
  actor: Actor,
  owner: Owner,
  id: Id,
  input: WebhookChange,
): Promise<ShownWebhook> {
  requirePermission(actor, 'manage-webhooks', owner.service_id)
  const url = input.url === undefined ? null : urlFrom(app.config, input.url)
  const from = input.from === undefined ? null : momentFrom('from', input.from, app.clock.micros())
  const changed = await app.db.transaction(async sql => {
    const row = await lockWebhook(sql, owner, id)
    if (!row) throw refuse.notFound()
    const before = readWebhook(app.seal, row)
    const state = input.state ?? before.state
    const isResumed = state === 'active' && before.state !== 'active'
    const wanted = {
      ...settled(app, before, { ...input, ...(url !== null && { url }) }),
      state,
      position: from === null ? null : await positionAt(sql, before, from),
      anew: isResumed || from !== null || (url !== null && url !== before.url),
    }
    if (wanted.anew) await retryWaiting(sql, id)
    const detail = { changed: Object.keys(input) }
    return changeWebhook(sql, id, wanted, actor, { action: isResumed ? 'webhook resumed' : 'webhook changed', detail })
  })
  if (changed.state === 'active') await notifyOfEvents(app.db.sql, changed.service_id)
  return shown(app, changed)
}

function settled(app: App, before: Webhook, { url, types, include_recipient, batch, token }: WebhookChange) {
  const { format } = before
  const target = {
    url: url ?? before.url,
    token: token === undefined ? before.token : tokenFrom(format, token),
    secrets: before.secrets,
  }
  return {
    sealed: sealTarget(app.seal, target),
    types: types === undefined ? before.types : eventTypesFrom(format, types),
    with_recipient: include_recipient === undefined ? before.with_recipient : recipientFrom(format, include_recipient),
    batch: batch === undefined ? before.batch : batchFrom(format, batch),
  }
}
