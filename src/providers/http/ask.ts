// One HTTP request to a provider: no redirects, a bounded response body, a timeout, and errors as return values (reliability S-23,
// S-25).
import { type Peer, type SettingNames, unreachable } from '../unreachable.ts'

export type HttpAnswer =
  /** `body` may be incomplete: cut at the limit, or the connection broke while it was read. */
  | { kind: 'answer'; status: number; headers: Headers; body: string }
  /** `sent`: the request may have reached the provider. `reason`: why it cannot be reached, for operators. */
  | { kind: 'failed'; sent: boolean; isTimeOut: boolean; why: string; reason?: string }

export type Request = { method: string; url: string; headers: Record<string, string>; body?: string }

const mostOctets = 65_536

export type Asker = {
  ask(request: Request, timeoutMillis: number): Promise<HttpAnswer>
  /** Requests in flight get a short grace period; then they are aborted and reported as possibly sent. */
  stop(): void
}

const LAST_MOMENT_MS = 5_000

/** `names`: what operators call the settings of this provider. */
export function createAsker(names: SettingNames): Asker {
  const underWay = new Set<AbortController>()
  return {
    async ask(request, timeoutMillis) {
      const giveUp = new AbortController()
      underWay.add(giveUp)
      const timer = setTimeout(() => giveUp.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMillis)
      try {
        return await ask(request, giveUp.signal, names)
      } finally {
        clearTimeout(timer)
        underWay.delete(giveUp)
      }
    },
    stop() {
      setTimeout(() => {
        for (const giveUp of underWay) giveUp.abort()
      }, LAST_MOMENT_MS).unref()
    },
  }
}

async function ask({ url, ...request }: Request, signal: AbortSignal, names: SettingNames): Promise<HttpAnswer> {
  let response: Response
  try {
    // No compression: a small response could expand to a large one.
    const headers = { 'accept-encoding': 'identity', ...request.headers }
    response = await fetch(url, { ...request, headers, redirect: 'manual', signal })
  } catch (error) {
    return failure(error, peerOf(url, names))
  }
  return {
    kind: 'answer',
    status: response.status,
    headers: response.headers,
    body: await beginningOf(response),
  }
}

async function beginningOf(response: Response): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > mostOctets) break // leaving the loop cancels the stream
    }
  } catch {
    // The status is known; an incomplete body is used as far as it was read.
  }
  return Buffer.concat(chunks).subarray(0, mostOctets).toString('utf8')
}

// Codes of Node and undici for failures before the first byte of a request is written. A request is small enough for one write once
// connected, so every later failure counts as possibly sent.
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS.*|ERR_SSL.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*|UND_ERR_INVALID_ARG|ERR_INVALID_.*)$/

function failure(error: unknown, peer: Peer): HttpAnswer {
  const code = codeOf(error)
  const isTimeOut = error instanceof Error && error.name === 'TimeoutError'
  return {
    kind: 'failed',
    sent: !beforeSending.test(code),
    isTimeOut,
    why: isTimeOut ? 'no answer in time' : `request failed: ${code || 'unknown'}`,
    ...(code !== '' && { reason: unreachable(peer, { code }) }),
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (typeof cause !== 'object' || cause === null) return ''
  // The Fetch standard refuses some ports (4.8, "bad port") before it connects, and gives no code for it.
  if (cause instanceof Error && cause.message === 'bad port') return 'ERR_INVALID_PORT'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
}

export function peerOf(address: string, names: SettingNames): Peer {
  const { hostname, port, protocol } = new URL(address)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80), names }
}
