// A model of the status moves of a message, written from the tables of contract 6.3 and 6.4, and receipts to test it with: for
// the test and for the fault tests.
import fc from 'fast-check'
import type { Channel } from '../../src/channels/index.ts'
import {
  type CurrentStatus,
  statusAfter as moved,
  type ReceiptEvent,
  type Status,
} from '../../src/notifications/status.ts'

export type Result = ReceiptEvent['result']

/** Contract 6.3, line by line: from, event, to. Anything else changes nothing. */
const TABLE: [channels: Channel[], from: Status[], heard: Result[], to: (heard: Result) => Status][] = [
  // Reliability 3: a receipt may arrive before our own record of the hand-over.
  [['email', 'sms'], ['created', 'sending'], ['pending'], () => 'pending'],
  [['email', 'sms'], ['created', 'sending', 'pending'], ['delivered'], () => 'delivered'],
  [['email', 'sms'], ['created', 'sending', 'pending'], ['permanent-failure'], () => 'permanent-failure'],
  [['email', 'sms'], ['created', 'sending', 'pending'], ['temporary-failure'], () => 'temporary-failure'],
  [['email', 'sms'], ['created', 'sending', 'pending'], ['technical-failure'], () => 'technical-failure'],
  [['email'], ['delivered'], ['permanent-failure', 'temporary-failure'], heard => heard as Status],
  [['email'], ['temporary-failure'], ['delivered'], () => 'delivered'],
  // 6.4: "permanent-failure stays", so it also comes after a temporary one.
  [['email'], ['temporary-failure'], ['permanent-failure'], () => 'permanent-failure'],
]

export function model(channel: Channel, standing: CurrentStatus, news: ReceiptEvent): Status {
  const heard = news.result === 'complaint' && news.detail === 'blocked' ? 'permanent-failure' : news.result
  const line = TABLE.find(
    ([channels, from, heards]) =>
      channels.includes(channel) && from.includes(standing.status) && heards.includes(heard),
  )
  if (!line) return standing.status
  // 6.4: "applied in the order of the provider's event time": an older event does not undo a newer one.
  const undoes = standing.status === 'delivered' || standing.status === 'temporary-failure'
  const isOld = standing.at !== null && (news.at < standing.at || (news.at === standing.at && heard === 'delivered'))
  return undoes && heard !== 'permanent-failure' && isOld ? standing.status : line[3](heard)
}

export const RESULTS: Result[] = [
  'delivered',
  'pending',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'complaint',
]
export const STATUSES: Status[] = [
  'created',
  'sending',
  'sent',
  'pending',
  'delivered',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'virus-scan-failed',
  'cancelled',
]

/** Six different receipts of one e-mail, to be applied in any order. */
export const SIX: ReceiptEvent[] = [
  { result: 'pending', at: 1, detail: null },
  { result: 'temporary-failure', at: 2, detail: 'mailbox-full' },
  { result: 'delivered', at: 3, detail: null },
  { result: 'temporary-failure', at: 4, detail: 'general' },
  { result: 'delivered', at: 4, detail: null },
  { result: 'complaint', at: 5, detail: null },
]

export const news = (results: readonly Result[]): fc.Arbitrary<ReceiptEvent> =>
  fc.record({
    result: fc.constantFrom(...results),
    at: fc.integer({ min: 1, max: 8 }),
    detail: fc.constantFrom(null, 'blocked', 'general'),
  })

export const hear = (channel: Channel, from: CurrentStatus, all: readonly ReceiptEvent[]): CurrentStatus =>
  all.reduce((standing, one) => moved(channel, standing, one) ?? standing, from)

export function* permutations<T>(list: readonly T[]): Generator<T[]> {
  if (list.length <= 1) {
    yield [...list]
    return
  }
  for (const [at, one] of list.entries())
    for (const rest of permutations(list.filter((_one, other) => other !== at))) yield [one, ...rest]
}
