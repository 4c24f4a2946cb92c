// The end of every way to sign in: a new session, and back to where the person was.
import { noteTimeZone } from '../../people/account.ts'
import { isReturnPath } from '../../people/links.ts'
import type { Person, SignedIn, SignInMethod } from '../../people/person.ts'
import { confirmAgain, startSession } from '../../people/session.ts'
import type { Answer, Visit } from '../page.ts'

/** A path of the console; anything else leads to its first page. */
export const returnPath = (given: string | null | undefined): string => (isReturnPath(given) ? given : '/')

/** As a query for a page of signing in; nothing for the first page. */
export const withReturn = (path: string, to: string): string =>
  to === '/' ? path : `${path}?return=${encodeURIComponent(to)}`

/**
 * The session that the browser had ends: its token, which somebody else may have placed there, is worth nothing any more. `provedAt`:
 * as for startSession().
 */
export async function signIn(
  visit: Visit,
  person: Person,
  method: SignInMethod,
  { returnTo, provedAt }: { returnTo: string | null; provedAt?: number | null | undefined },
): Promise<Answer> {
  const { device, sessionToken: before } = visit
  const { token } = await startSession(visit.parts, person, { method, device, before, provedAt })
  return signedInWith(visit, person, token, returnTo)
}

/** `token`: of the new session. */
export async function signedInWith(
  visit: Visit,
  person: Person,
  token: string,
  returnTo: string | null,
): Promise<Answer> {
  await noteTimeZone(visit.parts, person, visit.form.get('time_zone'))
  return { kind: 'redirect', to: returnPath(returnTo), session: token }
}

/** The same session goes on with a new token. It may have ended meanwhile: then the person signs in. */
export async function confirm(
  visit: Visit & { signedIn: SignedIn },
  method: SignInMethod,
  returnTo: string | null,
): Promise<Answer> {
  const token = await confirmAgain(visit.parts, visit.signedIn, method)
  const to = returnPath(returnTo)
  if (token === null) return { kind: 'redirect', to: withReturn('/sign-in', to), session: null }
  return { kind: 'redirect', to: to, session: token }
}
