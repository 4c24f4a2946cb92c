import { type Actor, requirePermission, type ServiceScope, serviceScopeOf } from '../audit/actor.ts'
import { readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { idStart } from '../services/find.ts'
import { type KeyPrefix, readKey } from './key.ts'
import { refuse } from './refusals.ts'
import { byDigest, type ListedKey, startingWith, revoke as write } from './sql.ts'

type App = { db: { sql: Sql }; seal: Seal; config: { keyPrefix: KeyPrefix } }

/**
 * `text`: the id, its first characters, or the key itself, because the finder of a leaked key knows nothing else.
 * Revoking again keeps the time of the first revocation.
 */
export async function revoke(app: App, actor: Actor, text: string): Promise<ListedKey> {
  const scope = serviceScopeOf(actor)
  requirePermission(actor, 'manage-keys', scope === 'every-service' ? null : scope)
  const id = await idOf(app, scope, text.trim())
  const revoked = id && (await write(app.db.sql, scope, id, actor))
  if (!revoked) throw refuse.unknownKeyId(shortened(text))
  return revoked
}

async function idOf(app: App, scope: ServiceScope, text: string) {
  const whole = readId(text)
  if (whole) return whole
  const key = readKey(app.config.keyPrefix, text)
  if (key) return (await byDigest(app.db.sql, app.seal.digests('key secret', key.secret)))?.id ?? null
  const start = idStart(text)
  const [first, ...more] = start ? await startingWith(app.db.sql, scope, start) : []
  if (first && more.length > 0)
    throw refuse.severalKeys(text, [first, ...more].map(key => `${key.id} (${key.name})`).join(', '))
  return first?.id ?? null
}

// The text may be a key, and the refusal may be logged.
const shortened = (text: string) => (text.length > 36 ? `${text.slice(0, 12)}…` : text)
