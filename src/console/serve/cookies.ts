// The cookies: of the session; of the browser, which names it before anybody signs in; of a browser in which somebody has signed in;
// and the language that was chosen on a page without navigation. Over https their names begin with `__Host-`: only this host can set them. On the machine itself without TLS
// they have plain names.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Language } from '../words/index.ts'

export type Names = { session: string; browser: string; known: string; language: string; isSecure: boolean }

const SECURE: Names = {
  ...{ session: '__Host-herald', browser: '__Host-herald-browser', known: '__Host-herald-known' },
  language: '__Host-herald-language',
  isSecure: true,
}
const PLAIN: Names = {
  ...{ session: 'herald-console', browser: 'herald-browser', known: 'herald-known' },
  language: 'herald-language',
  isSecure: false,
}

const DAY_SECONDS = 86_400
/** As long as a session can last at most. */
const SESSION_SECONDS = 7 * DAY_SECONDS
const BROWSER_SECONDS = 180 * DAY_SECONDS

export const namesOf = (isSecure: boolean): Names => (isSecure ? SECURE : PLAIN)

/** Of cookies with the same name the first counts. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}

const write = (reply: FastifyReply, { isSecure }: Names, name: string, value: string, seconds: number) =>
  reply.header(
    'set-cookie',
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  )

/** Null: the cookie is deleted. */
export const writeSession = (reply: FastifyReply, names: Names, token: string | null) =>
  write(reply, names, names.session, token ?? '', token === null ? 0 : SESSION_SECONDS)

/** As long as the browser is known. */
export const writeLanguage = (reply: FastifyReply, names: Names, language: Language) =>
  write(reply, names, names.language, language, BROWSER_SECONDS)

/** A token of people/known-browser.ts. */
export const writeKnown = (reply: FastifyReply, names: Names, token: string) =>
  write(reply, names, names.known, token, BROWSER_SECONDS)

export const writeBrowser = (reply: FastifyReply, names: Names, token: string) =>
  write(reply, names, names.browser, token, BROWSER_SECONDS)
