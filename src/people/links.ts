// One-time links to sign in. A link in a mail works once, for 15 minutes, in the browser that asked for it. One that is printed at
// the machine works in any browser.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { readEmail } from '../recipients/email.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { type Language, languageOf, signInLetter } from './letters.ts'
import type { Person } from './person.ts'
import { refuse } from './refusals.ts'
import {
  addLink,
  findLink,
  mayAsk,
  type NewLink,
  askForLink as writeLink,
  spendLink as writeSpend,
} from './sql/links.ts'
import { personBy } from './sql/people.ts'
import { digestOf, isToken, newToken } from './token.ts'
import { refuseBeyond, tried } from './tries.ts'

type App = { db: { sql: Sql }; clock: Clock; ids: { next(): Id }; seal: Seal; config: { baseUrl: string | null } }

export const LINK_MINUTES = 15
/** Longer, because nobody waits for a mail: it is on the screen of the operator. */
export const PRINTED_LINK_MINUTES = 60

/** The page of a link, below the address of the console. */
export const linkPath = (token: string) => `/sign-in/link/${token}`

export type LinkRequest = {
  address: string
  /** The cookie that names the browser. */
  browser: string
  network: string
  /** Browser and system in words, for the mail. */
  device: string
  /** Of the mail, for somebody who has chosen none. */
  language?: Language
  /** A page of the console, to return to. */
  returnTo?: string | null
  /** The address of the console: `visit.origin + visit.url('')`. */
  console: string
}

/**
 * Sends a link if the address is that of somebody who may sign in. Nothing tells the caller whether it is: neither an answer nor a
 * refusal, and the same work is done.
 */
export async function askForLink(app: App & Partial<Mailing>, request: LinkRequest): Promise<void> {
  const email = readEmail(request.address)
  if (!email.ok) throw refuseService.notEmail(request.address)
  const console = trustedConsole(app.config, request.console)
  const known = await mayAsk(app.db.sql, email.address)
  const token = newToken()
  // To the address that is stored: what was typed may only look the same.
  const mail = signInLetter(known?.email_address ?? email.address, languageOf(known, request.language), {
    link: console + linkPath(token),
    device: request.device,
    minutes: LINK_MINUTES,
  })
  const mails = sealedMails(app, INSTALLATION, [mail])
  const { over, made } = await writeLink(
    app.db.sql,
    tried(app, 'link', { address: email.address, network: request.network }),
    known?.id ?? null,
    linkOf(app, token, LINK_MINUTES, { browser: request.browser, returnTo: request.returnTo ?? null }),
    mails,
  )
  if (made) wakeMails(app, mails)
  refuseBeyond(app, over)
}

/**
 * For the operator at the machine: the path of a link that works in any browser. It is recorded who made it for whom.
 */
export async function printLink(app: App, actor: Actor, address: string): Promise<{ path: string; person: Person }> {
  requirePermission(actor, 'manage-installation', null)
  const person = await personBy(app.db.sql, address.trim())
  if (!person) throw refuse.unknownPerson(address.trim())
  if (!(await mayAsk(app.db.sql, person.email_address))) throw refuse.notInService(person.email_address)
  const token = newToken()
  const link = linkOf(app, token, PRINTED_LINK_MINUTES, { browser: null, returnTo: null })
  await addLink(app.db.sql, person.id, link, actor)
  return { path: linkPath(token), person }
}

export type LinkState =
  | { state: 'valid'; person: Person; returnTo: string | null }
  /** `over`: also when there never was such a link. */
  | { state: 'other-browser' | 'used' | 'over' }

/** What a link is worth. It is not spent: programs that check mails open links too. */
export async function readLink(app: Pick<App, 'db' | 'clock'>, token: unknown, browser: string): Promise<LinkState> {
  const now = fromMicros(app.clock.micros())
  const found = isToken(token) ? await findLink(app.db.sql, digestOf(token), now) : null
  if (!found) return { state: 'over' }
  const { browser_digest, return_to, is_over, is_used, ...person } = found
  if (is_used) return { state: 'used' }
  if (is_over) return { state: 'over' }
  if (browser_digest && !browser_digest.equals(digestOf(browser))) return { state: 'other-browser' }
  return { state: 'valid', person, returnTo: return_to }
}

/** Spends it once: a second caller finds it used. The caller starts a session for the person. */
export async function spendLink(app: Pick<App, 'db' | 'clock'>, token: unknown, browser: string): Promise<LinkState> {
  if (!isToken(token)) return { state: 'over' }
  const now = fromMicros(app.clock.micros())
  const spent = await writeSpend(app.db.sql, digestOf(token), digestOf(browser), now)
  if (spent) {
    const { return_to, ...person } = spent
    return { state: 'valid', person, returnTo: return_to }
  }
  const left = await readLink(app, token, browser)
  return left.state === 'valid' ? { state: 'used' } : left
}

/**
 * Links in mails begin with the address in the settings. That of the request is taken on this machine only: elsewhere somebody could
 * have the link sent with an address of theirs.
 */
export function trustedConsole({ baseUrl }: { baseUrl: string | null }, console: string): string {
  const given = new URL(console)
  if (baseUrl !== null && new URL(baseUrl).origin === given.origin) return console
  if (baseUrl === null && LOOPBACK.test(given.hostname)) return console
  throw refuse.noAddress()
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** A path of the console, and nothing that leads elsewhere. */
export const isReturnPath = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 2_000 && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text)

const linkOf = (
  { clock, ids }: Pick<App, 'clock' | 'ids'>,
  token: string,
  minutes: number,
  { browser, returnTo }: { browser: string | null; returnTo: string | null },
): NewLink => ({
  id: ids.next(),
  token_digest: digestOf(token),
  browser_digest: browser === null ? null : digestOf(browser),
  return_to: isReturnPath(returnTo) ? returnTo : null,
  expires_at: fromMicros(clock.micros() + minutes * 60_000_000),
})
