// A browser that keeps its cookies, in a network: the value of X-Forwarded-For, from a proxy that is in the settings. Nothing of
// vitest, for faults/.
import { formTokenOf } from '../../../src/people/token.ts'
import { BROWSER_COOKIE, type Page, request, SESSION_COOKIE } from './session.ts'

export type Visitor = {
  cookies: Map<string, string>
  open(path: string): Promise<Page>
  /** A form with its token. */
  send(path: string, form: Record<string, string>): Promise<Page>
  /** Asks for a link to sign in. */
  ask(email: string): Promise<Page>
}

export function visitor(address: string, network: string): Visitor {
  const cookies = new Map<string, string>()
  async function send(path: string, form?: Record<string, string>): Promise<Page> {
    const formToken = formTokenOf(cookies.get(SESSION_COOKIE) ?? cookies.get(BROWSER_COOKIE) ?? '')
    const answer = await request(address, null, path, {
      ...(form && { form: { form_token: formToken, ...form } }),
      headers: {
        'x-forwarded-for': network,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  return {
    cookies,
    open: path => send(path),
    send,
    async ask(email) {
      if (!cookies.has(BROWSER_COOKIE)) await send('/sign-in')
      return send('/sign-in', { email })
    },
  }
}
