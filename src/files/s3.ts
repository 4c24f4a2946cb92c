// An S3-compatible store: three requests, signed by AWS Signature Version 4
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). The bucket is in the path, which
// every S3-compatible server supports.
import { createHash, createHmac } from 'node:crypto'
import type { Id } from '../core/id.ts'
import { type FileStore, MARK_NAME } from './store.ts'

export type S3Settings = {
  url: string
  bucket: string
  region: string
  key: string
  secret: string
  /** Milliseconds since 1970. */
  now(): number
}

const TIMEOUT_MS = 10_000
/** A piece of 1 MiB is a little longer when it is sealed; every other answer is short. */
const MOST_BYTES = 2 * 1024 * 1024
const DELETES_AT_ONCE = 8

export function createS3(settings: S3Settings): FileStore {
  async function request(method: 'PUT' | 'GET' | 'DELETE', name: string, body: Buffer | null): Promise<Buffer | null> {
    const url = new URL(`${settings.url}/${settings.bucket}/${name}`)
    const headers = sign(settings, method, url, body ?? Buffer.alloc(0))
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: new Uint8Array(body) }),
    })
    const answer = await bodyOf(response)
    const code = method === 'GET' && response.ok ? null : codeIn(answer)
    if (response.status === 404 && isMissing(method, code)) return null
    // An error may come with the status 200.
    if (!response.ok || code !== null)
      throw new Error(`the file store answered ${response.status}${code === null ? '' : ` ${code}`} to ${method}`)
    return answer
  }

  const nameOf = (content: Id, n: number) => `${content}/${n}`
  return {
    name: 's3',
    isOutside: true,
    place: `the bucket ${settings.bucket} at ${settings.url}`,
    mark: {
      read: async () => (await request('GET', MARK_NAME, null))?.toString('utf8').trim() ?? null,
      write: async id => void (await request('PUT', MARK_NAME, Buffer.from(`${id}\n`))),
    },
    put: async (_sql, content, n, sealed) => void (await request('PUT', nameOf(content, n), sealed)),
    get: (content, n) => request('GET', nameOf(content, n), null),
    async remove(_sql, kept) {
      const names = kept.flatMap(({ content, pieces }) => Array.from({ length: pieces }, (_, n) => nameOf(content, n)))
      for (let at = 0; at < names.length; at += DELETES_AT_ONCE)
        await Promise.all(names.slice(at, at + DELETES_AT_ONCE).map(name => request('DELETE', name, null)))
    },
  }
}

/** Without the limit, a body without end would fill the memory until the time is up. */
async function bodyOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('the file store answered with more than an object has')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The code of an error document of S3; null if it is none. */
function codeIn(answer: Buffer): string | null {
  const text = answer.toString('latin1', 0, MOST_ERROR)
  return text.includes('<Error>') ? (/<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? 'Error') : null
}

const MOST_ERROR = 4_096

// A 404 of a proxy, or for a bucket that a wrong setting names, says nothing about the object: the message that needs it must wait.
const isMissing = (method: string, code: string | null) =>
  code === 'NoSuchKey' || (method === 'DELETE' && code === 'NoSuchBucket')

/** The headers of a request, with its signature. Our paths need no escaping: a bucket's name, ids, digits and slashes. */
export function sign(
  settings: Pick<S3Settings, 'region' | 'key' | 'secret' | 'now'>,
  method: string,
  url: URL,
  body: Buffer,
): Record<string, string> {
  const moment = new Date(settings.now()).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = moment.slice(0, 8)
  const scope = `${day}/${settings.region}/s3/aws4_request`
  const digest = createHash('sha256').update(body).digest('hex')
  const signed = { host: url.host, 'x-amz-content-sha256': digest, 'x-amz-date': moment }
  const names = Object.keys(signed).join(';')
  const canonical = [
    method,
    url.pathname,
    '',
    ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
    '',
    names,
    digest,
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', moment, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = [day, settings.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${settings.secret}`,
  )
  const signature = createHmac('sha256', key).update(toSign).digest('hex')
  return {
    ...signed,
    authorization: `AWS4-HMAC-SHA256 Credential=${settings.key}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}
