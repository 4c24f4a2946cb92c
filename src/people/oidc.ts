// The client of the OpenID Connect provider: authorization code flow with PKCE, state, nonce and the check of the issuer in the
// answer (RFC 9207), against answers of another provider.
import type { Configuration } from 'openid-client'
import type { Clock } from '../core/clock.ts'
import { isLoopback } from '../core/network.ts'
import type { SignInSettings } from './settings.ts'

/** What the provider's answer is checked against. */
export type Checks = { state: string; nonce: string; verifier: string; redirectUri: string; isFreshly: boolean }

export type Claims = {
  issuer: string
  subject: string
  email_address: string | null
  isVerified: boolean
  name: string | null
  groups: readonly string[]
  /** When the person last proved to the provider who they are, in milliseconds; null: it does not say. */
  provedAt: number | null
}

/** `down`: it does not answer, or not as a provider. `denied`: it refused the person. `wrong`: its answer does not fit. */
export type ProviderFault = { fault: 'down' | 'denied' | 'wrong'; code: string }

export type OidcClient = {
  /**
   * Where the browser goes. `stateOf`: makes the state, which keeps the proof until the browser comes back. `isFreshly`: the provider
   * proves again who it is, even if the person is signed in there.
   */
  begin(
    stateOf: (proof: Pick<Checks, 'nonce' | 'verifier'>) => string,
    redirectUri: string,
    options: { isFreshly: boolean },
  ): Promise<{ to: string; checks: Checks } | ProviderFault>
  /** `returned`: the query with which the browser came back. */
  end(returned: URLSearchParams, checks: Checks): Promise<Claims | ProviderFault>
}

const TIMEOUT_SECONDS = 10
const DISCOVERED_MS = 3_600_000
/** After a fresh proof of who it is, the provider's time of it may be this old. */
const FRESH_SECONDS = 300

/** Null: single sign-on is not configured. */
export function createOidcClient(settings: SignInSettings, clock: Clock): OidcClient | null {
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings
  if (issuer === null || clientId === null) return null
  // Loaded only where single sign-on is configured and used.
  const library = () => import('openid-client')
  let discovered: { at: number; provider: Promise<Configuration> } | null = null

  const discover = async () => {
    const client = await library()
    const server = new URL(issuer)
    const secret = settings.oidcClientSecret
    return client.discovery(
      server,
      clientId,
      { ...(secret !== null && { client_secret: secret }) },
      secret === null ? client.None() : undefined,
      {
        timeout: TIMEOUT_SECONDS,
        execute: [
          // Off by default, because the token comes over TLS from the provider itself. What ends TLS in between could forge it.
          client.enableNonRepudiationChecks,
          ...(isLoopback(server.hostname) ? [client.allowInsecureRequests] : []),
        ],
      },
    )
  }
  const provider = () => {
    if (!discovered || clock.now() - discovered.at > DISCOVERED_MS) {
      const current = { at: clock.now(), provider: discover() }
      discovered = current
      current.provider.catch(() => {
        if (discovered === current) discovered = null // asked again the next time
      })
    }
    return discovered.provider
  }

  return {
    async begin(stateOf, redirectUri, { isFreshly }) {
      try {
        const client = await library()
        const nonce = client.randomNonce()
        const verifier = client.randomPKCECodeVerifier()
        const state = stateOf({ nonce, verifier })
        const to = client.buildAuthorizationUrl(await provider(), {
          redirect_uri: redirectUri,
          scope: settings.oidcScopes,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(isFreshly && { prompt: 'login', max_age: '0' }),
        })
        return { to: to.href, checks: { state, nonce, verifier, redirectUri, isFreshly } }
      } catch (error) {
        return faultFrom(error)
      }
    },
    async end(returned, checks) {
      try {
        const client = await library()
        const config = await provider()
        const url = new URL(checks.redirectUri)
        url.search = returned.toString()
        const tokens = await client.authorizationCodeGrant(config, url, {
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          pkceCodeVerifier: checks.verifier,
          idTokenExpected: true,
          ...(checks.isFreshly && { maxAge: FRESH_SECONDS }),
        })
        const proved = tokens.claims()
        if (!proved) return { fault: 'wrong', code: 'no id token' }
        const wanted = ['email', 'email_verified', 'name', settings.oidcGroupsClaim]
        const isComplete = wanted.every(claim => claim in proved)
        const more =
          isComplete || !config.serverMetadata().userinfo_endpoint
            ? {}
            : await client.fetchUserInfo(config, tokens.access_token, proved.sub)
        return claimsFrom(proved, more, settings)
      } catch (error) {
        return faultFrom(error)
      }
    },
  }
}

type Document = Readonly<Record<string, unknown>>

/** `proved`: the ID token. `more`: the answer of the userinfo endpoint, for claims that the token lacks. */
function claimsFrom(proved: Document & { iss: string; sub: string }, more: Document, settings: SignInSettings): Claims {
  const groups = proved[settings.oidcGroupsClaim] ?? more[settings.oidcGroupsClaim]
  return {
    issuer: proved.iss,
    subject: proved.sub,
    ...addressFrom([proved, more], settings.oidcTrustEmail),
    name: text(proved.name) ?? text(more.name),
    groups: (Array.isArray(groups) ? groups : [groups]).filter(group => typeof group === 'string'),
    // Of the ID token alone, which the provider has signed.
    provedAt: typeof proved.auth_time === 'number' ? Math.floor(proved.auth_time) * 1_000 : null,
  }
}

/**
 * An address counts as verified only by a claim that stands beside it in the same document. Two documents with different addresses
 * verify neither. `isTrusted`: an address that no document makes a statement about counts as verified.
 */
function addressFrom(documents: readonly Document[], isTrusted: boolean): Pick<Claims, 'email_address' | 'isVerified'> {
  const stated = documents.flatMap(({ email, email_verified }) => {
    const address = text(email)
    return address === null ? [] : [{ address, email_verified }]
  })
  const [first, ...others] = stated
  if (!first) return { email_address: null, isVerified: false }
  const isOne = others.every(({ address }) => address.toLowerCase() === first.address.toLowerCase())
  const claims = stated.flatMap(({ email_verified }) => email_verified ?? [])
  // Some providers write the boolean as text.
  const areTrue = claims.every(claim => claim === true || claim === 'true')
  return { email_address: first.address, isVerified: isOne && areTrue && (claims.length > 0 || isTrusted) }
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null)

/** The code of the library, or of OAuth: both are constants, without personal data. */
function faultFrom(error: unknown): ProviderFault {
  const code = codeOf(error)
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return { fault: 'denied', code: oauthErrorOf(error) ?? code }
  const isDown = DOWN.has(code) || error instanceof TypeError || causeOf(error) instanceof TypeError
  return { fault: isDown ? 'down' : 'wrong', code }
}

const DOWN = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_MISSING_SERVER_METADATA',
])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : null)
const oauthErrorOf = (error: unknown): string | null =>
  error instanceof Error && 'error' in error && typeof error.error === 'string' && /^[a-z_]{1,60}$/.test(error.error)
    ? error.error
    : null
