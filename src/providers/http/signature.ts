// Receipts of a generic provider are signed with a shared secret: HMAC-SHA-256 over `timestamp.body`, hexadecimal or
// base64, and not older than five minutes (reliability S-24). The form is that of Stripe and GitHub webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto'

const mostSkewMillis = 5 * 60_000

export function sign(secret: string, timestamp: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
}

export function isSigned(given: string, secret: string, timestamp: string, body: Buffer): boolean {
  const text = given.trim().replace(/^(sha256|v1)=/, '')
  const octets = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  const wanted = sign(secret, timestamp, body)
  return octets.length === wanted.length && timingSafeEqual(octets, wanted)
}

/** Seconds or milliseconds since 1970. */
export function isRecent(timestamp: string, now: number): boolean {
  if (!/^[0-9]{10,13}$/.test(timestamp)) return false
  const millis = timestamp.length > 11 ? Number(timestamp) : Number(timestamp) * 1000
  return Math.abs(now - millis) <= mostSkewMillis
}
