// How the fault tests judge: time bounds scale with a slow machine, up to a limit, and the factor is always printed.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { membersOf, rolesOf } from '../faults/cluster/cluster.ts'
import { longestGap } from '../faults/cluster/probe.ts'
import { check, type Scope } from '../faults/support/checker.ts'
import type { Answer, Sender } from '../faults/support/client.ts'
import { wrongCounts } from '../faults/support/count-checker.ts'
import { judgeEndpoint, judgeFeed, type Logged } from '../faults/support/event-checker.ts'
import { factorOf, verdict } from '../faults/support/promise.ts'
import type { Page } from '../faults/support/reader.ts'
import type { Delivery } from '../faults/support/receiver.ts'
import { recountDays } from '../src/maintenance/statistics.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

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

describe('the cluster of the fault tests', () => {
  const member = (name: string, role: string, timeline = 2, state = 'running') => ({ name, role, timeline, state })
  const whole = [member('node1', 'replica'), member('node2', 'leader'), member('node3', 'sync_standby')]
  const roles = (...members: ReturnType<typeof member>[]) => rolesOf(membersOf(JSON.stringify({ members })))

  test('is complete with one leader, one synchronous standby and one other, on one timeline', () => {
    expect(roles(...whole)).toEqual({ leader: 'node2', sync: 'node3', other: 'node1' })
    expect(roles(...whole.slice(1))).toBeNull()
    expect(roles(...whole.slice(0, 2), member('node3', 'replica'))).toBeNull()
    expect(roles(...whole.slice(0, 2), member('node3', 'sync_standby', 1))).toBeNull()
    expect(roles(...whole.slice(0, 2), member('node3', 'sync_standby', 2, 'stopped'))).toBeNull()
    expect(membersOf('')).toEqual([])
  })

  test('has a gap as long as the longest time without an answer, in any order', () => {
    expect(longestGap([1_000, 4_500, 1_200])).toBe(3.3)
    expect([longestGap([]), longestGap([7])]).toEqual([0, 0])
  })
})

test('the checker finds a message that was accepted and is not in the database', async () => {
  const { parts, service } = await world()
  const { id } = await service()
  const answered: Answer = {
    sender: { service: id } as Sender,
    channel: 'email',
    to: 'ok-1@example.org',
    token: 'tk1k',
    idempotencyKey: null,
    isTest: false,
    isUrgent: false,
    isMedium: false,
    scheduledFor: null,
    values: {},
    status: 201,
    id: randomUUID(),
    body: '',
    sentAt: 0,
    answeredAt: 0,
    tries: 1,
  }
  const scope: Scope = {
    services: [id],
    answers: [],
    jobs: [],
    refusals: [],
    arrivals: [],
    deaths: [],
    logs: [],
    secrets: [],
    mostExtra: 0,
    killed: false,
    drained: true,
    isCounted: true,
  }
  expect(await check(parts.db.sql, scope)).toMatchObject({ violations: [], counts: { lost: 0 } })
  const { violations, counts } = await check(parts.db.sql, { ...scope, answers: [answered] })
  expect(violations).toEqual([`1 accepted but not in the database: 1, e.g. "${answered.id}"`])
  expect(counts.lost).toBe(1)
})

test('the checker of counts and the counts agree on times exactly at the edge of a class', async () => {
  const { parts, service } = await world()
  const { id, key: newKey } = await service()
  const key = await newKey()
  const template = await emailTemplate(key)
  const edges = [0.1, 0.13, 0.169, 0.2197, 0.28561, 0.371293, 1.06, 86_400]
  for (const seconds of edges) {
    const body = { template_id: template, email_address: 'a@example.org', personalisation: { name: 'A' } }
    const sent = await key.post(EMAIL, body)
    await parts.db.sql`
      update states set status = 'delivered', completed_at = uuid_time(id) + make_interval(secs => ${seconds})
      where id = ${sent.body.id}`
  }
  expect(await wrongCounts(parts.db.sql, [id])).not.toEqual([])
  await runSteps(recountDays(parts))
  expect(await wrongCounts(parts.db.sql, [id])).toEqual([])
})
