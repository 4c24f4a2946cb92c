// DKIM signatures (RFC 6376), relaxed/relaxed, with RSA (rsa-sha256) or Ed25519 (RFC 8463).
import { createHash, createPrivateKey, type KeyObject, sign as signSync } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { promisify } from 'node:util'
import { base64Pieces, type Content } from './content.ts'

export type DkimSettings = {
  domain: string
  selector: string
  /** PEM, RSA (2,048 bits or more) or Ed25519. */
  privateKey: string
}

export type Signer = (headers: readonly string[], body: Content, at: number) => Promise<string>

const SIGNED = [
  'from',
  'to',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'auto-submitted',
  'mime-version',
  'content-type',
]
// An RSA signature takes almost a millisecond, so it is made in libuv's thread pool.
const sign = promisify(signSync) as (algorithm: string | null, data: Buffer, key: KeyObject) => Promise<Buffer>

/** Throws when the key cannot be used, so that the program does not start with it. */
export function createSigner({ domain, selector, privateKey }: DkimSettings): Signer {
  const key = createPrivateKey(privateKey)
  const kind = key.asymmetricKeyType
  if (kind !== 'rsa' && kind !== 'ed25519') throw new Error(`a DKIM key must be RSA or Ed25519, this one is ${kind}`)
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  // Verifiers must not take less than 1,024 bits (RFC 8301, 3.2).
  if (kind === 'rsa' && bits < 1024) throw new Error(`the DKIM key has ${bits} bits, at least 1024 are needed`)

  return async (headers, body, at) => {
    const present = named(headers)
    const names = SIGNED.filter(name => present.has(name))
    const bodyHash = await relaxedHash(body)
    const unsigned =
      `DKIM-Signature: v=1; a=${kind}-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};\r\n` +
      ` t=${Math.floor(at / 1000)}; h=${names.join(':')}:from;\r\n bh=${bodyHash};\r\n b=`
    // From is listed once more than it occurs, so that adding a second From breaks the signature (RFC 6376, 8.15).
    const signed = [...names.map(name => relaxedHeader(present.get(name) ?? '')), relaxedHeader(unsigned)].join('\r\n')
    const signature = await signatureOf(Buffer.from(signed), kind, key)
    return unsigned + (signature.toString('base64').match(/.{1,72}/g) ?? []).join('\r\n ')
  }
}

// RFC 8463, 3: Ed25519 signs the hash, not the text.
const signatureOf = (data: Buffer, kind: 'rsa' | 'ed25519', key: KeyObject): Promise<Buffer> =>
  kind === 'rsa' ? sign('sha256', data, key) : sign(null, createHash('sha256').update(data).digest(), key)

function named(headers: readonly string[]): Map<string, string> {
  return new Map(headers.map(header => [header.slice(0, header.indexOf(':')).toLowerCase(), header]))
}

/** RFC 6376, 3.4.2. */
function relaxedHeader(header: string): string {
  const colon = header.indexOf(':')
  const value = header.slice(colon + 1).replace(/\r\n/g, '')
  return `${header.slice(0, colon).toLowerCase()}:${value.replace(/[\t ]+/g, ' ').trim()}`
}

const PIECE = 256 * 1024

/** The hash of the relaxed body. A long body is hashed in pieces of whole lines, yielding to the event loop between them. */
async function relaxedHash(body: Content): Promise<string> {
  const hash = createHash('sha256')
  if (typeof body === 'string' && body.length <= PIECE) return hash.update(relaxedBody(body), 'utf8').digest('base64')
  // Empty lines are hashed only when text follows them.
  let empty = ''
  for (const some of wholeLines(body)) {
    const piece = relaxedLines(some).replace(/ $/, '')
    const lines = piece.replace(/(?:\r\n)+$/, '')
    if (lines !== '') hash.update(empty + lines, 'utf8')
    empty = lines === '' ? empty + piece : piece.slice(lines.length)
    await yieldToEventLoop()
  }
  return hash.update('\r\n', 'utf8').digest('base64')
}

function* wholeLines(body: Content): Generator<string> {
  if (typeof body !== 'string') {
    for (const part of body)
      if (typeof part === 'string') yield* wholeLines(part)
      else for (const piece of base64Pieces(part)) yield piece.toString('latin1')
    return
  }
  for (let at = 0; at < body.length; ) {
    const line = body.lastIndexOf('\r\n', at + PIECE)
    const end = at + PIECE >= body.length ? body.length : line >= at ? line + 2 : body.length
    yield body.slice(at, end)
    at = end
  }
}

const relaxedLines = (text: string) => text.replace(/[\t ]+/g, ' ').replace(/ \r\n/g, '\r\n')

/** RFC 6376, 3.4.4: remove spaces at line ends and empty lines at the end; a run of spaces becomes one. */
function relaxedBody(body: string): string {
  const collapsed = relaxedLines(body)
  const end = collapsed.replace(/ $/, '').replace(/(?:\r\n)+$/, '')
  return end === '' ? '' : `${end}\r\n`
}
