// O1 and O2 of reliability 2.3: the status moves of a message against a model, and e-mail receipts in every order.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Channel } from '../src/channels/index.ts'
import {
  type CurrentStatus,
  isFinal,
  statusAfter as moved,
  type ReceiptEvent,
  type Status,
} from '../src/notifications/status.ts'
import { hear, model, news, permutations, RESULTS, type Result, SIX, STATUSES } from './support/status-model.ts'

describe('O1 only the moves of the contract happen', () => {
  test('10,000 random sequences of receipts follow the model', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Channel>('email', 'sms'),
        fc.constantFrom(...STATUSES),
        fc.array(news(RESULTS), { maxLength: 10 }),
        (channel, status, all) => {
          let standing: CurrentStatus = { status, at: null }
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

  test('receipts of a message that was cancelled, infected, sent abroad or failed technically are ignored', () => {
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
          const all = [...some, ...repeated.map(at => some[at % some.length] as ReceiptEvent)]
          const ends = new Set<string>()
          for (const order of permutations(all)) {
            const { status: end, at } = hear('email', { status, at: null }, order)
            // A first "pending" may be dropped once a final status is known; alone, it stays.
            ends.add(isFinal(end) && end !== 'permanent-failure' ? `${end} ${at}` : end)
          }
          expect([...ends]).toHaveLength(1)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('six different receipts in all 720 orders, each twice', () => {
    let orders = 0
    for (const order of permutations(SIX)) {
      orders++
      const end = hear('email', { status: 'sending', at: null }, [...order, ...order])
      expect(end).toEqual({ status: 'temporary-failure', at: 4 })
    }
    expect(orders).toBe(720)
  })

  test('for text messages the first final receipt stays, and repeats change nothing', () => {
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
