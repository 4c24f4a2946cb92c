// The one table of moves and labels (contract 6.1–6.3). Whoever changes a status asks it.
import { CHANNELS, type Channel } from '../channels/index.ts'

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

/** What a filter may name, in the order in which the error text lists them. */
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

const FAILED = ['technical-failure', 'temporary-failure', 'permanent-failure', 'virus-scan-failed'] as const

export const statusesOf = (filters: readonly Filter[]): Status[] => [
  ...new Set(filters.flatMap((filter): readonly Status[] => (filter === 'failed' ? FAILED : [filter]))),
]

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
  cancelled: 'In transit',
}

/** A failure whose detail is `blocked` was refused by a list, not by the address. */
export function describe(status: Status, channel: Channel, detail: string | null): string {
  if (status === 'permanent-failure' && detail === 'blocked') return 'Blocked'
  const labels: Partial<Record<Status, string>> = CHANNELS[channel].labels
  return labels[status] ?? LABELS[status]
}

/** What counts of a message when news of it comes. `at`: the provider's time of the receipt that made the status, if one did. */
export type Standing = { status: Status; at: number | null }

export type News = {
  result: 'delivered' | 'pending' | 'permanent-failure' | 'temporary-failure' | 'technical-failure' | 'complaint'
  at: number
  detail: string | null
}

const OPEN: readonly Status[] = ['created', 'sending', 'pending']
export const isFinal = (status: Status) => !OPEN.includes(status) && status !== 'pending-virus-check'

/**
 * Where news moves a message; null where it changes nothing. For text messages the first final word stays. For e-mails the
 * end is the same in whatever order and however often news comes: a permanent failure stays, otherwise the latest event
 * counts, and of two at the same moment the failure (contract 6.3, 6.4).
 */
export function after(channel: Channel, { status, at }: Standing, news: News): Standing | null {
  const result = news.result === 'complaint' && news.detail === 'blocked' ? 'permanent-failure' : news.result
  if (result === 'complaint') return null
  if (result === 'pending') return status === 'created' || status === 'sending' ? { status: 'pending', at } : null
  if (OPEN.includes(status)) return { status: result, at: news.at }
  if (CHANNELS[channel].isFirstFinal || (status !== 'delivered' && status !== 'temporary-failure')) return null
  if (result === 'permanent-failure') return { status: result, at: news.at }
  if (result === 'technical-failure') return null
  const isLater = at === null || news.at > at || (news.at === at && result === 'temporary-failure')
  return isLater && (result !== status || news.at !== at) ? { status: result, at: news.at } : null
}

/** `provider_response` of a message that was due while its service was suspended or archived. */
export const NOT_ACTIVE = 'service is not active'
