// `herald/client`: every operation of openapi.json with its types. It imports nothing, and needs fetch and Web Crypto: Node 20, Deno, Bun.
import type { components, paths } from './api.ts'

/** The shapes by their name in openapi.json: `Schemas['Message']`. */
export type Schemas = components['schemas']

type Method = 'get' | 'post' | 'patch' | 'delete'
type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never
}[keyof paths]
type Operation<M extends Method, P extends keyof paths> = paths[P][M]

/** Without the fields that are `never`, and optional where nothing in it is required. */
type Optional<Name extends string, T> = [T] extends [undefined] ? unknown : { [N in Name]?: T }
type Needed<Name extends string, T> = { [N in Name]: T }
type InPath<O> = O extends { parameters: { path: infer T } } ? Needed<'path', T> : unknown
type InQuery<O> = O extends { parameters: { query?: infer T } } ? Optional<'query', T> : unknown
type InBody<O> = O extends { requestBody: { content: { 'application/json': infer T } } }
  ? Needed<'body', T>
  : O extends { requestBody?: { content: { 'application/json': infer T } } }
    ? Optional<'body', T>
    : unknown
type Input<O> = InPath<O> & InQuery<O> & InBody<O>
export type Extra = {
  /** Of a send; the client makes one if you give none. Your own survives a restart of your program. */
  idempotencyKey?: string
  signal?: AbortSignal
}
// biome-ignore lint/complexity/noBannedTypes: it asks whether an empty object would do
type Arguments<O> = {} extends Input<O> ? [input?: Input<O> & Extra] : [input: Input<O> & Extra]

type Content<O> = O extends { responses: infer R } ? { [S in keyof R & (200 | 201 | 202)]: R[S] } : never
type Answer<O> = Content<O>[keyof Content<O>] extends { content: { 'application/json': infer T } } ? T : Response

type Call<M extends Method> = <P extends Path<M>>(
  path: P,
  ...input: Arguments<Operation<M, P>>
) => Promise<Answer<Operation<M, P>>>

export type Client = {
  get: Call<'get'>
  post: Call<'post'>
  patch: Call<'patch'>
  delete: Call<'delete'>
  /** All messages that match, newest first, page by page. */
  messages(query?: MessageQuery): AsyncGenerator<Schemas['Message'], void>
  /** Follows the log. Store `next` with what you made of the events, and begin with it as `after` next time. */
  events(query?: EventQuery): AsyncGenerator<Schemas['EventList'], never>
}
type MessageQuery = NonNullable<paths['/v2/notifications']['get']['parameters']['query']>
type EventQuery = NonNullable<paths['/herald/v1/events']['get']['parameters']['query']>

export type Options = {
  /** Where Herald answers, such as `https://herald.example.org`. */
  url: string
  key: string
  /**
   * How often a call is repeated: after 429, and if a read or a send got no answer or 5xx. Default: 3. A send whose first
   * request is still running (409) is repeated until the stored answer comes; these repetitions are not counted.
   */
  retries?: number
  /** A longer Retry-After is not waited for. Default: 60. */
  maxWaitSeconds?: number
}

/** An answer that is not 2xx. `errors` are the sentences of the service. */
export class HeraldError extends Error {
  readonly status: number
  readonly errors: Schemas['Errors']['errors']
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null
  /** The key of a send. Repeat with it where you do not know whether the message was stored (5xx). */
  readonly idempotencyKey: string | null

  constructor({ status, headers }: Response, text: string, idempotencyKey: string | null = null) {
    const errors = errorsIn(text)
    super(errors.map(({ message }) => message).join('; ') || `status ${status}`)
    this.name = 'HeraldError'
    this.status = status
    this.errors = errors
    this.requestId = headers.get('x-request-id')
    this.retryAfterSeconds = headers.has('retry-after') ? Number(headers.get('retry-after')) : null
    this.idempotencyKey = idempotencyKey
  }
}

function errorsIn(text: string): Schemas['Errors']['errors'] {
  try {
    return JSON.parse(text).errors ?? []
  } catch {
    return [] // the answer of a proxy
  }
}

/** Sends may share a signal and its reason. */
const lost = (cause: Error, signal: AbortSignal | undefined, idempotencyKey: string | null) =>
  Object.assign(signal?.aborted ? new Error(cause.message, { cause }) : cause, { name: cause.name, idempotencyKey })

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>(resume => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resume()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })

type Given = { path?: Record<string, unknown>; query?: object; body?: unknown } & Extra

const SENDS = /^\/v2\/notifications\/(email|sms|bulk)$/

export function createClient({ url, key, retries = 3, maxWaitSeconds = 60 }: Options): Client {
  const base = url.replace(/\/+$/, '')

  async function call(method: string, template: string, given: Given = {}): Promise<unknown> {
    const { path = {}, query = {}, body, signal } = given
    const address = template.replace(/\{(\w+)\}/g, (_all, name) => encodeURIComponent(String(path[name])))
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) search.append(name, String(one))
    const isSend = method === 'POST' && SENDS.test(template)
    const isSafe = isSend || method === 'GET'
    const idempotencyKey = isSend ? (given.idempotencyKey ?? crypto.randomUUID()) : null
    const request: RequestInit = {
      method,
      headers: {
        authorization: `ApiKey-v1 ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    }
    const target = `${base}${address}${search.size > 0 ? `?${search}` : ''}`
    for (let tried = 0; ; ) {
      const isLast = tried >= retries
      let wait = Math.min(0.2 * 2 ** tried, 5) * (0.5 + Math.random() / 2)
      try {
        const response = await fetch(target, request)
        if (response.ok)
          return response.headers.get('content-type')?.startsWith('application/json') ? await response.json() : response
        const error = new HeraldError(response, await response.text(), idempotencyKey)
        // The first one is still running.
        const isRunning = error.status === 409 && isSend
        const isRepeated = isRunning || (!isLast && (error.status === 429 || (error.status >= 500 && isSafe)))
        wait = error.retryAfterSeconds ?? (isRunning ? 1 : wait)
        if (!isRepeated || wait > maxWaitSeconds) throw error
        if (!isRunning) tried++
      } catch (error) {
        if (error instanceof HeraldError || !isSafe) throw error
        // No answer. A send has its Idempotency-Key: nothing is sent twice.
        if (isLast || signal?.aborted) throw isSend ? lost(error as Error, signal, idempotencyKey) : error
        tried++
      }
      await pause(wait * 1000, signal)
    }
  }

  const by = <M extends Method>(method: M) =>
    ((path: string, input?: Given) => call(method.toUpperCase(), path, input)) as Call<M>
  const get = by('get')
  return {
    get,
    post: by('post'),
    patch: by('patch'),
    delete: by('delete'),
    async *messages(query = {}) {
      for (let page = query; ; ) {
        const { notifications } = await get('/v2/notifications', { query: page })
        yield* notifications
        const last = notifications.at(-1)
        if (!last) return
        page = { ...page, older_than: last.id }
      }
    },
    async *events(query = {}) {
      for (let page: EventQuery = { wait: 20, ...query }; ; ) {
        const found = await get('/herald/v1/events', { query: page })
        yield found
        page = { ...page, after: found.next }
      }
    },
  }
}

/** The events of a webhook request, or null if its signature or its time is wrong. `body`: exactly as it arrived. */
export async function verifyWebhook(
  secret: string,
  headers: Headers,
  body: string,
): Promise<Schemas['Event'][] | null> {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map(name => headers.get(`webhook-${name}`))
  if (!id || !time || !signatures || !(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) return null
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace('whsec_', '')), hmac, false, ['verify'])
  const signed = new TextEncoder().encode(`${id}.${time}.${body}`)
  for (const [, signature = ''] of signatures.matchAll(/v1,([A-Za-z\d+/]{43}=)/g))
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed)) {
      const sent = JSON.parse(body)
      return sent.events ?? [sent]
    }
  return null
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
