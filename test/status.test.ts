// O1 and O2 of reliability 2.3: the moves of a message against a model written from the tables of contract 6.3 and 6.4, and
// e-mail receipts in every order.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFinal, after as moved, type News, type Standing, type Status } from '../src/notifications/status.ts'
import type { Channel } from '../src/services/service.ts'

type Result = News['result']

/** Contract 6.3, line by line: from, what is heard, to. What is not here changes nothing. */
const TABLE: [channels: Channel[], from: Status[], heard: Result[], to: (heard: Result) => Status][] = [
  // Reliability 3: a receipt may come before our own word of the hand-over.
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

function model(channel: Channel, standing: Standing, news: News): Status {
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

const RESULTS: Result[] = [
  'delivered',
  'pending',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'complaint',
]
const STATUSES: Status[] = [
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

const news = (results: readonly Result[]): fc.Arbitrary<News> =>
  fc.record({
    result: fc.constantFrom(...results),
    at: fc.integer({ min: 1, max: 8 }),
    detail: fc.constantFrom(null, 'blocked', 'general'),
  })

const hear = (channel: Channel, from: Standing, all: readonly News[]): Standing =>
  all.reduce((standing, one) => moved(channel, standing, one) ?? standing, from)

describe('O1 only the moves of the contract happen', () => {
  test('10,000 random sequences of news go as the model goes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Channel>('email', 'sms'),
        fc.constantFrom(...STATUSES),
        fc.array(news(RESULTS), { maxLength: 10 }),
        (channel, status, all) => {
          let standing: Standing = { status, at: null }
          for (const one of all) {
            const wanted = model(channel, standing, one)
            const next = moved(channel, standing, one)
            expect([status, one, next?.status ?? standing.status]).toEqual([status, one, wanted])
            standing = next ?? standing
          }
        },
      ),
      { numRuns: 10_000 },
    )
  })

  test('what was cancelled, found infected, sent abroad or failed technically hears nothing any more', () => {
    for (const channel of ['email', 'sms'] as const)
      for (const status of [
        'cancelled',
        'virus-scan-failed',
        'sent',
        'technical-failure',
        'permanent-failure',
      ] as const)
        for (const result of RESULTS)
          expect(moved(channel, { status, at: 1 }, { result, at: 9, detail: null })).toBeNull()
  })
})

describe('O2 order and repetition do not matter', () => {
  test('every order and every repetition of up to six e-mail receipts ends in the same status', () => {
    const mail = news(['delivered', 'pending', 'permanent-failure', 'temporary-failure', 'complaint'])
    fc.assert(
      fc.property(
        fc.constantFrom<Status>('created', 'sending', 'pending'),
        fc.array(mail, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 1 }),
        (status, some, repeated) => {
          const all = [...some, ...repeated.map(at => some[at % some.length] as News)]
          const ends = new Set<string>()
          for (const order of permutations(all)) {
            const { status: end, at } = hear('email', { status, at: null }, order)
            // A first "pending" may be forgotten once something final is known; alone, it stays.
            ends.add(isFinal(end) && end !== 'permanent-failure' ? `${end} ${at}` : end)
          }
          expect([...ends]).toHaveLength(1)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('six different receipts in all 720 orders, each heard twice', () => {
    const six: News[] = [
      { result: 'pending', at: 1, detail: null },
      { result: 'temporary-failure', at: 2, detail: 'mailbox-full' },
      { result: 'delivered', at: 3, detail: null },
      { result: 'temporary-failure', at: 4, detail: 'general' },
      { result: 'delivered', at: 4, detail: null },
      { result: 'complaint', at: 5, detail: null },
    ]
    let orders = 0
    for (const order of permutations(six)) {
      orders++
      const end = hear('email', { status: 'sending', at: null }, [...order, ...order])
      expect(end).toEqual({ status: 'temporary-failure', at: 4 })
    }
    expect(orders).toBe(720)
  })

  test('for texts the first final receipt stays, and repeats change nothing', () => {
    const finals: Result[] = ['delivered', 'permanent-failure', 'temporary-failure', 'technical-failure']
    fc.assert(
      fc.property(
        fc.constantFrom<Status>('created', 'sending', 'pending'),
        fc.array(news(RESULTS.filter(result => result !== 'complaint')), { maxLength: 6 }),
        (status, all) => {
          const end = hear('sms', { status, at: null }, all)
          const first = all.find(one => finals.includes(one.result))
          if (first) expect(end.status).toBe(first.result)
          expect(hear('sms', end, all)).toEqual(end)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

function* permutations<T>(list: readonly T[]): Generator<T[]> {
  if (list.length <= 1) {
    yield [...list]
    return
  }
  for (const [at, one] of list.entries())
    for (const rest of permutations(list.filter((_one, other) => other !== at))) yield [one, ...rest]
}
