// One-time links to sign in. A link in a mail works once, for 15 minutes, in the browser that asked for it. One that is printed at
// the machine works in any browser.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { isLoopback } from '../core/network.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { readEmail } from '../recipients/email.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { type Language, languageOf, signInLetter } from './letters.ts'
import type { Person } from './person.ts'
import { refuse } from './refusals.ts'
import { startSession } from './session.ts'
import { addLink, addMailedLink, findLink, mayAsk, type NewLink, spendLink as writeSpend } from './sql/links.ts'
import { holdPerson, personBy } from './sql/people.ts'
import { count, countForAddress, type Merged, type Over } from './sql/tries.ts'
import { digestOf, isToken, newToken } from './token.ts'
import { MERGE_MINUTES, refuseBeyond, tried, triedFor } from './tries.ts'

type App = { db: Database; clock: Clock; ids: { next(): Id }; seal: Seal; config: { baseUrl: string | null } }

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
  /** The person who is signed in, or who signed in earlier in this browser; null: a stranger. */
  knownAs: Id | null
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
 * refusal, and the same work is done. Returns whether the mail is merged with others and comes later.
 */
export async function askForLink(app: App & Partial<Mailing>, request: LinkRequest): Promise<{ isLater: boolean }> {
  const email = readEmail(request.address)
  if (!email.ok) throw refuseService.notEmail(request.address)
  const console = trustedConsole(app.config, request.console)
  const known = await mayAsk(app.db.sql, email.address, fromMicros(app.clock.micros()))
  // One commit, which has something to write in every case: the time it takes does not tell whether the address is known.
  const { over, merged, mails } = await app.db.transaction(async sql => {
    const { over, merged } = await counted(app, sql, email.address, known, request)
    if (over) return { over, merged, mails: [] }
    const token = newToken()
    // To the address that is stored: what was typed may only look the same.
    const mail = signInLetter(known?.email_address ?? email.address, languageOf(known, request.language), {
      link: console + linkPath(token),
      device: merged ? null : request.device,
      minutes: LINK_MINUTES,
    })
    // The first of several merged requests has a mail, and its link works in the browsers of all of them. They asked before it is sent.
    const mails = merged && !merged.isFirst ? [] : sealedMails(app, INSTALLATION, [mail])
    const now = app.clock.micros()
    const mailAt = merged ? merged.sinceMicros + MERGE_MINUTES * 60_000_000 : now
    const { browser, returnTo = null } = request
    const link = {
      ...linkOf(app, token, mailAt + LINK_MINUTES * 60_000_000, { browser, returnTo }),
      mail_at: merged && fromMicros(mailAt),
    }
    const { isAdded } = await addMailedLink(sql, known, link, mails, (mailAt - now) / 1_000_000)
    return { over, merged, mails: isAdded && !merged ? mails : [] }
  })
  wakeMails(app, mails)
  refuseBeyond(app, over)
  return { isLater: merged !== null }
}

/** A person's own requests are not counted for their address: others cannot delay their mails. */
async function counted(
  app: App,
  sql: Sql,
  address: string,
  person: Person | null,
  { knownAs, network, browser }: LinkRequest,
): Promise<{ over: Over; merged: Merged | null }> {
  const by = tried(app, 'link', knownAs === null ? { network, browser } : { own: knownAs })
  const isOwn = person !== null && person.id === knownAs
  return isOwn ? { over: await count(sql, by), merged: null } : countForAddress(sql, by, triedFor(app, address))
}

/**
 * For the operator at the machine: the path of a link that works in any browser, for anyone who is known, also a former member who
 * must connect single sign-on. It is recorded who made it for whom.
 */
export async function printLink(app: App, actor: Actor, address: string): Promise<{ path: string; person: Person }> {
  requirePermission(actor, 'manage-installation', null)
  const person = await personBy(app.db.sql, address.trim())
  if (!person) throw refuse.unknownPerson(address.trim())
  const token = newToken()
  const link = linkOf(app, token, app.clock.micros() + PRINTED_LINK_MINUTES * 60_000_000, {
    browser: null,
    returnTo: null,
  })
  await addLink(app.db.sql, person.id, link, actor)
  return { path: linkPath(token), person }
}

type ValidLink = { state: 'valid'; person: Person; returnTo: string | null }
/** `over`: also when there never was such a link. */
type UnusableLink = { state: 'other-browser' | 'used' | 'over' }
export type LinkState = ValidLink | UnusableLink

/** What a link is worth. It is not spent: programs that check mails open links too. */
export async function readLink(app: Pick<App, 'db' | 'clock'>, token: unknown, browser: string): Promise<LinkState> {
  const now = fromMicros(app.clock.micros())
  const found = isToken(token) ? await findLink(app.db.sql, digestOf(token), digestOf(browser), now) : null
  if (!found) return { state: 'over' }
  const { return_to, is_over, is_used, is_here, ...person } = found
  if (is_used) return { state: 'used' }
  if (is_over) return { state: 'over' }
  if (!is_here) return { state: 'other-browser' }
  return { state: 'valid', person, returnTo: return_to }
}

/**
 * Spends the link and starts a session in one transaction that holds the person: a change of their address, which ends links and
 * sessions, comes before or after both.
 */
export const signInByLink = (
  app: Pick<App, 'db' | 'clock' | 'ids'>,
  token: unknown,
  browser: string,
  { device, before }: { device: string; before: string | null },
): Promise<(ValidLink & { session: string }) | UnusableLink> =>
  app.db.transaction(async sql => {
    const within = { ...app, db: { ...app.db, sql } }
    const found = await readLink(within, token, browser)
    if (found.state !== 'valid') return found
    await holdPerson(sql, found.person.id)
    const link = await spendLink(within, token, browser)
    if (link.state !== 'valid') return link
    const { token: session } = await startSession(within, link.person, { method: 'link', device, before })
    return { ...link, session }
  })

/** Spends it once: a second caller finds it used. */
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
  if (baseUrl === null && isLoopback(given.hostname)) return console
  throw refuse.noAddress()
}

/** A path of the console, and nothing that leads elsewhere. */
export const isReturnPath = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 2_000 && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text)

const linkOf = (
  { ids }: Pick<App, 'ids'>,
  token: string,
  untilMicros: number,
  { browser, returnTo }: { browser: string | null; returnTo: string | null },
): NewLink => ({
  id: ids.next(),
  token_digest: digestOf(token),
  browser_digest: browser === null ? null : digestOf(browser),
  return_to: isReturnPath(returnTo) ? returnTo : null,
  expires_at: fromMicros(untilMicros),
})
