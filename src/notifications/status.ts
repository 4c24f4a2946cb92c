// The one table of moves and labels (contract 6.1–6.3). Whoever changes a status asks it.
import type { Channel } from '../services/service.ts'

export type Status =
  | 'created'
  | 'sending'
  | 'sent'
  | 'pending'
  | 'delivered'
  | 'permanent-failure'
  | 'temporary-failure'
  | 'technical-failure'
  | 'pending-virus-check'
  | 'virus-scan-failed'
  | 'cancelled'

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
const SMS_LABELS: Partial<Record<Status, string>> = {
  sent: 'Sent',
  'permanent-failure': 'No such number',
  'temporary-failure': 'Carrier issue',
}

/** A failure whose detail is `blocked` was refused by a list, not by the address. */
export function describe(status: Status, channel: Channel, detail: string | null): string {
  if (status === 'permanent-failure' && detail === 'blocked') return 'Blocked'
  return (channel === 'sms' && SMS_LABELS[status]) || LABELS[status]
}
