// Everything that is known about one message, in order: how it was accepted, its events, and the webhooks that were posted.
import { whoDid } from '../audit/sql.ts'
import { details as jobDetails } from '../bulk/sql/read.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { eventId } from '../events/event.ts'
import { type MessageEvent, ofMessage } from '../events/sql.ts'
import { namesOf as keyNames } from '../keys/sql.ts'
import { isExpired } from '../notifications/read.ts'
import { refuse } from '../notifications/refusals.ts'
import { type Story, story } from '../notifications/sql/read.ts'
import { describe, isFinal, type Status } from '../notifications/status.ts'
import { personOf } from '../people/sql/people.ts'
import { holdingOf } from '../queue/hold.ts'
import type { Service } from '../services/service.ts'
import { namesOf as templateNames } from '../templates/sql.ts'
import { attemptsOf } from '../webhooks/sql/of-events.ts'
import {
  acceptedEntry,
  type Entry,
  earlierEntry,
  eventEntry,
  isLost,
  omittedEntry,
  type Who,
  webhookEntry,
  whoText,
} from './entry.ts'
import { type Facts, partsOf, sentence } from './sentence.ts'

export type TimelineApp = { sql: Sql; clock: Clock; seal: Seal }

export type Timeline = {
  message: Story & { description: string; created_at: Timestamp; template_name: string | null }
  sentence: string
  /** The parts of the sentence: what happened first, what to do last. */
  said: string[]
  /** Who sent it and, where it was cancelled, who did that. */
  sentBy: Who
  cancelledBy: Who | null
  entries: Entry[]
  /** Events that are not shown, because there are too many. */
  omitted: number
}

/** A message can be tried six hundred times in four hours. */
const MOST_MOMENTS = 200
const MOST_ATTEMPTS = 100

/** As in /v2, any key of the service may read any of its messages within the retention period; here also cancelled ones. */
export async function timeline(app: TimelineApp, service: Service, id: Id, write?: Facts['write']): Promise<Timeline> {
  const found = await story(app.sql, service.id, id, MOST_MOMENTS)
  if (!found || isExpired(app.clock, service, found)) throw refuse.notFound()
  return timelineOf(app, found, write)
}

/** For the operator: of any service. */
export async function anyTimeline(app: TimelineApp, id: Id): Promise<Timeline | null> {
  const found = await story(app.sql, 'every-service', id, MOST_MOMENTS)
  return found && timelineOf(app, found)
}

async function timelineOf(app: TimelineApp, message: Story, write?: Facts['write']): Promise<Timeline> {
  const { sql, seal } = app
  const events = message.logged.length === 0 ? [] : await ofMessage(sql, message.id, message.logged)
  const [names, holding, [job], actor, sender] = await Promise.all([
    templateNames(sql, [message]),
    message.status === 'created' ? holdingOf(sql) : null,
    message.job_id === null ? [] : jobDetails(sql, [message.job_id]),
    message.status === 'cancelled' ? whoDid(sql, ['message cancelled'], message.id) : null,
    message.key_id === null ? whoSent(sql, message) : null,
  ])
  const template_name = names.get(`${message.template_id}/${message.template_version}`) ?? null
  const keys = await keyNames(
    sql,
    [message.key_id, actor?.actor_id ?? null].filter(one => one !== null),
  )
  const who = async (kind: Who['kind'], id: Id | null): Promise<Who> => {
    const person = kind === 'person' && id !== null ? await personOf(sql, id) : null
    return { kind, id, name: id && (person?.name ?? keys.get(id) ?? null) }
  }
  const cancelledBy = actor && (await who(actor.actor_kind, actor.actor_id))
  const sentBy =
    message.key_id !== null
      ? await who('key', message.key_id)
      : await who(sender?.actor_kind ?? 'operator', sender?.actor_id ?? null)
  const created_at = fromMicros(microsOf(message.id))
  const replies = events.map(event => event.sealed && seal.open('provider reply', event.sealed).toString('utf8'))
  const omitted = message.logged_count - message.logged.length
  const shown = [
    acceptedEntry(created_at, firstStatus(events, message), {
      who: sentBy,
      keyType: message.key_type,
      templateName: template_name,
      templateVersion: message.template_version,
      job: message.job_id === null ? null : { name: job?.name ?? message.job_id, row: message.job_row },
      scheduledFor: message.scheduled_for,
    }),
    ...(omitted > 0 ? [omittedEntry(events[0]?.at ?? created_at, omitted)] : []),
    ...(events.length === 0 ? earlier(message) : []),
    ...events.map((event, at) => eventEntry(event, message.channel, replies[at] ?? null, cancelledBy)),
  ]
  const attempts =
    events.length === 0
      ? []
      : await attemptsOf(
          sql,
          message,
          events.map(({ id, n, type, stamp }) => ({ id: eventId(id, n), type, stamp })),
          MOST_ATTEMPTS,
        )
  const facts = {
    ...factsOf(app, message, events, replies, cancelledBy, holding !== null),
    ...(write && { write }),
  }
  return {
    message: {
      ...message,
      created_at,
      template_name,
      description: describe(message.status, message.channel, message.failure_detail),
    },
    sentence: sentence(facts),
    said: partsOf(facts),
    sentBy,
    cancelledBy,
    entries: merged(shown, attempts.map(webhookEntry)),
    omitted,
  }
}

/** Who sent it by hand, or made its job. */
const whoSent = (sql: Sql, { id, job_id }: Story) =>
  job_id === null
    ? whoDid(sql, ['message sent', 'message sent again'], id)
    : whoDid(sql, ['job sent', 'job sent again'], job_id)

/** A message with files that were not scanned in time waits for the scanner first. */
const firstStatus = (events: readonly MessageEvent[], { status }: Story): Status =>
  events.some(event => event.cause === 'scan') || status === 'pending-virus-check' ? 'pending-virus-check' : 'created'

/** The two moments that a message has besides its events. */
function earlier({ status, sent_at, completed_at, provider }: Story): Entry[] {
  if (status === 'created' || status === 'pending-virus-check') return []
  const at = isFinal(status) ? completed_at : sent_at
  return at === null ? [] : [earlierEntry(at, status, provider)]
}

/** Events keep the order of the log; a post to a webhook comes before the first event that is later. */
function merged(entries: readonly Entry[], attempts: readonly Entry[]): Entry[] {
  const all: Entry[] = []
  let next = 0
  for (const entry of entries) {
    for (; next < attempts.length && isBefore(attempts[next], entry); next++) all.push(attempts[next] as Entry)
    all.push(entry)
  }
  return [...all, ...attempts.slice(next)]
}

const isBefore = (one: Entry | undefined, other: Entry) =>
  one !== undefined && Date.parse(one.at) < Date.parse(other.at)

function factsOf(
  { clock, seal }: TimelineApp,
  message: Story,
  events: readonly MessageEvent[],
  replies: readonly (string | null)[],
  cancelledBy: Who | null,
  isHeld: boolean,
): Facts {
  const isOpen = message.status === 'created' || message.status === 'pending-virus-check'
  const last = events.at(-1)
  const attempt = events.findLast(event => event.cause === 'attempt' || event.cause === 'crash')
  const moved = events.findLast(event => event.type === `notification.${message.status}`)
  return {
    channel: message.channel,
    keyType: message.key_type,
    status: message.status,
    cause: moved?.cause ?? (message.has_receipt ? 'receipt' : 'attempt'),
    provider: message.provider,
    detail: isOpen ? (last?.detail ?? null) : message.failure_detail,
    reply: isOpen
      ? (replies.at(-1) ?? null)
      : message.diagnosis && seal.open('provider reply', message.diagnosis).toString('utf8'),
    response: message.provider_response,
    attempts: message.attempts,
    uncertain: message.uncertain,
    isLastLost: attempt !== undefined && isLost(attempt),
    createdAt: fromMicros(microsOf(message.id)),
    scheduledFor: message.scheduled_for,
    lastAttemptAt: attempt?.at ?? message.sent_at,
    nextTryAt: isOpen ? (last?.next_at ?? null) : null,
    completedAt: message.completed_at,
    cancelledBy: cancelledBy && whoText(cancelledBy),
    isHeld,
    now: fromMicros(clock.micros()),
  }
}
