import { type Timestamp, zulu } from '../core/clock.ts'
import type { Seal } from '../core/seal.ts'
import type { Posted } from './post.ts'
import type { ShownWebhook } from './read.ts'
import type { Replay } from './replay.ts'
import type { StoredAttempt } from './sql/attempts.ts'
import type { SetAside } from './sql/replay.ts'

const time = (t: Timestamp | null) => t && zulu(t)

/** Fields are listed one by one, so that a secret is not shown by accident. */
export const presentWebhook = (webhook: ShownWebhook) => ({
  id: webhook.id,
  url: webhook.url,
  format: webhook.format,
  types: webhook.types,
  include_recipient: webhook.with_recipient,
  batch: webhook.batch,
  state: webhook.state,
  reason: webhook.reason,
  failing_since: time(webhook.failing_since),
  failures: webhook.failures,
  behind: { events: webhook.behind.events, more: webhook.behind.more, since: time(webhook.behind.since) },
  created_at: zulu(webhook.created_at),
  updated_at: time(webhook.updated_at),
  last_success_at: time(webhook.succeeded_at),
})

export const presentAttempt = (seal: Seal, attempt: StoredAttempt) => ({
  id: attempt.id,
  at: zulu(attempt.at),
  events: attempt.events,
  took_ms: attempt.took,
  status_code: attempt.status,
  error: attempt.error,
  answer: attempt.answer && seal.open('webhook answer', attempt.answer).toString('utf8'),
})

export const presentSetAside = (one: SetAside) => ({
  event: one.event,
  subject: one.subject,
  state: one.state,
  failures: one.failures,
  since: zulu(one.since),
  next_attempt_at: one.state === 'waiting' ? zulu(one.next_at) : null,
  status_code: one.status,
})

export const presentTest = ({ status, error, answer, tookMs }: Posted) => ({
  success: isSuccess(status),
  status_code: status,
  error,
  took_ms: tookMs,
  answer: status === null ? null : answer,
})

const isSuccess = (status: number | null) => status !== null && status >= 200 && status <= 299

export const presentReplay = ({ from, to, types, events }: Replay) => ({
  from: time(from),
  to: time(to),
  types,
  events,
})
