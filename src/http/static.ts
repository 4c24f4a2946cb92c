// Files that are the same for everyone: made once, compressed once, and answered with 304 to a caller that has them already.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type StaticFile = {
  type: string
  /** The first characters of its SHA-256, for its name and its ETag. */
  hash: string
  bytes: Buffer
  /** Null: it is not compressed. */
  zipped: Buffer | null
}

const HASH_LENGTH = 12

export function staticFile(type: string, content: string | Buffer, { isZipped = true } = {}): StaticFile {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content)
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_LENGTH)
  return { type, hash, bytes, zipped: isZipped ? gzipSync(bytes) : null }
}

/** For a file whose name contains its hash. */
export const FOR_EVER = 'public, max-age=31536000, immutable'

/** `headers`: in addition to those of every file. Without a `cache-control` a browser asks each time whether it has changed. */
export function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, hash, bytes, zipped }: StaticFile,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  const body = zipped && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') ? zipped : bytes
  const etag = body === bytes ? `"${hash}"` : `"${hash}-gzip"`
  reply.headers({
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...headers,
    etag,
    // A list: the header of allowed origins may be there already.
    vary: [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '),
  })
  if (hasIt(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (body === zipped) reply.header('content-encoding', 'gzip')
  return reply.type(type).send(body)
}

/** Compared weakly (RFC 9110, 13.1.2): a proxy that compresses marks the tag as weak. */
const hasIt = (given: string | undefined, etag: string) =>
  (given ?? '').split(',').some(one => ['*', etag].includes(one.trim().replace(/^W\//, '')))
