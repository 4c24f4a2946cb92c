// Events: what happens to messages and jobs after they were accepted. The log holds one row for all messages of a service that had
// the same change in one statement (a group); every message of it has an event of its own.
import type { Channel } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { KeyType } from '../keys/key.ts'

/** Named after the status that a message has now. `created`: a scanner found nothing in its files. */
export const STATUS_TYPES = [
  'notification.created',
  'notification.sending',
  'notification.sent',
  'notification.pending',
  'notification.delivered',
  'notification.permanent-failure',
  'notification.temporary-failure',
  'notification.technical-failure',
  'notification.virus-scan-failed',
  'notification.cancelled',
] as const

/**
 * deferred: an attempt that is repeated later. uncertain: an attempt of which nobody knows whether it succeeded. receipt: a receipt
 * that changed nothing.
 */
const OTHER_TYPES = ['notification.deferred', 'notification.uncertain', 'notification.receipt'] as const

export const JOB_TYPES = ['job.accepted', 'job.started', 'job.finished', 'job.cancelled', 'job.failed'] as const

export const EVENT_TYPES = [...STATUS_TYPES, ...OTHER_TYPES, ...JOB_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]
export type JobEventType = (typeof JOB_TYPES)[number]

export const CAUSES = ['attempt', 'receipt', 'scan', 'cancel', 'expiry', 'crash', 'job'] as const
export type Cause = (typeof CAUSES)[number]

/** Whose events: those of a service, sent with keys of one type. */
export type Scope = { service_id: Id; key_type: KeyType }

/** A place in the log: after the event number `n` (from zero) of the group at (stamp, seq). -1: before its first event. */
export type Position = { stamp: string; seq: string; n: number }

export const BEGINNING: Position = { stamp: '0', seq: '0', n: -1 }

/** A row of the log. Numbers of 64 bits are text. */
export type EventGroup = {
  id: Id
  stamp: string
  seq: string
  service_id: Id
  key_type: KeyType
  channel: Channel | null
  type: EventType
  at: Timestamp
  subjects: Id[]
  cause: Cause
  provider: string | null
  response: string | null
  detail: string | null
  uncertain: boolean
  took: number[] | null
  delays: number[] | null
  times: Timestamp[] | null
  sealed: Buffer | null
}

/** The id of the event of the n-th message of a group: the last 16 bits of the group's id are zero. */
export const eventId = (group: Id, n: number): Id => (group.slice(0, -4) + n.toString(16).padStart(4, '0')) as Id

/** The group and the number of an event. */
export const groupOf = (event: Id): { group: Id; n: number } => ({
  group: `${event.slice(0, -4)}0000` as Id,
  n: Number.parseInt(event.slice(-4), 16),
})
