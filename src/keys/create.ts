import { randomUUID } from 'node:crypto'
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { authorFor } from '../services/people.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import type { Service } from '../services/service.ts'
import { type KeyPrefix, type KeyType, writeKey } from './key.ts'
import { refuse } from './refusals.ts'
import { add } from './sql.ts'

export type NewKey = {
  /** Chosen when a form was made: a form that is sent twice creates one key. */
  id?: Id
  name: string
  key_type: KeyType
  manage_templates?: boolean
  manage_webhooks?: boolean
  /** E-mail address. Without it that of the actor (services/people.ts). */
  created_by?: string
  /** Milliseconds since 1970; without it the key never expires. */
  ends_at?: number
}

export type CreatedKey = {
  id: Id
  service_id: Id
  name: string
  key_type: KeyType
  manage_templates: boolean
  manage_webhooks: boolean
  created_by: string
  expires_at: Timestamp | null
  /** The key itself. It cannot be read again later. */
  key: string
}

type App = {
  db: { sql: Sql }
  ids: { next(): Id }
  clock: Clock
  seal: Seal
  config: { keyPrefix: KeyPrefix; sendingDomain: string }
}

export async function create(
  app: App,
  actor: Actor,
  service: Pick<Service, 'id' | 'name' | 'state'>,
  input: NewKey,
): Promise<CreatedKey> {
  requirePermission(actor, 'manage-keys', service.id)
  // The key must not give its creator a permission that they do not have. Sending is not one: every key may send, which is its use.
  if (input.manage_templates) requirePermission(actor, 'manage-templates', service.id)
  if (input.manage_webhooks) requirePermission(actor, 'manage-webhooks', service.id)
  if (service.state === 'archived') throw refuseService.archivedService(service.name)
  const name = nameFrom(input.name, 'name of the key')
  const expires_at = input.ends_at === undefined ? null : fromMicros(input.ends_at * 1000)
  if (expires_at && (input.ends_at ?? 0) <= app.clock.now()) throw refuse.expiryPassed(zulu(expires_at))
  const created_by =
    input.created_by === undefined ? await authorFor(app, actor, service.id) : emailFrom(input.created_by)
  const { key_type, manage_templates = false, manage_webhooks = false } = input

  const secret = randomUUID()
  const row = {
    id: input.id ?? app.ids.next(),
    service_id: service.id,
    ...{ name, key_type, manage_templates, manage_webhooks, created_by, expires_at },
  }
  const sealed = {
    secret_digest: app.seal.digest('key secret', secret),
    secret_sealed: app.seal.seal('key secret', secret),
  }
  if ((await add(app.db.sql, { ...row, ...sealed }, actor)).length === 0) throw refuse.createdBefore()
  return { ...row, key: writeKey(app.config.keyPrefix, name, service.id, secret) }
}
