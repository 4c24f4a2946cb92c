// A provider on loopback whose documents a test writes itself: any claims in the ID token and in the userinfo, signed by any key.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './ends.ts'
import { CLIENT } from './oidc.ts'

type Claims = Readonly<Record<string, unknown>>

const KEY = 'the published key'
const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(claims: Claims, key: KeyObject): string {
  const text = `${encoded({ alg: 'RS256', kid: KEY })}.${encoded(claims)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

export async function oidcDocuments() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [published, foreign] = [pair(), pair()]
  let documents: { token: Claims; userinfo: Claims; isForged: boolean } = { token: {}, userinfo: {}, isForged: false }
  let nonce = ''
  const answers: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/keys': () => ({
      keys: [{ ...published.publicKey.export({ format: 'jwk' }), kid: KEY, alg: 'RS256', use: 'sig' }],
    }),
    '/token': () => {
      const now = Math.floor(Date.now() / 1000)
      const whole = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 60, nonce, ...documents.token }
      const { privateKey } = documents.isForged ? foreign : published
      return { access_token: 'x', token_type: 'bearer', id_token: signed(whole, privateKey) }
    },
    '/userinfo': () => documents.userinfo,
  }
  server.on('request', (request, response) => {
    const answer = answers[request.url ?? '']
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer?.() ?? {}))
  })
  return {
    issuer,
    /** What it says from now on. `isForged`: the ID token is signed by a key that it does not publish. */
    says(next: { token: Claims; userinfo?: Claims; isForged?: boolean }) {
      documents = { userinfo: {}, isForged: false, ...next }
    },
    /** As the browser comes back from it. */
    return(to: string): URL {
      const asked = new URL(to).searchParams
      nonce = asked.get('nonce') ?? ''
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code: 'x', state: asked.get('state') ?? '' }).toString()
      return back
    },
  }
}
