// Sends an endpoint one made-up event now and tells what it answered. The event is not in the log.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { createAddresses } from './address.ts'
import { createPoster, type Posted } from './post.ts'
import { refuse } from './refusals.ts'
import type { WebhookSettings } from './settings.ts'
import { signatureHeaders } from './sign.ts'
import { findWebhook, type Owner } from './sql/manage.ts'
import { readWebhook, signingSecrets, type Webhook } from './webhook.ts'

type App = { db: { sql: Sql }; clock: Clock; ids: { next(): Id }; seal: Seal; config: WebhookSettings }

/** Runs a read of a service when it is its turn. */
type Admit = <T>(service: Id, read: () => Promise<T>) => Promise<T>

export type SendTest = (actor: Actor, owner: Owner, id: Id, admit?: Admit) => Promise<Posted>

/** One test of an endpoint at a time: a test may take 10 seconds. */
export function createTest(app: App): SendTest {
  const running = new Set<Id>()
  return async (actor, owner, id, admit = (_service, read) => read()) => {
    requirePermission(actor, 'manage-webhooks', owner.service_id)
    const row = await admit(owner.service_id, () => findWebhook(app.db.sql, owner, id))
    if (!row) throw refuse.notFound()
    if (running.has(id)) throw refuse.testRunning()
    running.add(id)
    try {
      return await send(app, readWebhook(app.seal, row))
    } finally {
      running.delete(id)
    }
  }
}

async function send(app: App, webhook: Webhook): Promise<Posted> {
  const poster = createPoster({ addresses: createAddresses(app.config) })
  try {
    return await poster.post(webhook.id, { url: new URL(webhook.url), ...requestTo(app, webhook) })
  } finally {
    poster.stop()
  }
}

function requestTo(app: App, webhook: Webhook): { headers: Record<string, string>; body: string } {
  const id = app.ids.next()
  const timestamp = zulu(fromMicros(app.clock.micros()))
  if (webhook.format === 'callback')
    return {
      headers: { authorization: `Bearer ${webhook.token}` },
      body: JSON.stringify({
        id,
        ...CALLBACK,
        created_at: timestamp,
        completed_at: timestamp,
        sent_at: timestamp,
        ...LAST,
      }),
    }
  const event = { id, type: TEST_TYPE, timestamp, data: { webhook_id: webhook.id } }
  const body = JSON.stringify(webhook.batch > 1 ? { events: [event] } : event)
  return {
    headers: signatureHeaders({ id, body, secrets: signingSecrets(webhook, app.clock.now()), now: app.clock.now() }),
    body,
  }
}

export const TEST_TYPE = 'webhook.test'

/** A callback has no type: the reference tells that it is a test. */
const CALLBACK = {
  reference: TEST_TYPE,
  to: 'test@example.org',
  status: 'delivered',
  status_description: 'Delivered',
  provider_response: null,
}
const LAST = { notification_type: 'email' }
