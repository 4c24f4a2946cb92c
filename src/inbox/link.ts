// The link opens the inbox. Its token is derived from the sealing secret: every process and the command line compute the same one,
// nothing is stored, and a new HERALD_SECRET gives a new token.
import type { Seal } from '../core/seal.ts'

const digestOf = (seal: Pick<Seal, 'digest'>) => seal.digest('token of the inbox')

export const inboxToken = (seal: Pick<Seal, 'digest'>): string => digestOf(seal).toString('base64url')

/** Compares in constant time. */
export const isInboxToken = (seal: Pick<Seal, 'digest' | 'same'>, given: unknown): boolean =>
  typeof given === 'string' && seal.same(Buffer.from(given, 'base64url'), digestOf(seal))

/** The page answers only to callers on this machine. Null: the service does not listen on a loopback address. */
export function inboxLink(seal: Pick<Seal, 'digest'>, { host, port }: { host: string; port: number }): string | null {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  if (!isEverywhere && !LOCAL_HOST.test(host)) return null
  const name = isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}/inbox?token=${inboxToken(seal)}`
}

const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|::1)$/i
