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
  hold,
  listOrigins,
  makeDefault,
  type Origin,
  type OriginKind,
} from './sql.ts'

type App = HomeApp & { db: Pick<Database, 'sql' | 'transaction'> }

const kinds = {
  'reply-to': { read: (text: string) => emailFrom(text), taken: refuse.replyToTaken, unknown: refuse.unknownReplyTo },
  sender: { read: senderFrom, taken: refuse.senderTaken, unknown: refuse.unknownSender },
} satisfies Record<OriginKind, object>

/** The first one becomes the default. With `makeDefault`, an existing one may be given too. */
export async function addOrigin(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  kind: OriginKind,
  service: Id,
  input: { value: string; makeDefault: boolean },
): Promise<Omit<Origin, 'created_at'>> {
  requirePermission(actor, 'manage-service', service)
  const value = kinds[kind].read(input.value, await planOf(app, service))
  return app.db.transaction(async sql => {
    await hold(sql, service)
    const others = await listOrigins(sql, kind, service)
    const same = others.find(other => other.value.toLowerCase() === value.toLowerCase())
    if (same && !input.makeDefault) throw kinds[kind].taken(value)
    const is_default = input.makeDefault || others.length === 0
    if (is_default) await clearDefault(sql, kind, service)
    if (same) {
      await makeDefault(sql, kind, service, same.id)
      return { ...same, is_default }
    }
    const origin = { id: app.ids.next(), service_id: service, value, is_default }
    await add(sql, kind, origin)
    return origin
  })
}

/** By id or by its value. A removed default is not replaced. */
export async function dropOrigin(app: App, actor: Actor, kind: OriginKind, service: Id, text: string): Promise<Origin> {
  requirePermission(actor, 'manage-service', service)
  const all = await listOrigins(app.db.sql, kind, service)
  const wanted = spellings(kind, text, await planOf(app, service))
  const [origin, another] = narrowed(all, text, origin => wanted.includes(origin.value.toLowerCase()))
  if (another) throw refuse.severalEntries(text)
  if (!origin || (await archiveOrigin(app.db.sql, kind, service, origin.id)).length === 0)
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
