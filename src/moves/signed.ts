// Secrets of keys and tokens of callbacks as the reference implementation stores them: signed, not encrypted. The text is `<payload>.<signature>`, both in
// base64url; the payload is JSON, and deflated when it begins with a dot. The signature is HMAC-SHA1 with a key that is
// SHA1(salt + "signer" + secret) (the URLSafeSerializer of the Python package itsdangerous, with its defaults).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { inflateSync } from 'node:zlib'

/** The key that signed; a list while the installation changes it. Null: the salts that the reference uses. */
export type Signing = { secrets: readonly string[]; salt: string | null }

/** By what is signed. */
export const SALTS = { key: 'api_key', token: 'bearer_token' } as const

const MOST_BYTES = 10_000

/** Null: none of the secrets has signed this text, or it is no text of this form. */
export function verified(text: string, what: keyof typeof SALTS, { secrets, salt }: Signing): string | null {
  const end = text.lastIndexOf('.')
  const payload = text.slice(0, Math.max(end, 0))
  const signature = Buffer.from(text.slice(end + 1), 'base64url')
  const fits = (secret: string) => {
    const key = createHash('sha1')
      .update(`${salt ?? SALTS[what]}signer${secret}`)
      .digest()
    const wanted = createHmac('sha1', key).update(payload).digest()
    return wanted.length === signature.length && timingSafeEqual(wanted, signature)
  }
  return secrets.some(fits) ? read(payload) : null
}

function read(payload: string): string | null {
  try {
    const json = payload.startsWith('.')
      ? inflateSync(Buffer.from(payload.slice(1), 'base64url'), { maxOutputLength: MOST_BYTES })
      : Buffer.from(payload, 'base64url')
    const value: unknown = JSON.parse(json.toString('utf8'))
    return typeof value === 'string' ? value : null
  } catch {
    return null // signed by the same secret, but something else
  }
}
