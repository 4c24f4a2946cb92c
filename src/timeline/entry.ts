// What is said about each step of a message. Pure: rows in, entries out.
import { type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type EventType, eventId } from '../events/event.ts'
import type { MessageEvent } from '../events/sql.ts'
import type { KeyType } from '../keys/key.ts'
import type { Story } from '../notifications/sql/read.ts'
import { isFinal, STATUSES, type Status } from '../notifications/status.ts'
import type { EventAttempt } from '../webhooks/sql/of-events.ts'
import { meaningOf } from './reply.ts'

export const KINDS = [
  'accepted',
  'omitted',
  'scan',
  'attempt',
  'uncertain',
  'receipt',
  'status',
  'cancelled',
  'expired',
  'webhook',
] as const
export type Kind = (typeof KINDS)[number]

export type Entry = {
  at: Timestamp
  kind: Kind
  /** The same as in the feed and in webhooks; null: not an event of the log. */
  event_id: Id | null
  event_type: EventType | null
  text: string
  /** The status after it; null: it did not change. */
  status: Status | null
  provider: string | null
  latency_ms: number | null
  /** Our class of the reply, and the reply itself, which may quote the recipient. */
  reply_class: string | null
  reply: string | null
  next_try_at: Timestamp | null
  /** The time that the provider gives in a receipt. */
  provider_time: Timestamp | null
  webhook_id: Id | null
  /** The answer of the endpoint. */
  status_code: number | null
}

/** An entry without details. */
export const NOTHING: Omit<Entry, 'at' | 'kind' | 'text'> = {
  ...{
    event_id: null,
    event_type: null,
    status: null,
    provider: null,
    latency_ms: null,
    reply_class: null,
    reply: null,
  },
  ...{ next_try_at: null, provider_time: null, webhook_id: null, status_code: null },
}

/** Who did something: a key, a person or the operator. */
export type Who = { kind: 'key' | 'person' | 'operator'; id: Id | null; name: string | null }

export function whoText({ kind, id, name }: Who): string {
  if (kind === 'operator') return 'the operator'
  return `the ${kind} ${name === null ? id : `"${name}"`}`
}

const KEY_WORDS: Readonly<Record<KeyType, string>> = { normal: 'live', team: 'team', test: 'test' }

export type Acceptance = {
  who: Who
  keyType: KeyType
  templateName: string | null
  templateVersion: number
  job: { name: string; row: number | null } | null
  scheduledFor: Timestamp | null
}

export function acceptedEntry(at: Timestamp, status: Status, a: Acceptance): Entry {
  const from = a.job
    ? `Made from row ${a.job.row ?? 'unknown'} of the job "${a.job.name}", accepted from ${whoText(a.who)}`
    : `Accepted from ${whoText(a.who)}`
  const key = a.who.kind === 'key' ? ` (${KEY_WORDS[a.keyType]} key)` : ''
  const template = `${a.templateName === null ? 'template' : `template "${a.templateName}"`}, version ${a.templateVersion}`
  const due = a.scheduledFor === null ? '' : `; scheduled for ${instant(a.scheduledFor)}`
  return { ...NOTHING, at, kind: 'accepted', status, text: `${from}${key}; ${template}${due}.` }
}

export const omittedEntry = (at: Timestamp, events: number): Entry => ({
  ...NOTHING,
  at,
  kind: 'omitted',
  text: `${events} earlier events are not shown.`,
})

/** `reply`: the sealed reply, opened. `who`: of a cancel. */
export function eventEntry(
  event: MessageEvent,
  channel: Story['channel'],
  reply: string | null,
  who: Who | null,
): Entry {
  const status = statusOf(event.type)
  const [kind, text] = wordsFor(
    event,
    status,
    meaningOf(channel, reply, event.detail, event.response)?.name ?? null,
    who,
  )
  return {
    ...NOTHING,
    at: event.at,
    kind,
    event_id: eventId(event.id, event.n),
    event_type: event.type,
    text,
    status,
    provider: event.provider,
    latency_ms: event.took,
    reply_class: event.detail,
    reply: reply ?? event.response,
    next_try_at: event.next_at,
    provider_time: event.time,
  }
}

const statusOf = (type: EventType): Status | null => STATUSES.find(status => type === `notification.${status}`) ?? null

function wordsFor(event: MessageEvent, status: Status | null, reason: string | null, who: Who | null): [Kind, string] {
  switch (event.cause) {
    case 'attempt':
      return attempted(event, status, reason)
    case 'receipt':
      return ['receipt', receiptText(event, status, reason)]
    case 'scan':
      return ['scan', scanText(event, status)]
    case 'cancel':
      return ['cancelled', `Cancelled${who ? ` by ${whoText(who)}` : ''}; it was not sent.`]
    case 'expiry':
      return ['expired', expiryText(event, status)]
    case 'crash':
      return ['uncertain', 'The process that worked on it ended unexpectedly; it may have been sent.']
    case 'job':
      return ['status', 'The job has changed.']
  }
}

/** Whether nobody knows how this attempt ended. An event stays uncertain after an earlier one, but then it has no reply. */
export const isLost = ({ type, uncertain, provider, detail }: MessageEvent) =>
  type === 'notification.uncertain' ||
  (type === 'notification.sending' && uncertain && (provider === null || detail !== null))

function attempted(event: MessageEvent, status: Status | null, reason: string | null): [Kind, string] {
  const { provider, type, took, next_at, response } = event
  const because = [reason, event.detail].filter(one => one !== null).join(', ')
  const why = because === '' ? '' : `: ${because}`
  const next = next_at === null ? '' : `; next try at ${instant(next_at)}`
  if (provider === 'simulation') return ['attempt', `Simulated as ${status}; nothing was sent.`]
  if (provider === 'capture' && status === 'delivered') return ['attempt', 'Kept in the inbox; nothing was sent.']
  if (type === 'notification.deferred') return ['attempt', `${named(provider)} did not take it${why}${next}.`]
  if (type === 'notification.uncertain')
    return ['uncertain', `${named(provider)} may have taken it, but its answer was lost${why}${next}.`]
  if (isLost(event))
    return ['uncertain', `${named(provider)} may have taken it, but its answer was lost${why}; it is not sent again.`]
  if (status !== null && ACCEPTED[status])
    return ['attempt', `${named(provider)} accepted it${took === null ? '' : ` in ${took} ms`}; ${ACCEPTED[status]}.`]
  if (status === 'permanent-failure') return ['attempt', `${named(provider)} refused it${why}.`]
  return ['attempt', `Not sent: ${response ?? (because || 'no reason is known')}.`]
}

const ACCEPTED: Partial<Record<Status, string>> = {
  sending: 'its receipt is awaited',
  sent: 'no receipt is expected',
  delivered: 'no receipt is expected, so it counts as delivered',
}

function receiptText(event: MessageEvent, status: Status | null, reason: string | null): string {
  const because = [...new Set([reason, event.detail].filter(one => one !== null))].join(', ')
  const given = event.time === null ? '' : ` of ${instant(event.time)}`
  const of = `Receipt${given} from ${event.provider ?? 'the provider'}`
  if (status === null) return `${of}: ${event.detail ?? 'no result'}; it changed nothing.`
  return `${of}: ${status}${because === '' ? '' : ` (${because})`}${isFinal(status) ? '' : '; the provider keeps trying'}.`
}

function expiryText({ response }: MessageEvent, status: Status | null): string {
  if (status === 'temporary-failure') return 'Given up: no receipt within 72 hours.'
  return response === null
    ? 'Given up: not sent within 72 hours.'
    : 'Given up: its files were not scanned within 72 hours.'
}

function scanText(event: MessageEvent, status: Status | null): string {
  switch (status) {
    case 'created':
      return 'The virus scanner found nothing in its files.'
    case 'virus-scan-failed':
      return 'The virus scanner found a virus in one of its files.'
    case null:
      return `The virus scanner gave no result${event.next_at === null ? '' : `; next try at ${instant(event.next_at)}`}.`
    default:
      return `The virus scan ended without a result: ${event.response ?? 'no reason is known'}.`
  }
}

/** Of a message without events, because it is older than the log. */
export const earlierEntry = (at: Timestamp, status: Status, provider: string | null): Entry => ({
  ...NOTHING,
  at,
  kind: 'status',
  status,
  provider,
  text: `The status became ${status}; how is not recorded, because the message is older than the log.`,
})

export const webhookEntry = (a: EventAttempt): Entry => ({
  ...NOTHING,
  at: a.at,
  kind: 'webhook',
  webhook_id: a.webhook_id,
  status_code: a.status,
  latency_ms: a.took,
  text: `${a.type} (${a.event}) was posted to the webhook ${a.webhook_id}: ${
    a.status === null ? (a.error ?? 'no answer') : `answered ${a.status}`
  }${a.took === null ? '' : ` after ${a.took} ms`}.`,
})

const named = (provider: string | null) => (provider === null ? 'The provider' : `The provider ${provider}`)

/** To the second. */
export const instant = (at: Timestamp) => `${zulu(at).slice(0, 19).replace('T', ' ')} UTC`
