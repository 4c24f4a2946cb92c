// The first format of sealed data, without purposes: versions 0.1 and 0.2 read no other. Data of that time stays readable. It is
// written only with HERALD_SEAL_FORMAT=1, while such a version runs on the same database.
import { createCipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import sodium from 'libsodium-wrappers'
import { openGcm } from './xaes.ts'

const ID_BYTES = 4
const NONCE_BYTES = 12
const LONG_NONCE_BYTES = 24
const MARK_BYTES = 16

export type SealBefore = {
  seal(clear: readonly Buffer[]): Buffer
  /** Returns null if none of the secrets has sealed the value in this format, and throws if it was modified. */
  open(sealed: Buffer): Buffer | null
  digests(text: string): Buffer[]
  marks(text: string): Buffer[]
  /** Names the current secret. */
  id: Buffer
  /** The first bytes of everything that can be opened. */
  ids: readonly Buffer[]
}

/** The caller has awaited `sodium.ready`. */
export function createSealBefore(secrets: readonly string[]): SealBefore {
  const [current, ...earlier] = secrets.map(derive)
  if (!current) throw new Error('no sealing secret')
  const all = [current, ...earlier]
  const openers = new Map<number, (sealed: Buffer) => Buffer>()
  for (const { id, sealing, shortId, short } of all) {
    openers.set(id.readUInt32BE(), sealed =>
      openGcm(sealing, sealed.subarray(ID_BYTES, ID_BYTES + NONCE_BYTES), sealed.subarray(ID_BYTES + NONCE_BYTES)),
    )
    openers.set(shortId.readUInt32BE(), sealed => openedShort(short, sealed))
  }
  return {
    seal(clear) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.sealing, nonce)
      const body = clear.map(part => cipher.update(part))
      cipher.final()
      return Buffer.concat([current.id, nonce, ...body, cipher.getAuthTag()])
    },
    open: sealed => openers.get(sealed.readUInt32BE())?.(sealed) ?? null,
    digests: text => all.map(({ pepper }) => createHmac('sha256', pepper).update(text).digest()),
    marks: text =>
      all.map(({ marking }) => Buffer.from(sodium.crypto_generichash(MARK_BYTES, Buffer.from(text), marking))),
    id: current.id,
    ids: all.flatMap(({ id, shortId }) => [id, shortId]),
  }
}

function derive(secret: string) {
  const part = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, 'herald', info, bytes))
  return {
    ...{ id: part('id', ID_BYTES), sealing: createSecretKey(part('seal', 32)), pepper: part('pepper', 32) },
    ...{ shortId: part('id of short texts', ID_BYTES), short: part('short texts', 32), marking: part('marks', 32) },
  }
}

function openedShort(key: Buffer, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(ID_BYTES, ID_BYTES + LONG_NONCE_BYTES)
  const body = sealed.subarray(ID_BYTES + LONG_NONCE_BYTES)
  return Buffer.from(sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, body, null, nonce, key))
}
