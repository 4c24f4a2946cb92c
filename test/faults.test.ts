// How the fault tests judge: time bounds scale with a slow machine, up to a limit, and the factor is always printed.
import { describe, expect, test } from 'vitest'
import { judgeEndpoint, judgeFeed, type Logged } from '../faults/support/event-checker.ts'
import { factorOf, verdict } from '../faults/support/promise.ts'
import type { Page } from '../faults/support/reader.ts'
import type { Delivery } from '../faults/support/receiver.ts'

const judged = (factor?: number) => verdict('L0', 'a promise', '≤ 1 s', '0.5 s', { 'in time': true }, [], factor)

describe('a bound that scales with the slowness of the machine', () => {
  test('is reported with the factor that was used, also when it is 1', () => {
    expect(judged(1)).toMatchObject({ holds: true, measured: '0.5 s; bounds × 1.00' })
    expect(judged(2.5)).toMatchObject({ holds: true, measured: '0.5 s; bounds × 2.50' })
    expect(judged()).toMatchObject({ holds: true, measured: '0.5 s' })
  })

  test('is never below the promise, and never above three times the promise', () => {
    expect([factorOf(20, 5), factorOf(20, 20), factorOf(20, 50)]).toEqual([1, 1, 2.5])
    expect([factorOf(20, 60), factorOf(20, 61), factorOf(20, 800), factorOf(20, Infinity)]).toEqual([3, 3, 3, 3])
  })
})

describe('the checker of events', () => {
  const event = (n: number, about: string, type: string): Logged => ({
    id: `e${n}`,
    service: 's',
    keyType: 'normal',
    type,
    about,
    cause: 'attempt',
  })
  const log = [event(1, 'a', 'sending'), event(2, 'b', 'sending'), event(3, 'a', 'delivered')]
  const page = (...events: Logged[]): Page => ({
    cursor: 'c',
    at: 0,
    events: events.map(one => ({ ...one, timestamp: '' })),
  })
  const post = (events: Logged[], answer = 200, isSigned = true): Delivery => ({
    endpoint: 'x',
    at: 0,
    webhookId: 'w',
    isSigned,
    answer,
    events: events.map(one => ({ ...one, timestamp: '' })),
  })
  const [first, second, third] = log as [Logged, Logged, Logged]

  test('a reader must see every event once, in the order of the log', () => {
    expect(judgeFeed('r', log, [page(first, second), page(third)])).toEqual([])
    expect(judgeFeed('r', log, [page(first), page(third)])[0]).toMatch(/missed: 1/)
    expect(judgeFeed('r', log, [page(first, second), page(second, third)])[0]).toMatch(/twice: 1/)
    expect(judgeFeed('r', log, [page(second, first, third)])[0]).toMatch(/out of order: 2/)
    expect(judgeFeed('r', log, [page(...log, event(4, 'c', 'sent'))])[0]).toMatch(/not in the log: 1/)
  })

  test('an endpoint must take every event, signed, and those of a message in order', () => {
    expect(judgeEndpoint('x', log, [post([second]), post([first, third]), post([first])])).toEqual({
      violations: [],
      events: 3,
      repeats: 1,
    })
    const why = (...posts: Delivery[]) => judgeEndpoint('x', log, posts).violations.join()
    expect(why(post(log, 500))).toMatch(/did not arrive: 3/)
    expect(why(post([first], 500), post([third]), post([first, second]))).toMatch(/before the one before them: 1/)
    expect(why(post(log, 200, false))).toMatch(/without a valid signature: 1/)
    expect(why(post([...log, { ...first, type: 'sent' }]))).toMatch(/not in the log: 1/)
  })
})
