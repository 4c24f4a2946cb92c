// Secrets and personal data at rest: AES-256-GCM for what must be read again, HMAC-SHA-256 for what is only looked up.
// Every sealed value starts with the number of the key that sealed it, so keys can be replaced while old data stays readable.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomFillSync, timingSafeEqual } from 'node:crypto'

export type Seal = {
  seal(clear: string | Buffer): Buffer
  /** Throws when the value was not sealed by one of our keys or was changed since. */
  open(sealed: Buffer): Buffer
  /** The same text always gives the same digest; without the pepper nothing can be tried against it. */
  digest(text: string): Buffer
  same(a: Buffer, b: Buffer): boolean
}

const VERSION_BYTES = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `secrets[0]` seals; the others only open what they sealed before a rotation. Digests always use the pepper of the oldest. */
export function createSeal(secrets: readonly { version: number; secret: string }[]): Seal {
  const keys = secrets.map(({ version, secret }) => ({ version, ...derive(secret) }))
  const current = keys[0]
  const oldest = keys.at(-1)
  if (!current || !oldest) throw new Error('no sealing secret')
  const byVersion = new Map(keys.map(key => [key.version, key.sealing]))
  // A pool of nonces: one call to the system's random source for 341 messages instead of one each.
  const nonces = Buffer.alloc(NONCE_BYTES * 341)
  let used = nonces.length

  return {
    seal(clear) {
      if (used === nonces.length) {
        randomFillSync(nonces)
        used = 0
      }
      const nonce = nonces.subarray(used, used + NONCE_BYTES)
      used += NONCE_BYTES
      const cipher = createCipheriv('aes-256-gcm', current.sealing, nonce)
      const body = typeof clear === 'string' ? cipher.update(clear, 'utf8') : cipher.update(clear)
      cipher.final()
      const sealed = Buffer.allocUnsafe(VERSION_BYTES + NONCE_BYTES + body.length + TAG_BYTES)
      sealed[0] = current.version
      nonce.copy(sealed, VERSION_BYTES)
      body.copy(sealed, VERSION_BYTES + NONCE_BYTES)
      cipher.getAuthTag().copy(sealed, sealed.length - TAG_BYTES)
      return sealed
    },
    open(sealed) {
      const key = byVersion.get(sealed[0] ?? -1)
      if (!key) throw new Error(`sealed with key ${sealed[0]}, which is not configured`)
      const nonce = sealed.subarray(VERSION_BYTES, VERSION_BYTES + NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
      const clear = decipher.update(sealed.subarray(VERSION_BYTES + NONCE_BYTES, sealed.length - TAG_BYTES))
      decipher.final()
      return clear
    },
    digest: text => createHmac('sha256', oldest.pepper).update(text).digest(),
    same: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  }
}

function derive(secret: string) {
  const part = (info: string) => Buffer.from(hkdfSync('sha256', secret, 'herald', info, 32))
  return { sealing: part('seal'), pepper: part('pepper') }
}
