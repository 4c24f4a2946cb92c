// Encryption of secrets and personal data, and what proves that a token is ours. Every value has a purpose (purposes.ts), and every
// purpose its own keys, derived from the secret by HKDF: what was sealed for one purpose does not open for another. Data that is
// stored and tokens that leave the process are two branches of the derivation.
//
// A sealed value is: 4 bytes that name secret and purpose, 1 byte that names the cipher, a nonce of 24 bytes, the text, a tag of 16
// bytes. Short texts are many, and creating a cipher for each was a tenth of the cost of accepting a message: they are sealed by
// libsodium's XChaCha20-Poly1305, as WebAssembly. Long ones are sealed by XAES-256-GCM, and all of them where HERALD_CIPHER says so.
// Random nonces of 192 bits need not be counted.
import { createHmac, type Hmac, hkdfSync, randomFillSync, timingSafeEqual } from 'node:crypto'
import sodium from 'libsodium-wrappers'
import type { Cipher, SealFormat } from './cipher.ts'
import {
  type DigestPurpose,
  type SealedToken,
  SIGNED_TOKENS,
  type SignedToken,
  type StoredPurpose,
} from './purposes.ts'
import { createSealBefore } from './seal-before.ts'
import { SecretMissing } from './secret-missing.ts'
import { createXaes, NONCE_BYTES, TAG_BYTES, type Xaes } from './xaes.ts'

await sodium.ready

export type Seal = {
  /** Seals data that is stored. */
  seal(purpose: StoredPurpose, clear: string | Buffer): Buffer
  /** Seals the parts as one value. */
  sealParts(purpose: StoredPurpose, clear: readonly Buffer[]): Buffer
  /** Throws when the value was sealed for another purpose or with another secret, or was modified. */
  open(purpose: StoredPurpose, sealed: Buffer): Buffer
  /** Names the secret, the purpose and the format: the first bytes of everything that `seal` makes. */
  idFor(purpose: StoredPurpose): Buffer
  /** The first bytes of everything that `open` opens: of all secrets, in all formats. */
  ids(purpose: StoredPurpose): Buffer[]
  /** Whether the value was sealed with the current secret and in the current format. */
  isCurrent(purpose: StoredPurpose, sealed: Buffer): boolean
  /** Seals a token. Use writeToken() and readToken() of token.ts, which check its expiry. */
  sealToken(purpose: SealedToken, clear: string): Buffer
  /** Throws for everything but a token of this purpose that the current secret has sealed. */
  openToken(purpose: SealedToken, sealed: Buffer): Buffer
  /** Signs the text of a token. */
  sign(purpose: SignedToken, text: string): Buffer
  /** Compares in constant time. */
  isSigned(purpose: SignedToken, text: string, signature: Buffer): boolean
  /** A keyed digest: deterministic, and useless for guessing without the secret. */
  digest(purpose: DigestPurpose, text: string): Buffer
  /** All digests under which the text may be stored: with the current secret first, then with earlier ones, then without purpose. */
  digests(purpose: DigestPurpose, text: string): Buffer[]
  /** As `digests`, of something long: one for each secret, the current one first. */
  digesters(purpose: DigestPurpose): [Hmac, ...Hmac[]]
  /** As `digest`, for the texts of messages: many. */
  mark(purpose: DigestPurpose, text: string): Buffer
  /** All marks under which the text may be stored, also those of the other cipher. */
  marks(purpose: DigestPurpose, text: string): Buffer[]
  /** Names the current secret. */
  secretId: Buffer
  format: SealFormat
  /** A seal of the same kind with another secret: the key of a file, or the token of its link. */
  keyedBy(secret: string): Seal
}

/** Null: sealed with a secret that is not configured any more. */
export function openable(seal: Seal, purpose: StoredPurpose, sealed: Buffer): Buffer | null {
  try {
    return seal.open(purpose, sealed)
  } catch {
    return null
  }
}

const ID_BYTES = 4
const SECRET_BYTES = 32
const TEXT_AT = ID_BYTES + 1 + NONCE_BYTES
const XCHACHA = 1
const XAES = 2
/** Measured: up to here libsodium is faster than creating a cipher of OpenSSL. */
const LONGEST_SHORT = 2_048
const MARK_BYTES = 16

/** `secrets[0]` is the current secret; the others only open what is stored. */
export function createSeal(
  secrets: readonly string[],
  { cipher = 'xchacha20-poly1305', format = '2' }: { cipher?: Cipher; format?: SealFormat } = {},
): Seal {
  const [current] = secrets
  if (current === undefined) throw new Error('no sealing secret')
  const nonceOf = createNonces()
  // Derived when they are needed: every file has a secret of its own, and one or two purposes.
  const before = once(() => createSealBefore(secrets))
  const storedKeys = keysBy((purpose: StoredPurpose) => secrets.map(secret => sealingKey(secret, `stored ${purpose}`)))
  const tokenKeys = keysBy((purpose: SealedToken) => [sealingKey(current, `token ${purpose}`)])
  const signingKeys = keysBy((purpose: SignedToken) => {
    const { secrets: accepted, info }: { secrets: string; info?: string } = SIGNED_TOKENS[purpose]
    return (accepted === 'all' ? secrets : [current]).map(secret =>
      derived(secret, info ?? `signature ${purpose}`, SECRET_BYTES),
    )
  })
  const digestKeys = keysBy((purpose: DigestPurpose) =>
    secrets.map(secret => derived(secret, `digest ${purpose}`, SECRET_BYTES)),
  )
  const markKeys = keysBy((purpose: DigestPurpose) =>
    secrets.map(secret => derived(secret, `mark ${purpose}`, SECRET_BYTES)),
  )

  function sealedBy(key: SealingKey, clear: readonly Buffer[]): Buffer {
    const nonce = nonceOf()
    const [only] = clear
    const isShort =
      cipher === 'xchacha20-poly1305' && clear.length === 1 && only !== undefined && only.length <= LONGEST_SHORT
    return isShort ? withXchacha(key, nonce, only) : withXaes(key, nonce, clear)
  }

  const sealParts = (purpose: StoredPurpose, clear: readonly Buffer[]): Buffer =>
    format === '1' ? before().seal(clear) : sealedBy(storedKeys(purpose)[0], clear)
  const idFor = (purpose: StoredPurpose) => (format === '1' ? before().id : storedKeys(purpose)[0].id)
  const digestsOf = (purpose: DigestPurpose, text: string) => digestKeys(purpose).map(key => hmac(key, text))
  const signatureBy = (purpose: SignedToken, key: Buffer, text: string) =>
    hmac(key, text).subarray(0, SIGNED_TOKENS[purpose].bytes)

  const digest = (purpose: DigestPurpose, text: string): Buffer =>
    format === '1' ? (before().digests(text)[0] as Buffer) : hmac(digestKeys(purpose)[0], text)

  return {
    seal: (purpose, clear) => sealParts(purpose, [typeof clear === 'string' ? Buffer.from(clear) : clear]),
    sealParts,
    open(purpose, sealed) {
      const clear = openedBy(storedKeys(purpose), sealed) ?? before().open(sealed)
      if (!clear) throw new SecretMissing(purpose)
      return clear
    },
    idFor,
    ids: purpose => [...storedKeys(purpose).map(({ id }) => id), ...before().ids],
    isCurrent: (purpose, sealed) => sealed.subarray(0, ID_BYTES).equals(idFor(purpose)),
    sealToken: (purpose, clear) => sealedBy(tokenKeys(purpose)[0], [Buffer.from(clear)]),
    openToken(purpose, sealed) {
      const clear = openedBy(tokenKeys(purpose), sealed)
      if (!clear) throw new Error('not a token of this purpose, or one of an earlier secret')
      return clear
    },
    sign: (purpose, text) => signatureBy(purpose, signingKeys(purpose)[0], text),
    isSigned: (purpose, text, signature) =>
      signingKeys(purpose).some(key => same(signatureBy(purpose, key, text), signature)),
    digest,
    digests: (purpose, text) => [...digestsOf(purpose, text), ...before().digests(text)],
    digesters(purpose) {
      const [key, ...earlier] = digestKeys(purpose)
      return [createHmac('sha256', key), ...earlier.map(one => createHmac('sha256', one))]
    },
    mark: cipher === 'aes-256-gcm' || format === '1' ? digest : (purpose, text) => blake2b(markKeys(purpose)[0], text),
    marks: (purpose, text) => [
      ...markKeys(purpose).map(key => blake2b(key, text)),
      ...digestsOf(purpose, text),
      ...before().marks(text),
      ...before().digests(text),
    ],
    get secretId() {
      return before().id
    },
    format,
    keyedBy: secret => createSeal([secret], { cipher, format }),
  }
}

/** Seals equal texts once, so that their sealed values are equal, too. For the texts of one batch. */
export function sealsEqualOnce(seal: Pick<Seal, 'seal'>, purpose: StoredPurpose): (text: string) => Buffer {
  const sealed = new Map<string, Buffer>()
  return text => {
    const known = sealed.get(text) ?? seal.seal(purpose, text)
    sealed.set(text, known)
    return known
  }
}

/** A key for each cipher, so that changing the byte that names the cipher does not help. */
type SealingKey = { id: Buffer; xchacha: Buffer; xaes(): Xaes }

function sealingKey(secret: string, info: string): SealingKey {
  const bytes = derived(secret, info, ID_BYTES + 2 * SECRET_BYTES)
  const key = bytes.subarray(ID_BYTES + SECRET_BYTES)
  return {
    id: bytes.subarray(0, ID_BYTES),
    xchacha: bytes.subarray(ID_BYTES, ID_BYTES + SECRET_BYTES),
    xaes: once(() => createXaes(key)),
  }
}

function withXchacha({ id, xchacha }: SealingKey, nonce: Buffer, clear: Buffer): Buffer {
  const body = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(clear, null, null, nonce, xchacha)
  const sealed = Buffer.allocUnsafe(TEXT_AT + body.length)
  id.copy(sealed)
  sealed[ID_BYTES] = XCHACHA
  nonce.copy(sealed, ID_BYTES + 1)
  sealed.set(body, TEXT_AT)
  return sealed
}

const withXaes = ({ id, xaes }: SealingKey, nonce: Buffer, clear: readonly Buffer[]): Buffer =>
  Buffer.concat([id, Buffer.of(XAES), nonce, ...xaes().seal(nonce, clear)])

/** Returns null if none of the keys has sealed the value, and throws if it was modified. */
function openedBy(keys: readonly SealingKey[], sealed: Buffer): Buffer | null {
  if (sealed.length < ID_BYTES) throw new Error('too short to be sealed')
  const id = sealed.readUInt32BE()
  const key = keys.find(one => one.id.readUInt32BE() === id)
  if (!key) return null
  if (sealed.length < TEXT_AT + TAG_BYTES) throw new Error('too short to be sealed')
  const nonce = sealed.subarray(ID_BYTES + 1, TEXT_AT)
  const body = sealed.subarray(TEXT_AT)
  if (sealed[ID_BYTES] === XAES) return key.xaes().open(nonce, body)
  if (sealed[ID_BYTES] !== XCHACHA) throw new Error('sealed by a cipher that this version does not know')
  const clear = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, body, null, nonce, key.xchacha)
  return Buffer.from(clear.buffer, clear.byteOffset, clear.byteLength)
}

/** The keys of a purpose, of the current secret first. Derived once. */
function keysBy<Purpose extends string, Key>(
  derive: (purpose: Purpose) => Key[],
): (purpose: Purpose) => readonly [Key, ...Key[]] {
  const known = new Map<Purpose, readonly [Key, ...Key[]]>()
  return purpose => {
    const keys = known.get(purpose) ?? (derive(purpose) as [Key, ...Key[]])
    known.set(purpose, keys)
    return keys
  }
}

/** A pool of nonces: one call to the system's random source for 256 values instead of one each. */
function createNonces(): () => Buffer {
  const pool = once(() => Buffer.alloc(NONCE_BYTES * 256))
  let used = Number.POSITIVE_INFINITY
  return () => {
    const nonces = pool()
    if (used + NONCE_BYTES > nonces.length) {
      randomFillSync(nonces)
      used = 0
    }
    used += NONCE_BYTES
    return nonces.subarray(used - NONCE_BYTES, used)
  }
}

const derived = (secret: string, info: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'herald', info, bytes))

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const blake2b = (key: Buffer, text: string) =>
  Buffer.from(sodium.crypto_generichash(MARK_BYTES, Buffer.from(text), key).buffer)

const same = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
