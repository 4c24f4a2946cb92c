// Maps HTTP statuses and connection errors to outcomes, before the body is read. Source: RFC 9110, 15.
import { cleanLine } from '../clean.ts'
import type { Outcome } from '../port.ts'
import type { HttpAnswer } from './ask.ts'

type Deferred = Extract<Outcome, { kind: 'deferred' }>

/** The connection failed or timed out. */
export function unreached({ sent, isTimeOut, why, reason }: Extract<HttpAnswer, { kind: 'failed' }>): Deferred {
  return {
    kind: 'deferred',
    detail: why,
    ...(sent && { uncertain: true }),
    // One slow response does not mean that the provider is down.
    ...(!(sent && isTimeOut) && { down: true }),
    ...(reason !== undefined && { reason }),
  }
}

/** The outcome of a status that does not concern this message; null: it may concern it. */
export function postponed(status: number, headers: Headers, now: number): Deferred | null {
  const retryAfterSeconds = retryAfter(headers.get('retry-after'), now)
  const wish = retryAfterSeconds === null ? {} : { retryAfterSeconds }
  const deferred = { kind: 'deferred', detail: `Provider answered ${status}`, ...wish } as const
  // Redirects are not followed; wrong credentials and wrong addresses fail for every message.
  if (status < 200 || (status >= 300 && status < 400)) return { ...deferred, down: true }
  if (status === 401 || status === 403 || status === 404 || status === 405 || status === 407)
    return { ...deferred, down: true }
  if (status === 425 || status === 429) return deferred
  // The server read the request: it may have accepted the message before it failed.
  if (status === 502 || status === 503 || status === 504) return { ...deferred, uncertain: true, down: true }
  return status >= 500 || status === 408 ? { ...deferred, uncertain: true } : null
}

/** RFC 9110, 10.2.3: seconds or a date. At most an hour, so that a mistake of the provider does not delay messages for a day. */
function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null
  const seconds = /^[0-9]{1,9}$/.test(value.trim()) ? Number(value) : Math.ceil((Date.parse(value) - now) / 1000)
  return Number.isFinite(seconds) ? Math.min(3600, Math.max(1, seconds)) : null
}

/** A provider's reply for display: one line, at most 500 characters (S-25), without the recipient's number. */
export function reason(text: string, to: string): string {
  return cleanLine(
    text
      .slice(0, 4_000)
      .replace(/\p{Z}+/gu, ' ')
      .replaceAll(to, '…')
      .replaceAll(to.replace('+', ''), '…'),
  )
}
