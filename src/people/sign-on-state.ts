// The state of a single sign-on, which goes to the provider and comes back with its answer: a sealed token for one use, one browser and
// five minutes. Anyone can begin a sign-on, so nothing is stored until the provider has answered. The token also keeps what only
// Herald may know until then: the nonce and the PKCE verifier.
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { readToken, writeToken } from '../core/token.ts'
import { nameOfBrowser } from './token.ts'

type App = { clock: Pick<Clock, 'now'>; seal: Pick<Seal, 'sealToken' | 'openToken'> }

export type Begun = {
  /** The person who confirms who they are, or null for a sign-in. */
  person: Id | null
  nonce: string
  verifier: string
  redirectUri: string
  returnTo: string | null
}

/** The state is part of addresses, which many servers limit. After a longer one the person begins at the first page. */
const LONGEST_RETURN = 500

/** `browser`: the cookie that names it. */
export function stateFor(
  { clock, seal, ids }: App & { ids: { next(): Id } },
  browser: string,
  { person, nonce, verifier, redirectUri, returnTo }: Begun,
): string {
  const fields = {
    ...{ id: ids.next(), browser: nameOfBrowser(browser), person: person ?? '', nonce, verifier, redirectUri },
    returnTo: returnTo !== null && returnTo.length <= LONGEST_RETURN ? returnTo : '',
  }
  return writeToken(seal, 'single sign-on', fields, clock.now())
}

const FIELDS = ['id', 'browser', 'person', 'nonce', 'verifier', 'redirectUri', 'returnTo'] as const

/** Returns null unless the state was made for this browser and has not expired. It may have been used. */
export function readState({ clock, seal }: App, browser: string, state: unknown): (Begun & { id: Id }) | null {
  const found = readToken(seal, 'single sign-on', FIELDS, state, clock.now())
  const id = readId(found?.id)
  if (!found || !id || found.browser !== nameOfBrowser(browser)) return null
  const { nonce, verifier, redirectUri, returnTo } = found
  return { id, person: readId(found.person), nonce, verifier, redirectUri, returnTo: returnTo || null }
}
