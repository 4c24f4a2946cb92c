// A browser in which a person has signed in has a cookie that says so. It signs nobody in: it only gives the browser an allowance of
// its own at sign-in, which strangers cannot use up (tries.ts). It belongs to the cookie that names the browser.
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { readToken, writeToken } from '../core/token.ts'
import { nameOfBrowser } from './token.ts'

type App = { seal: Pick<Seal, 'sealToken' | 'openToken'>; clock: Pick<Clock, 'now'> }

export const knownBrowserToken = ({ seal, clock }: App, browser: string, person: Id): string =>
  writeToken(seal, 'known browser', { browser: nameOfBrowser(browser), person }, clock.now())

/** Returns the person who last signed in in this browser, or null if none is known. */
export function knownIn({ seal, clock }: App, browser: string, token: unknown): Id | null {
  const known = readToken(seal, 'known browser', ['browser', 'person'], token, clock.now())
  return known?.browser === nameOfBrowser(browser) ? readId(known.person) : null
}
