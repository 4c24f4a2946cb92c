// Reply-to addresses that a team adds: a link is sent to the address, and nothing uses it until somebody there has opened the link.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { emailFrom } from '../services/checks.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { type AskedReplyTo, askedReplyTo, listOrigins, verifyReplyTo as verify } from '../services/sql/origins.ts'
import { hold, shownService } from '../services/sql.ts'
import { type Language, replyToLetter } from './letters.ts'
import { trustedConsole } from './links.ts'
import { refuse } from './refusals.ts'
import { ask, askAgain } from './sql/reply-tos.ts'
import { digestOf, isToken, newToken } from './token.ts'
import { refuseBeyond, tried } from './tries.ts'

type App = {
  db: Pick<Database, 'sql' | 'transaction'>
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  config: { baseUrl: string | null }
} & Partial<Mailing>

export type { AskedReplyTo }

export const REPLY_TO_DAYS = 7
/** A service with more has no use for them, and every one causes a mail. */
const MOST = 20

/** The page of a link, below the address of the console. */
export const replyToPath = (token: string) => `/reply-to/${token}`

/** `console`: the address of the console, for the link. `language`: of the mail. */
type Asking = { console: string; language?: Language }

export async function addReplyTo(
  app: App,
  actor: Actor,
  service: Id,
  input: Asking & { address: string },
): Promise<{ id: Id; value: string }> {
  requirePermission(actor, 'manage-service', service)
  const value = emailFrom(input.address)
  const others = await listOrigins(app.db.sql, 'reply-to', service)
  if (others.some(other => other.value.toLowerCase() === value.toLowerCase())) throw refuseService.replyToTaken(value)
  if (others.length >= MOST) throw refuse.tooManyReplyTos(MOST)
  const { link, mails } = await letterTo(app, actor, service, value, input)
  const origin = { id: app.ids.next(), service_id: service, value }
  const { over, isAsked } = await ask(app.db.sql, triesOf(app, value), origin, link, mails, actor)
  refuseBeyond(app, over)
  if (!isAsked) throw new Error('a reply-to address was neither added nor refused')
  wakeMails(app, mails)
  return origin
}

/** Another link to an address that nobody has proved yet. */
export async function askReplyToAgain(app: App, actor: Actor, service: Id, id: Id, input: Asking): Promise<void> {
  requirePermission(actor, 'manage-service', service)
  const found = (await listOrigins(app.db.sql, 'reply-to', service)).find(one => one.id === id)
  if (!found || found.verified_at !== null) throw refuseService.unknownReplyTo(id)
  const { link, mails } = await letterTo(app, actor, service, found.value, input)
  const { over, isAsked } = await askAgain(app.db.sql, triesOf(app, found.value), service, id, link, mails)
  refuseBeyond(app, over)
  if (!isAsked) throw refuseService.unknownReplyTo(id)
  wakeMails(app, mails)
}

/** Null: it was used, replaced, is over, or the address was removed. It is not spent. */
export async function readReplyToLink(
  app: { db: { sql: Sql }; clock: Clock },
  token: unknown,
): Promise<AskedReplyTo | null> {
  return isToken(token) ? askedReplyTo(app.db.sql, digestOf(token), fromMicros(app.clock.micros())) : null
}

/** `actor`: who is signed in; null: the reader of the mail. Returns null when the link is worth nothing. */
export async function verifyReplyTo(
  app: Pick<App, 'db' | 'clock'>,
  actor: Actor | null,
  token: unknown,
): Promise<AskedReplyTo | null> {
  return app.db.transaction(async sql => {
    const asked = await readReplyToLink({ ...app, db: { sql } }, token)
    if (!asked) return null
    await hold(sql, asked.service_id) // a service has one default
    const isDone = await verify(sql, asked, fromMicros(app.clock.micros()), actor ?? BY_MAIL)
    return isDone ? asked : null
  })
}

const BY_MAIL: Actor = { kind: 'operator', name: 'herald' }

/** Counted for the address that gets the mails, not for those who ask. */
const triesOf = (app: Pick<App, 'clock' | 'seal'>, address: string) => tried(app, 'reply-to', { recipient: address })

async function letterTo(app: App, actor: Actor, service: Id, address: string, input: Asking) {
  const trusted = trustedConsole(app.config, input.console)
  const name = (await shownService(app.db.sql, service))?.name ?? ''
  const token = newToken()
  const by = actor.kind === 'person' ? actor.name : null
  return {
    link: { digest: digestOf(token), expires_at: fromMicros(app.clock.micros() + REPLY_TO_DAYS * 86_400_000_000) },
    mails: sealedMails(app, service, [
      replyToLetter(address, input.language ?? 'en', {
        ...{ service: name, by, link: trusted + replyToPath(token), days: REPLY_TO_DAYS },
      }),
    ]),
  }
}
