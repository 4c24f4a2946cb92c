// The token in the link that changes a person's e-mail address.
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { SEALED_TOKENS } from '../core/purposes.ts'
import type { Seal } from '../core/seal.ts'
import { readToken, writeToken } from '../core/token.ts'
import { readEmail } from '../recipients/email.ts'
import { nameOfBrowser } from './token.ts'

type App = { seal: Pick<Seal, 'sealToken' | 'openToken'>; clock: Pick<Clock, 'now'> }

/** The token is valid in the browser that asked, and for as long as the person still has the address `from`. */
export type AddressChange = { person: Id; browser: string; from: string; to: string }

export const ADDRESS_LINK_MINUTES = SEALED_TOKENS['address change'].seconds / 60

/** `browser`: the cookie that names it. */
export const addressToken = ({ seal, clock }: App, { browser, ...change }: AddressChange): string =>
  writeToken(seal, 'address change', { ...change, browser: nameOfBrowser(browser) }, clock.now())

/** Returns the new address, or null unless the token is of this person and browser, has not expired, and changes the address they have. */
export function addressIn(
  { seal, clock }: App,
  { person, browser }: { person: { id: Id; email_address: string }; browser: string },
  token: unknown,
): string | null {
  const change = readToken(seal, 'address change', ['person', 'browser', 'from', 'to'], token, clock.now())
  if (change?.person !== person.id || change.from !== person.email_address) return null
  if (change.browser !== nameOfBrowser(browser)) return null
  return readEmail(change.to).ok ? change.to : null
}
