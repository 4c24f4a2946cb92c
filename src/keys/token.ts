// The signed token of family clients: a JSON Web Token, HS256 and nothing else (RFC 7515, 7519). Reading it and checking
// it are two steps, because the interface says what is wrong with the claims before it looks at the signature.
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

/** Null when it is not a token at all. */
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
    return null // not JSON: the caller is told that the token cannot be decoded
  }
}

export function fits(token: Token, secret: string): boolean {
  const wanted = createHmac('sha256', secret).update(token.signed).digest()
  return token.signature.length === wanted.length && timingSafeEqual(token.signature, wanted)
}
