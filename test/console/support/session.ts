// People who are signed in, as browsers and as plain HTTP. Nothing of vitest, for scripts/shots.ts.
import type { Parts } from '../../../src/parts.ts'
import { startSession } from '../../../src/people/session.ts'
import { formTokenOf, newToken } from '../../../src/people/token.ts'
import type { Cookie } from './browser.ts'
import type { PlantedPerson } from './plant.ts'

/** The names on loopback without TLS. */
export const SESSION_COOKIE = 'herald-console'
export const BROWSER_COOKIE = 'herald-browser'
export const KNOWN_COOKIE = 'herald-known'
export const CONSOLE = '/console'

export type SignedInAs = { token: string; cookie: Cookie; formToken: string }

export async function signIn(parts: Parts, person: PlantedPerson): Promise<SignedInAs> {
  const { token } = await startSession(parts, person, { method: 'link', device: 'Chromium on Linux' })
  return asSession(token)
}

export const asSession = (token: string): SignedInAs => ({
  token,
  cookie: { name: SESSION_COOKIE, value: token },
  formToken: formTokenOf(token),
})

export type Page = { status: number; headers: Headers; text: string; location: string | null }
type Options = {
  form?: Record<string, string> | undefined
  /** As a form with a file is sent. */
  multipart?: boolean
  headers?: Record<string, string>
  method?: string
}

/** A browser in which nobody is signed in. */
function asBrowser(): Pick<SignedInAs, 'cookie' | 'formToken'> {
  const value = newToken()
  return { cookie: { name: BROWSER_COOKIE, value }, formToken: formTokenOf(value) }
}

/** One request as a browser on the console would send it; `who` null: nobody is signed in. A form gets its token unless it has one. */
export async function request(
  address: string,
  signedIn: Pick<SignedInAs, 'cookie' | 'formToken'> | null,
  path: string,
  options: Options = {},
): Promise<Page> {
  const who = signedIn ?? asBrowser()
  const { form, method = form ? 'POST' : 'GET' } = options
  const fields = form && { form_token: who.formToken, ...form }
  const response = await fetch(address + CONSOLE + (path === '/' ? '' : path), {
    method,
    redirect: 'manual',
    headers: {
      accept: 'text/html',
      cookie: `${who.cookie.name}=${who.cookie.value}`,
      ...(fields && {
        ...(!options.multipart && { 'content-type': 'application/x-www-form-urlencoded' }),
        origin: address,
        'sec-fetch-site': 'same-origin',
      }),
      ...options.headers,
    },
    ...(fields && { body: options.multipart ? multipartOf(fields) : new URLSearchParams(fields).toString() }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, location: response.headers.get('location') }
}

function multipartOf(fields: Record<string, string>): FormData {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return body
}
