// The file of an export: one line of JSON in clear text, then the content, compressed and sealed with a passphrase. The
// databases of two cells have different sealing secrets, so the passphrase is what both sides know.
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { refuse } from './refusals.ts'

const NAME = 'herald-service-export'
export const FORMAT = 1
export const SHORTEST_PASSPHRASE = 12

/** Of format 1. 128 MiB and about half a second for each guess (RFC 7914). They are not read from the file: a file could ask for more. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LONGEST_HEADER = 4_096
/** More than any service has, and as much as one string can have; a bound for a file that was made to fill the memory. */
const MOST_BYTES = 2 ** 29 - 1024

type Header = { format: number; salt: string; bytes: number; sha256: string }

export async function seal(content: unknown, passphrase: string): Promise<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', await keyFrom(passphrase, salt), nonce)
  cipher.setAAD(additional(FORMAT, salt))
  const packed = await promisify(gzip)(Buffer.from(JSON.stringify(content)))
  const sealed = Buffer.concat([nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()])
  const header: Header & { is: string } = {
    is: NAME,
    format: FORMAT,
    salt: salt.toString('base64'),
    bytes: sealed.length,
    sha256: sha256(sealed),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), sealed])
}

/** Throws a refusal that says what is wrong. The checksum tells a damaged file from a wrong passphrase; the seal proves both. */
export async function open(file: Buffer, passphrase: string): Promise<unknown> {
  const { header, sealed } = split(file)
  if (header.format > FORMAT) throw refuse.newerFormat(header.format, FORMAT)
  if (sealed.length < header.bytes) throw refuse.truncated(sealed.length, header.bytes)
  if (sealed.length < NONCE_BYTES + TAG_BYTES || sha256(sealed) !== header.sha256) throw refuse.damaged()
  const salt = Buffer.from(header.salt, 'base64')
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const key = await keyFrom(passphrase, salt)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(additional(header.format, salt))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const packed = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES))
  try {
    decipher.final()
  } catch {
    throw refuse.wrongPassphrase() // the tag does not fit
  }
  try {
    const unpacked = await promisify(gunzip)(packed, { maxOutputLength: MOST_BYTES })
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(unpacked))
  } catch {
    throw refuse.notAnExport() // sealed with this passphrase, but not by an export: too large, not UTF-8, or not JSON
  }
}

function split(file: Buffer): { header: Header; sealed: Buffer } {
  const end = file.subarray(0, LONGEST_HEADER).indexOf('\n')
  if (end === -1) throw refuse.notAnExport()
  let header: unknown
  try {
    header = JSON.parse(file.subarray(0, end).toString('utf8'))
  } catch {
    throw refuse.notAnExport() // not JSON
  }
  if (!isHeader(header)) throw refuse.notAnExport()
  return { header, sealed: file.subarray(end + 1) }
}

function isHeader(value: unknown): value is Header {
  if (typeof value !== 'object' || value === null) return false
  const { is, format, salt, bytes, sha256 } = value as Record<string, unknown>
  // A newer format may have other fields.
  if (is !== NAME || !Number.isInteger(format) || Number(format) < 1) return false
  return (
    Number(format) > FORMAT || (typeof salt === 'string' && typeof bytes === 'number' && typeof sha256 === 'string')
  )
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const additional = (format: number, salt: Buffer) => Buffer.from(`${NAME} ${format} ${salt.toString('base64')}`)

// Editors add a line break to the last line of a file; the same passphrase typed on another keyboard may be composed differently.
const keyFrom = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(passphrase.trim().normalize('NFC'), salt, 32, SCRYPT, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
