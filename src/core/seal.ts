// Encryption of secrets and personal data at rest: AES-256-GCM for what must be read again, HMAC-SHA-256 for what is only looked
// up. Messages have so many short texts that creating a cipher for each is a tenth of the cost of accepting one: for them
// XChaCha20-Poly1305 and keyed BLAKE2b of libsodium, as WebAssembly. Every sealed value starts with an id of the secret and the cipher that
// sealed it, so secrets can be rotated and old data stays readable.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'
import sodium from 'libsodium-wrappers'
import type { Cipher } from './cipher.ts'

await sodium.ready

export type Seal = {
  seal(clear: string | Buffer): Buffer
  /** The parts as one value. */
  sealParts(clear: readonly Buffer[]): Buffer
  /** For the texts of messages: short, and many. */
  sealShort(clear: string): Buffer
  /** Throws when the value was sealed with another secret or was modified. */
  open(sealed: Buffer): Buffer
  /** A keyed digest: deterministic, and useless for guessing without the secret. */
  digest(text: string): Buffer
  /** All digests under which the text may be stored: with the current secret first, then with earlier ones. */
  digests(text: string): Buffer[]
  /** As `digest`, for texts of messages. */
  mark(text: string): Buffer
  /** All marks under which the text may be stored, also those of the other cipher. */
  marks(text: string): Buffer[]
  /** Id of the current secret. `isCurrent`: the value was sealed with it. */
  id: Buffer
  isCurrent(sealed: Buffer): boolean
  same(a: Buffer, b: Buffer): boolean
}

const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LONG_NONCE_BYTES = 24

/** `secrets[0]` is the current secret; the others only open old values. */
export function createSeal(secrets: readonly string[], cipher: Cipher = 'xchacha20-poly1305'): Seal {
  const [current, ...earlier] = secrets.map(derive)
  if (!current) throw new Error('no sealing secret')
  const keys = [current, ...earlier]
  const byId = new Map<number, (sealed: Buffer) => Buffer>()
  for (const key of keys) byId.set(key.id.readUInt32BE(), sealed => opened(key.sealing, sealed))
  // Derived when they are needed: every file has a secret of its own, but no message.
  const short = once(() => {
    const all = secrets.map(deriveShort)
    for (const { id, key } of all) byId.set(id.readUInt32BE(), sealed => openedShort(key, sealed))
    return { ...(all[0] as ShortKeys), markings: all.map(one => one.marking) }
  })
  // A pool of nonces: one call to the system's random source for 341 messages instead of one each.
  const nonces = Buffer.alloc(NONCE_BYTES * 682)
  let used = nonces.length
  const nonceOf = (length: number) => {
    if (used + length > nonces.length) {
      randomFillSync(nonces)
      used = 0
    }
    used += length
    return nonces.subarray(used - length, used)
  }

  const sealParts = (clear: readonly Buffer[]): Buffer => {
    const nonce = nonceOf(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', current.sealing, nonce)
    const body = clear.map(part => cipher.update(part))
    cipher.final()
    return Buffer.concat([current.id, nonce, ...body, cipher.getAuthTag()])
  }

  const seal = (clear: string | Buffer): Buffer => sealParts([typeof clear === 'string' ? Buffer.from(clear) : clear])

  const sealShort = (clear: string): Buffer => {
    const { id, key } = short()
    const nonce = nonceOf(LONG_NONCE_BYTES)
    const body = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(Buffer.from(clear), null, null, nonce, key)
    const sealed = Buffer.allocUnsafe(ID_BYTES + LONG_NONCE_BYTES + body.length)
    id.copy(sealed)
    nonce.copy(sealed, ID_BYTES)
    sealed.set(body, ID_BYTES + LONG_NONCE_BYTES)
    return sealed
  }

  const digest = (text: string) => digestBy(current.pepper, text)
  const digests = (text: string) => keys.map(key => digestBy(key.pepper, text))

  return {
    seal,
    sealParts,
    sealShort: cipher === 'aes-256-gcm' ? seal : sealShort,
    open(sealed) {
      const id = sealed.readUInt32BE()
      if (!byId.has(id)) short()
      const open = byId.get(id)
      if (!open) throw new Error('sealed with a secret that is not configured')
      return open(sealed)
    },
    digest,
    digests,
    mark: cipher === 'aes-256-gcm' ? digest : text => markBy(short().marking, text),
    marks: text => [...short().markings.map(key => markBy(key, text)), ...digests(text)],
    id: current.id,
    isCurrent: sealed => sealed.subarray(0, ID_BYTES).equals(current.id),
    same: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  }
}

/** Seals equal texts once, so that their sealed values are equal, too. For the texts of one batch. */
export function sealsEqualOnce(seal: Pick<Seal, 'seal'>): (text: string) => Buffer {
  const sealed = new Map<string, Buffer>()
  return text => {
    const known = sealed.get(text) ?? seal.seal(text)
    sealed.set(text, known)
    return known
  }
}

function derive(secret: string) {
  const part = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, 'herald', info, bytes))
  // A key object, because a key passed as bytes is parsed again for every message (5.3 against 3.8 µs).
  return { id: part('id', ID_BYTES), sealing: createSecretKey(part('seal', 32)), pepper: part('pepper', 32) }
}

type ShortKeys = { id: Buffer; key: Buffer; marking: Buffer }

function deriveShort(secret: string): ShortKeys {
  const part = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, 'herald', info, bytes))
  return { id: part('id of short texts', ID_BYTES), key: part('short texts', 32), marking: part('marks', 32) }
}

function opened(key: KeyObject, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(ID_BYTES, ID_BYTES + NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const clear = decipher.update(sealed.subarray(ID_BYTES + NONCE_BYTES, sealed.length - TAG_BYTES))
  decipher.final()
  return clear
}

function openedShort(key: Buffer, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(ID_BYTES, ID_BYTES + LONG_NONCE_BYTES)
  const body = sealed.subarray(ID_BYTES + LONG_NONCE_BYTES)
  const clear = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, body, null, nonce, key)
  return Buffer.from(clear.buffer, clear.byteOffset, clear.byteLength)
}

const markBy = (key: Buffer, text: string) =>
  Buffer.from(sodium.crypto_generichash(MARK_BYTES, Buffer.from(text), key).buffer)
/** The shortest that libsodium makes. */
const MARK_BYTES = 16

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

const digestBy = (pepper: Buffer, text: string) => createHmac('sha256', pepper).update(text).digest()
