// What is posted: an event, a batch of events, or the callback that describes one message.
import { createHash } from 'node:crypto'
import { fromMicros, zulu } from '../core/clock.ts'
import { microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { presentEvent, statusOf } from '../feed/present.ts'
import type { LoggedEvent } from '../feed/read.ts'
import { openPersonal } from '../notifications/notification.ts'
import { describe, isFinal } from '../notifications/status.ts'
import type { PostRequest } from './post.ts'
import { signatureHeaders } from './sign.ts'
import { signingSecrets, type Webhook } from './webhook.ts'

/** An event with its recipient, where the endpoint gets it. The sealed values of the message are not kept. */
export type EventToSend = LoggedEvent & { to: string | null }

export type Recipe = Pick<Webhook, 'id' | 'format' | 'batch' | 'url' | 'secrets' | 'token'>

export const needsRecipient = ({ format, with_recipient }: Pick<Webhook, 'format' | 'with_recipient'>) =>
  format === 'callback' || with_recipient

/** Opens the recipient of an event and forgets the rest of what is sealed. */
export function withRecipient(seal: Seal, event: LoggedEvent, isWanted: boolean): EventToSend {
  const { message } = event
  const to = isWanted && message?.sealed ? openPersonal(seal, message.sealed).to : null
  return { ...event, sealed: null, message: message && { ...message, sealed: null }, to }
}

/** A message that was purged has no callback: nothing is known of it. */
export const canBeSent = ({ format }: Pick<Webhook, 'format'>, event: LoggedEvent): boolean =>
  format === 'standard' || (event.message !== null && statusOf(event) !== null)

export function requestFor(webhook: Recipe, events: readonly EventToSend[], now: number): PostRequest {
  const content = contentOf(webhook, events)
  if (webhook.format === 'callback') return callbackRequest(webhook, content)
  return standardRequest(webhook, requestId(webhook, events), content, now)
}

/** The body of a request, before it is written as JSON. */
export function contentOf({ format, batch }: Pick<Recipe, 'format' | 'batch'>, events: readonly EventToSend[]): object {
  const [first] = events
  if (format === 'callback') return first ? callbackOf(first) : {}
  const shown = events.map(event => presentEvent(event, event.to))
  return batch === 1 ? (shown[0] ?? {}) : { events: shown }
}

/** The header `webhook-id`. */
export const requestId = ({ batch }: Pick<Recipe, 'batch'>, events: readonly { id: string }[]): string =>
  batch === 1 ? (events[0]?.id ?? '') : batchId(events)

function standardRequest({ url, secrets }: Recipe, id: string, content: object, now: number): PostRequest {
  const body = JSON.stringify(content)
  const headers = signatureHeaders({ id, body, secrets: signingSecrets({ secrets }, now), now })
  return { url: new URL(url), headers, body }
}

const callbackRequest = ({ url, token }: Recipe, content: object): PostRequest => ({
  url: new URL(url),
  headers: { authorization: `Bearer ${token ?? ''}` },
  body: JSON.stringify(content),
})

/** The same for the same events, so that a receiver can tell a repeated batch. */
const batchId = (events: readonly { id: string }[]) =>
  `batch_${createHash('sha256')
    .update(events.map(event => event.id).join())
    .digest('hex')
    .slice(0, 32)}`

/** The keys that callers of this interface already parse, in their order. */
function callbackOf(event: EventToSend) {
  const { message, channel, to } = event
  const status = statusOf(event)
  return {
    id: event.subject,
    reference: message?.reference ?? null,
    to,
    status,
    status_description: status && channel && describe(status, channel, event.detail),
    provider_response: status === 'technical-failure' ? event.response : null,
    created_at: zulu(fromMicros(microsOf(event.subject))),
    completed_at: status && isFinal(status) && message?.completed_at ? zulu(message.completed_at) : null,
    sent_at: message?.sent_at ? zulu(message.sent_at) : null,
    notification_type: channel,
  }
}
