// One POST to an endpoint of a customer. Such an endpoint may be slow, broken or hostile: a request ends after 10 seconds, redirects
// are not followed, and an answer is read only as far as it is kept. Failures are values.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type Addresses, NOT_ALLOWED } from './address.ts'

/**
 * answered: `status` is that of the answer, and `error` is null. unanswered: the request may have been received. unreachable: it was
 * not sent. interrupted: this process stops; the request may have been received.
 */
export type Posted = {
  kind: 'answered' | 'unanswered' | 'unreachable' | 'interrupted'
  status: number | null
  /** Why there is no answer: a fixed sentence without personal data. */
  error: string | null
  /** The first kilobyte of the answer. */
  answer: string
  retryAfterSeconds: number
  tookMs: number
}

export type PostRequest = { url: URL; headers: Readonly<Record<string, string>>; body: string }

export type Poster = {
  /** `endpoint`: requests of one endpoint share its connections. */
  post(endpoint: string, request: PostRequest): Promise<Posted>
  /** True once the process stops: no further request should be made. */
  isStopping(): boolean
  /** Requests in flight get a short time to end. */
  stop(): void
  connections(): number
}

export type PosterOptions = {
  addresses: Pick<Addresses, 'checkUrl' | 'lookup'>
  timeoutMs?: number
  /** How long requests in flight may go on after a stop. */
  lastMomentMs?: number
  /** Certificates of authorities that are trusted instead of the usual ones. */
  ca?: string
}

const TIMEOUT_MS = 10_000
/** After the head of an answer its status is known: a body that takes longer is not worth more of a slot. */
const BODY_MS = 1_000
const KEPT_BYTES = 1_024
/** More of a body is read than is kept, because a connection is only usable again after the end of the answer. */
const READ_BYTES = 16_384
const HEAD_BYTES = 8_192
const CONNECTIONS = 16
/** Unused connections are closed after this time, and the agents that have none are forgotten. */
const IDLE_MS = 15_000
const LAST_MOMENT_MS = 2_000

type Pool = { agent: HttpAgent | HttpsAgent; origin: string; isAllowed: boolean; inFlight: number; usedAt: number }

export function createPoster(options: PosterOptions): Poster {
  const { addresses, timeoutMs = TIMEOUT_MS, lastMomentMs = LAST_MOMENT_MS, ca } = options
  const pools = new Map<string, Pool>()
  const underWay = new Set<() => void>()
  let isStopping = false

  function poolOf(endpoint: string, { origin, protocol }: URL): Pool {
    const found = pools.get(endpoint)
    if (found?.origin === origin) return found
    found?.agent.destroy()
    forgetIdle()
    const settings = {
      ...{ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS, lookup: addresses.lookup },
      // Of a connection, not of a request: it applies while the connection is not used.
      timeout: IDLE_MS,
    }
    const agent =
      protocol === 'https:'
        ? new HttpsAgent({ ...settings, rejectUnauthorized: true, ...(ca !== undefined && { ca }) })
        : new HttpAgent(settings)
    // Settings may have changed since the endpoint was created. A connection to a literal address does not use `lookup`.
    const isAllowed = 'url' in addresses.checkUrl(origin)
    const pool: Pool = { agent, origin, isAllowed, inFlight: 0, usedAt: performance.now() }
    pools.set(endpoint, pool)
    return pool
  }

  function forgetIdle() {
    const before = performance.now() - IDLE_MS
    for (const [endpoint, { agent, inFlight, usedAt }] of pools) {
      if (inFlight > 0 || usedAt > before) continue
      agent.destroy()
      pools.delete(endpoint)
    }
  }

  async function post(endpoint: string, request: PostRequest): Promise<Posted> {
    const pool = poolOf(endpoint, request.url)
    if (!pool.isAllowed) return unreached(NOT_ALLOWED)
    pool.inFlight++
    const since = performance.now()
    const leftMs = () => Math.max(1, timeoutMs - (performance.now() - since))
    try {
      const first = await attempt(pool.agent, request, leftMs(), timeoutMs, underWay)
      // The endpoint closed a connection that was idle at the moment in which we used it again.
      const posted = first.isStale ? await attempt(pool.agent, request, leftMs(), timeoutMs, underWay) : first
      return { ...posted.posted, tookMs: Math.round(performance.now() - since) }
    } finally {
      pool.inFlight--
      pool.usedAt = performance.now()
    }
  }

  return {
    post,
    isStopping: () => isStopping,
    stop() {
      isStopping = true
      setTimeout(() => {
        for (const interrupt of underWay) interrupt()
        for (const { agent } of pools.values()) agent.destroy()
      }, lastMomentMs).unref()
    },
    connections: () => [...pools.values()].reduce((sum, { agent }) => sum + socketsOf(agent), 0),
  }
}

const socketsOf = ({ sockets, freeSockets }: HttpAgent) =>
  [sockets, freeSockets].reduce(
    (sum, byName) => sum + Object.values(byName).reduce((count, list) => count + (list?.length ?? 0), 0),
    0,
  )

type Attempt = { posted: Posted; isStale: boolean }

function attempt(
  agent: HttpAgent | HttpsAgent,
  { url, headers, body }: PostRequest,
  leftMs: number,
  timeoutMs: number,
  underWay: Set<() => void>,
): Promise<Attempt> {
  return new Promise(resolve => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, {
      method: 'POST',
      agent,
      maxHeaderSize: HEAD_BYTES,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Herald',
        // A small answer could expand to a large one.
        'accept-encoding': 'identity',
        ...headers,
      },
    })
    const finish = (posted: Posted, isStale = false) => {
      clearTimeout(timer)
      underWay.delete(interrupt)
      resolve({ posted, isStale })
    }
    const giveUp = (posted: Posted) => {
      finish(posted)
      request.destroy()
    }
    const interrupt = () => giveUp({ ...NOTHING, kind: 'interrupted', error: 'interrupted by a stop' })
    underWay.add(interrupt)
    const timer = setTimeout(() => giveUp(unanswered(`no answer in ${timeoutMs / 1000} s`)), leftMs)
    request.on('response', response => {
      clearTimeout(timer)
      beginningOf(response, Math.min(leftMs, BODY_MS), text => finish(answered(response, text)))
    })
    request.on('upgrade', response => giveUp(answered(response, '')))
    // Also called for errors after the result is known: they change nothing.
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')
      finish(unreached(error.code ?? ''), isStale)
    })
    request.end(body)
  })
}

/** Calls back once: at the end of the body, or when enough of it was read. A body that does not end costs its connection. */
function beginningOf(response: IncomingMessage, mostMs: number, done: (text: string) => void) {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => {
    clearTimeout(timer)
    done(Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8'))
  }
  const cut = () => {
    response.destroy()
    end()
  }
  const timer = setTimeout(cut, mostMs)
  response.on('data', (chunk: Buffer) => {
    if (size < KEPT_BYTES) chunks.push(chunk)
    size += chunk.length
    if (size > READ_BYTES) cut()
  })
  response.on('end', end)
  response.on('error', end)
}

const NOTHING: Posted = { kind: 'unanswered', status: null, error: null, answer: '', retryAfterSeconds: 0, tookMs: 0 }
const unanswered = (error: string): Posted => ({ ...NOTHING, error })

function answered({ statusCode = 0, headers }: IncomingMessage, answer: string): Posted {
  const wait = headers['retry-after']
  const retryAfterSeconds = wait !== undefined && /^\d{1,6}$/.test(wait) ? Number(wait) : 0
  return { ...NOTHING, kind: 'answered', status: statusCode, answer, retryAfterSeconds }
}

/** Codes of Node, as sentences. unreachable: the failure comes before the first byte of a request. */
const SENTENCES: readonly [pattern: RegExp, kind: 'unanswered' | 'unreachable', sentence: string][] = [
  [new RegExp(`^${NOT_ALLOWED}$`), 'unreachable', 'address is not allowed'],
  [/^ECONNREFUSED$/, 'unreachable', 'connection refused'],
  [/^(ENOTFOUND|ENODATA)$/, 'unreachable', 'host name is not known'],
  [/^(EAI_.*|ETIMEOUT|ESERVFAIL|EREFUSED)$/, 'unreachable', 'host name could not be resolved'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT)$/, 'unreachable', 'host is not reachable'],
  [
    /^(CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*|ERR_TLS_CERT_.*|HOSTNAME_MISMATCH)$/,
    'unreachable',
    'TLS certificate is not valid',
  ],
  [/^(ERR_SSL_.*|ERR_TLS_.*|EPROTO)$/, 'unreachable', 'TLS connection failed'],
  [/^HPE_HEADER_OVERFLOW$/, 'unanswered', 'head of the answer is too large'],
  [/^HPE_/, 'unanswered', 'answer is not HTTP'],
  [/^(ECONNRESET|EPIPE)$/, 'unanswered', 'connection was closed before the answer'],
]

function unreached(code: string): Posted {
  const [, kind = 'unanswered', error = 'connection failed'] = SENTENCES.find(([pattern]) => pattern.test(code)) ?? []
  return { ...NOTHING, kind, error }
}
