// API keys and their text form, which client libraries of this interface family split at fixed positions:
// <prefix>-<key_name>-<service_id>-<secret>, where the last two have 36 characters each.
import type { KeyActor } from '../audit/actor.ts'
import { type Id, readId } from '../core/id.ts'
import type { LoadedService } from '../services/sql.ts'

export const KEY_TYPES = ['normal', 'team', 'test'] as const
export type KeyType = (typeof KEY_TYPES)[number]

export type Key = {
  id: Id
  service_id: Id
  name: string
  key_type: KeyType
  manage_templates: boolean
  manage_webhooks: boolean
  created_by: string
  /** When the key is or was revoked, or expires: milliseconds since 1970; null: never. */
  ends_at: number | null
}

/** Who sends a request: a service, and the key it used. */
export type Caller = { service: LoadedService; key: Key }

/** The key as the actor of a change. Every key may cancel what its service has scheduled, and empty the inbox of its type. */
export const actorOf = ({
  id,
  service_id,
  name,
  created_by,
  manage_templates,
  manage_webhooks,
}: Omit<Key, 'key_type' | 'ends_at'>): KeyActor => ({
  kind: 'key',
  ...{ id, service_id, name, created_by },
  permissions: [
    'cancel-messages',
    'see-inbox',
    ...(manage_templates ? ['manage-templates' as const] : []),
    ...(manage_webhooks ? ['manage-webhooks' as const] : []),
  ],
})

/** First words of keys. New keys begin with `own`; keys that begin with any of `accepted`, which includes it, are looked up. */
export type KeyPrefix = { readonly own: string; readonly accepted: readonly string[] }

const UUID_LENGTH = 36
const SHORTEST = 79

export const writeKey = ({ own }: KeyPrefix, name: string, serviceId: Id, secret: string) =>
  `${own}-${slug(name)}-${serviceId}-${secret}`

const slug = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60) || 'key'

// Other installations of the interface family write names of keys with dots, hyphens and capital letters, so only that there is a
// name is checked (contract 3.3).
export function readKey({ accepted }: KeyPrefix, text: string): { serviceId: Id; secret: string } | null {
  if (text.length < SHORTEST) return null
  const secret = text.slice(-UUID_LENGTH)
  const serviceId = readId(text.slice(-2 * UUID_LENGTH - 1, -UUID_LENGTH - 1))
  const front = text.slice(0, -2 * UUID_LENGTH - 1)
  if (text.at(-UUID_LENGTH - 1) !== '-' || !serviceId || !readId(secret)) return null
  const isKey = accepted.some(
    prefix => front.startsWith(`${prefix}-`) && /^[\x21-\x7e]+-$/.test(front.slice(prefix.length + 1)),
  )
  return isKey ? { serviceId, secret } : null
}

export const hasEnded = (key: Pick<Key, 'ends_at'>, now: number) => key.ends_at !== null && key.ends_at <= now
