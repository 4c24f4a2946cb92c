// The secret of a key that was imported without it. The key keeps its id and name, and no caller can use it: the secret is random,
// nobody has seen it, and it has not the form of one that a caller could send.
import { randomBytes } from 'node:crypto'

const START = 'unknown:'
/** The form of such a secret, for schemas: 32 bytes in base64url. */
export const UNKNOWN_PATTERN = `^${START}[A-Za-z0-9_-]{43}$`

export const unknownSecret = (): string => START + randomBytes(32).toString('base64url')
export const isUnknown = (secret: string): boolean => secret.startsWith(START)
