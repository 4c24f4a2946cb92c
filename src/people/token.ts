// Secrets that people carry: of a session, of a browser, in a link. The database holds digests only. Tokens are random, so a plain
// digest is as good as a keyed one, and survives a new sealing secret.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const newToken = (): string => randomBytes(BYTES).toString('base64url')

/** Whether it can be a token: anything else is not looked up. */
export const isToken = (given: unknown): given is string => typeof given === 'string' && TOKEN.test(given)

export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** A digest that names a browser in a token. */
export const nameOfBrowser = (token: string): string => digestOf(token).toString('base64url')

export const sameDigest = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

/** The hidden field of forms: derived from the token of the session, or of the browser before signing in. */
export const formTokenOf = (token: string): string =>
  createHmac('sha256', token).update('form of the console').digest('base64url')

/** Compares in constant time. */
export const isFormToken = (token: string, given: unknown): boolean =>
  typeof given === 'string' && sameDigest(Buffer.from(given), Buffer.from(formTokenOf(token)))
