// The reply-to addresses and text senders of a service. One of each may be the default.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import type { PhonePlan } from '../recipients/plans.ts'
import { emailFrom, senderFrom } from './checks.ts'
import { narrowed } from './find.ts'
import { type HomeApp, planOf } from './home.ts'
import { refuse } from './refusals.ts'
import {
  addOrigin as add,
  archiveOrigin,
  clearDefault,
  listOrigins,
  makeDefault,
  type NewOrigin,
  type Origin,
  type OriginKind,
} from './sql/origins.ts'
import { hold } from './sql.ts'

type App = HomeApp & { db: Pick<Database, 'sql' | 'transaction'> }

const kinds = {
  'reply-to': { read: (text: string) => emailFrom(text), taken: refuse.replyToTaken, unknown: refuse.unknownReplyTo },
  sender: { read: senderFrom, taken: refuse.senderTaken, unknown: refuse.unknownSender },
} satisfies Record<OriginKind, object>

/**
 * One that can be used at once; the console adds reply-to addresses with a link (people/reply-tos.ts). The first one becomes the
 * default. With `makeDefault`, an existing one may be given too.
 */
export async function addOrigin(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  kind: OriginKind,
  service: Id,
  input: { value: string; makeDefault: boolean },
): Promise<NewOrigin> {
  requirePermission(actor, 'manage-service', service)
  const value = kinds[kind].read(input.value, await planOf(app, service))
  return app.db.transaction(async sql => {
    await hold(sql, service)
    const others = await listOrigins(sql, kind, service)
    const same = others.find(other => other.value.toLowerCase() === value.toLowerCase())
    if (same && !input.makeDefault) throw kinds[kind].taken(value)
    if (same && same.verified_at === null) throw refuse.notVerified(value)
    const is_default = input.makeDefault || others.every(other => other.verified_at === null)
    if (is_default) await clearDefault(sql, kind, service)
    if (same) {
      await makeDefault(sql, kind, service, same.id, actor)
      return { ...same, is_default }
    }
    const origin = { id: app.ids.next(), service_id: service, value, is_default }
    await add(sql, kind, origin, actor)
    return origin
  })
}

/** By id. */
export async function chooseDefault(app: App, actor: Actor, kind: OriginKind, service: Id, id: Id): Promise<Origin> {
  requirePermission(actor, 'manage-service', service)
  return app.db.transaction(async sql => {
    await hold(sql, service)
    const origin = (await listOrigins(sql, kind, service)).find(one => one.id === id)
    if (!origin) throw kinds[kind].unknown(id)
    if (origin.verified_at === null) throw refuse.notVerified(origin.value)
    if (origin.is_default) return origin
    await clearDefault(sql, kind, service)
    await makeDefault(sql, kind, service, id, actor)
    return { ...origin, is_default: true }
  })
}

/** By id or by its value. A removed default is not replaced. */
export async function dropOrigin(app: App, actor: Actor, kind: OriginKind, service: Id, text: string): Promise<Origin> {
  requirePermission(actor, 'manage-service', service)
  const all = await listOrigins(app.db.sql, kind, service)
  const wanted = spellings(kind, text, await planOf(app, service))
  const [origin, another] = narrowed(all, text, origin => wanted.includes(origin.value.toLowerCase()))
  if (another) throw refuse.severalEntries(text)
  if (!origin || (await archiveOrigin(app.db.sql, kind, service, origin.id, actor)).length === 0)
    throw kinds[kind].unknown(text)
  return origin
}

function spellings(kind: OriginKind, text: string, plan: PhonePlan): string[] {
  try {
    return [text.toLowerCase(), kinds[kind].read(text, plan).toLowerCase()]
  } catch {
    return [text.toLowerCase()] // an id, or a value that was never stored
  }
}
