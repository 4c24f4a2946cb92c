// Statuses, their labels, and which status may follow which (contract 6.1–6.3).
import { type Channel, PLAIN } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'

export const STATUSES = [
  'created',
  'sending',
  'sent',
  'pending',
  'delivered',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'pending-virus-check',
  'virus-scan-failed',
  'cancelled',
] as const

export type Status = (typeof STATUSES)[number]

/** Values of the status filter, in the order of the error message. */
export const FILTERS = [
  'created',
  'sending',
  'sent',
  'delivered',
  'pending',
  'failed',
  'technical-failure',
  'temporary-failure',
  'permanent-failure',
  'pending-virus-check',
  'virus-scan-failed',
] as const

export type Filter = (typeof FILTERS)[number]

export const FAILURES = ['technical-failure', 'temporary-failure', 'permanent-failure', 'virus-scan-failed'] as const

export const statusesOf = (filters: readonly Filter[]): Status[] => [
  ...new Set(filters.flatMap((filter): readonly Status[] => (filter === 'failed' ? FAILURES : [filter]))),
]

export type Group = 'in-transit' | 'delivered' | 'failed' | 'cancelled'

const GROUPS: Record<Status, Group> = {
  created: 'in-transit',
  sending: 'in-transit',
  pending: 'in-transit',
  'pending-virus-check': 'in-transit',
  delivered: 'delivered',
  sent: 'delivered',
  'permanent-failure': 'failed',
  'temporary-failure': 'failed',
  'technical-failure': 'failed',
  'virus-scan-failed': 'failed',
  cancelled: 'cancelled',
}

/** How far a message has come, for numbers of many messages; null: not a status of a message. */
export const groupOf = (status: string): Group | null =>
  Object.hasOwn(GROUPS, status) ? GROUPS[status as Status] : null

const LABELS: Record<Status, string> = {
  created: 'In transit',
  sending: 'In transit',
  pending: 'In transit',
  'pending-virus-check': 'In transit',
  delivered: 'Delivered',
  sent: 'Delivered',
  'permanent-failure': 'No such address',
  'temporary-failure': 'Content or inbox issue',
  'technical-failure': 'Tech issue',
  'virus-scan-failed': 'Attachment has virus',
  cancelled: 'Cancelled',
}

/** `blocked`: rejected by a block list, not because the address does not exist. */
export function describe(status: Status, channel: Channel, detail: string | null): string {
  if (status === 'permanent-failure' && detail === 'blocked') return 'Blocked'
  const labels: Partial<Record<Status, string>> = PLAIN[channel].labels
  return labels[status] ?? LABELS[status]
}

/** Whether it waits for a time that has not come yet: until then it can be cancelled. `now` in milliseconds since 1970. */
export const isScheduledAt = (
  { status, scheduled_for }: { status: Status; scheduled_for: Timestamp | null },
  now: number,
): boolean =>
  scheduled_for !== null &&
  (status === 'created' || status === 'pending-virus-check') &&
  Date.parse(scheduled_for) > now

/** `at`: the provider's time of the receipt that set the status; null when no receipt did. */
export type CurrentStatus = { status: Status; at: number | null }

export type ReceiptEvent = {
  result: 'delivered' | 'pending' | 'permanent-failure' | 'temporary-failure' | 'technical-failure' | 'complaint'
  at: number
  detail: string | null
}

const OPEN: readonly Status[] = ['created', 'sending', 'pending']
export const isFinal = (status: Status) => !OPEN.includes(status) && status !== 'pending-virus-check'

/**
 * The status after a receipt; null when it changes nothing. A text message keeps its first final status. The final status of an
 * e-mail does not depend on the order or repetition of receipts: a permanent failure stays, otherwise the latest event counts,
 * and of two events at the same time the failure (contract 6.3, 6.4).
 */
export function statusAfter(
  channel: Channel,
  { status, at }: CurrentStatus,
  event: ReceiptEvent,
): CurrentStatus | null {
  const result = event.result === 'complaint' && event.detail === 'blocked' ? 'permanent-failure' : event.result
  if (result === 'complaint') return null
  if (result === 'pending') return status === 'created' || status === 'sending' ? { status: 'pending', at } : null
  if (OPEN.includes(status)) return { status: result, at: event.at }
  if (PLAIN[channel].isFirstFinal || (status !== 'delivered' && status !== 'temporary-failure')) return null
  if (result === 'permanent-failure') return { status: result, at: event.at }
  if (result === 'technical-failure') return null
  const isLater = at === null || event.at > at || (event.at === at && result === 'temporary-failure')
  return isLater && (result !== status || event.at !== at) ? { status: result, at: event.at } : null
}

/** `provider_response` of a message whose service was suspended or archived when it was due. */
export const NOT_ACTIVE = 'service is not active'
