// What an endpoint was sent, for people who look at its attempts. Requests are not stored: they are made again from the log, with
// what is known of their messages now. Secrets are not shown.
import { type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { eventsById } from '../feed/read.ts'
import { canBeSent, contentOf, needsRecipient, requestId, withRecipient } from './body.ts'
import type { StoredAttempt } from './sql/attempts.ts'
import type { Webhook } from './webhook.ts'

export type SentAttempt = {
  id: Id
  at: Timestamp
  /** How many events, and in how many requests that had the same answer. */
  events: number
  requests: number
  /** Milliseconds of the first request. */
  tookMs: number
  status: number | null
  error: string | null
  answer: string | null
  /** The first event; null when it is no longer in the log. */
  first: { id: Id; type: string; subject: Id } | null
  /** The first request; null when its event is no longer in the log. Of a batch the body has the first event only. */
  request: { line: string; headers: readonly (readonly [name: string, value: string])[]; body: object } | null
}

/** The events of the attempts must be those of this endpoint. */
export async function sentTo(
  app: { db: { sql: Sql }; seal: Seal },
  webhook: Webhook,
  attempts: readonly StoredAttempt[],
): Promise<SentAttempt[]> {
  const ids = attempts.flatMap(({ events }) => events[0] ?? [])
  const loaded = ids.length === 0 ? [] : await eventsById(app.db.sql, [...new Set(ids)], needsRecipient(webhook))
  const events = new Map(loaded.map(event => [event.id, event]))
  return attempts.map(attempt => {
    const first = events.get(attempt.events[0] as Id)
    const canBeShown = first && canBeSent(webhook, first)
    return {
      ...{ id: attempt.id, at: attempt.at, status: attempt.status, error: attempt.error },
      ...{ events: attempt.events.length, requests: attempt.took.length, tookMs: attempt.took[0] ?? 0 },
      answer: attempt.answer && app.seal.open('webhook answer', attempt.answer).toString('utf8'),
      first: first ? { id: first.id, type: first.type, subject: first.subject } : null,
      request: canBeShown
        ? {
            line: `POST ${pathOf(webhook)} HTTP/1.1`,
            headers: headersOf(webhook, attempt),
            body: contentOf(webhook, [withRecipient(app.seal, first, needsRecipient(webhook))]),
          }
        : null,
    }
  })
}

const pathOf = ({ url }: Webhook) => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Signature and token stand for themselves. */
function headersOf(webhook: Webhook, attempt: StoredAttempt): readonly (readonly [string, string])[] {
  const common = [
    ['Content-Type', 'application/json'],
    ['User-Agent', 'Herald'],
  ] as const
  if (webhook.format === 'callback') return [...common, ['Authorization', 'Bearer …']]
  const isBatch = attempt.took.length === 1
  const events = (isBatch ? attempt.events : attempt.events.slice(0, 1)).map(id => ({ id }))
  return [
    ...common,
    ['Webhook-Id', requestId(webhook, events)],
    ['Webhook-Timestamp', String(Math.floor(Date.parse(zulu(attempt.at)) / 1000))],
    ['Webhook-Signature', 'v1,…'],
  ]
}
