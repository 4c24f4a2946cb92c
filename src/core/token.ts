// Tokens that leave the process and come back as proof. All of them expire. Reading is strict: a token has exactly the fields of its
// kind, as texts, and a time of expiry that its kind allows.
import { SEALED_TOKENS, type SealedToken, SIGNED_TOKENS, type SignedToken } from './purposes.ts'
import type { Seal } from './seal.ts'

const TEXT = /^[A-Za-z0-9_-]{40,4000}$/
/** The clocks of two machines may differ by as much. */
const SKEW_MS = 5 * 60_000

/** A token that can be read here only, as it stands in a URL. */
export const writeToken = (
  seal: Pick<Seal, 'sealToken'>,
  purpose: SealedToken,
  fields: Readonly<Record<string, string>>,
  now: number,
): string =>
  seal
    .sealToken(purpose, JSON.stringify({ ...fields, until: now + SEALED_TOKENS[purpose].seconds * 1_000 }))
    .toString('base64url')

/** Returns null unless the text is a token of this purpose with exactly these fields, and has not expired. */
export function readToken<Name extends string>(
  seal: Pick<Seal, 'openToken'>,
  purpose: SealedToken,
  names: readonly Name[],
  token: unknown,
  now: number,
): Record<Name, string> | null {
  const content = typeof token === 'string' && TEXT.test(token) ? contentOf(seal, purpose, token) : null
  if (content === null) return null
  const { until, ...fields } = content
  if (!isValidUntil(until, now, SEALED_TOKENS[purpose].seconds)) return null
  const hasAll = names.every(name => typeof fields[name] === 'string') && Object.keys(fields).length === names.length
  return hasAll ? (fields as Record<Name, string>) : null
}

function contentOf(seal: Pick<Seal, 'openToken'>, purpose: SealedToken, token: string): Record<string, unknown> | null {
  try {
    const content: unknown = JSON.parse(seal.openToken(purpose, Buffer.from(token, 'base64url')).toString('utf8'))
    const isObject = typeof content === 'object' && content !== null && !Array.isArray(content)
    return isObject ? (content as Record<string, unknown>) : null
  } catch {
    return null // not sealed for this purpose by the current secret
  }
}

const isValidUntil = (until: unknown, now: number, seconds: number): until is number =>
  Number.isSafeInteger(until) && Number(until) > now && Number(until) <= now + seconds * 1_000 + SKEW_MS

type SignedWithExpiry = {
  [Name in SignedToken]: (typeof SIGNED_TOKENS)[Name]['seconds'] extends number ? Name : never
}[SignedToken]

/** A token that proves `text` until it expires. The text is not in it: the reader knows it. */
export function writeSignature(seal: Pick<Seal, 'sign'>, purpose: SignedWithExpiry, text: string, now: number): string {
  const until = now + SIGNED_TOKENS[purpose].seconds * 1_000
  return `${until.toString(36)}.${seal.sign(purpose, signed(text, until)).toString('base64url')}`
}

/** Whether the token proves `text` and has not expired. */
export function isSignature(
  seal: Pick<Seal, 'isSigned'>,
  purpose: SignedWithExpiry,
  text: string,
  token: unknown,
  now: number,
): boolean {
  const [, digits, signature] = (typeof token === 'string' && SIGNATURE.exec(token)) || []
  if (digits === undefined || signature === undefined) return false
  const until = Number.parseInt(digits, 36)
  return (
    isValidUntil(until, now, SIGNED_TOKENS[purpose].seconds) &&
    seal.isSigned(purpose, signed(text, until), Buffer.from(signature, 'base64url'))
  )
}

const SIGNATURE = /^([0-9a-z]{8,9})\.([A-Za-z0-9_-]{43})$/
const signed = (text: string, until: number) => `${until} ${text}`
