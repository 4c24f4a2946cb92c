// The signed token of this interface family: a JSON Web Token with HS256 only (RFC 7515, 7519). Parsing and verifying are two
// steps, because the interface reports problems of the claims before it checks the signature.
import { createHmac, timingSafeEqual } from 'node:crypto'

export type Token = {
  signed: string
  signature: Buffer
  algorithm: unknown
  issuer: unknown
  issuedAt: unknown
}

const LONGEST = 4096
const BASE64URL = /^[A-Za-z0-9_-]+$/

/** Null when the text is not a JSON Web Token. */
export function readToken(text: string): Token | null {
  if (text.length > LONGEST) return null
  const [header, payload, signature, more] = text.split('.')
  if (!header || !payload || signature === undefined || more !== undefined) return null
  if (signature !== '' && !BASE64URL.test(signature)) return null
  const head = readPart(header)
  const claims = readPart(payload)
  if (!head || !claims) return null
  return {
    signed: `${header}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
    algorithm: head.alg,
    issuer: claims.iss,
    issuedAt: claims.iat,
  }
}

function readPart(part: string): Record<string, unknown> | null {
  if (!BASE64URL.test(part)) return null
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null // not JSON: reported as a token that cannot be decoded
  }
}

export function isSignedWith(token: Token, secret: string): boolean {
  const wanted = createHmac('sha256', secret).update(token.signed).digest()
  return token.signature.length === wanted.length && timingSafeEqual(token.signature, wanted)
}
