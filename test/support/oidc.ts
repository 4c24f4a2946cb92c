// A real OpenID Connect provider on loopback. Its people sign in without a form: a test says who is there.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './ends.ts'

export type Account = {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
  groups?: readonly string[]
}

type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }
type Context = { oidc: { client: { clientId: string }; session: { accountId: string }; provider: Provider } }
type Provider = {
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  Grant: new (of: { clientId: string; accountId: string }) => Grant
}

export const CLIENT = { id: 'herald', secret: 'a secret of the client, long enough for everything' }

/** `redirectUris`: where its clients may be sent back to. */
export async function oidcProvider({ redirectUris }: { redirectUris: readonly string[] }) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  let present: Account | null = null
  const accounts = new Map<string, Account>()
  // The package has no types.
  const { default: Library } = (await import('oidc-provider' as string)) as {
    default: new (issuer: string, settings: object) => Provider
  }
  const provider = new Library(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: { email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a key of a test'] },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub) }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/there/${uid}` },
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/there/')) return answer(request, response)
    const result = present
      ? { login: { accountId: present.sub } }
      : { error: 'access_denied', error_description: 'nobody is there' }
    void provider.interactionFinished(request, response, result)
  })
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  atEnd(stop)
  return {
    issuer,
    port,
    stop,
    /** Who sits in front of the browser; null: somebody who is refused. */
    is(account: Account | null) {
      present = account
      if (account) accounts.set(account.sub, account)
    },
    /** Follows redirects as a browser would, up to the one that leaves the provider. */
    async walk(to: string): Promise<URL> {
      const cookies = new Map<string, string>()
      let next = new URL(to)
      while (next.origin === issuer) {
        const response = await fetch(next, {
          redirect: 'manual',
          headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        })
        for (const cookie of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
          cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (!location) throw new Error(`the provider stopped at ${response.status}: ${await response.text()}`)
        next = new URL(location, next)
      }
      return next
    },
  }
}
