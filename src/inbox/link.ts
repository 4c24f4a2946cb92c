// The link opens the inbox for a day. Its token is signed by the sealing secret: every process and the command line can make one and
// check it, nothing is stored, and a new HERALD_SECRET ends all of them.
import type { Clock } from '../core/clock.ts'
import { isLoopback } from '../core/network.ts'
import type { Seal } from '../core/seal.ts'
import { isSignature, writeSignature } from '../core/token.ts'

type Signing = { seal: Pick<Seal, 'sign' | 'isSigned'>; clock: Pick<Clock, 'now'> }

const PROVEN = 'may read the inbox'

export const inboxToken = ({ seal, clock }: Signing): string => writeSignature(seal, 'inbox link', PROVEN, clock.now())

export const isInboxToken = ({ seal, clock }: Signing, token: unknown): boolean =>
  isSignature(seal, 'inbox link', PROVEN, token, clock.now())

/** The page answers only to callers on this machine. Null: the service does not listen on a loopback address. */
export function inboxLink(app: Signing, { host, port }: { host: string; port: number }): string | null {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  if (!isEverywhere && !isLoopback(host)) return null
  const name = isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}/inbox?token=${inboxToken(app)}`
}
