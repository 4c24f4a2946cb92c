// Delivery of events to endpoints: signatures, batches, order, and what happens when an endpoint or a single event fails.
import { Webhook as Verifier } from 'standardwebhooks'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { EventType } from '../../src/events/event.ts'
import { horizon } from '../../src/events/sql.ts'
import { armCrashPoints } from '../../src/telemetry/crash.ts'
import { newSecret } from '../../src/webhooks/webhook.ts'
import { type Hooks, hooks, QUICK, type Sending, startSending } from '../support/hooks.ts'
import { type Hook, ok, type Receiver, startReceiver, status } from '../support/receiver.ts'
import { seeded } from '../support/seeds.ts'

let place: Hooks
beforeAll(async () => {
  place = await hooks()
})

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
  await place.sql`delete from webhooks`
  await place.sql`delete from tickets`
})

async function receive(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...given)
  stops.push(receiver.stop)
  return receiver
}

function sending(options: Parameters<typeof startSending>[1] = {}): Sending {
  const started = startSending(place, { schedule: QUICK, ...options })
  stops.push(async () => {
    await started.stop()
    expect(started.faults).toEqual([])
  })
  return started
}

type Event = { id: Id; type: EventType; timestamp: string; data: { notification_id: Id; to?: string; status: string } }
const eventIn = ({ body }: Hook): Event => JSON.parse(body)
const eventsIn = (list: readonly Pick<Hook, 'body'>[]): Event[] =>
  list.flatMap(({ body }) => JSON.parse(body).events as Event[])
const until = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 })

describe('the standard format', () => {
  test('one event is one signed request with the id of the event', async () => {
    const receiver = await receive()
    const { secrets, row } = await place.endpoint({ url: receiver.url })
    const subjects = place.messages(3)
    sending()
    const ids = await place.log('notification.delivered', subjects)
    await until(() => receiver.hooks.length).toBe(3)

    const verifier = new Verifier(secrets[0]?.secret ?? '')
    for (const hook of receiver.hooks) {
      verifier.verify(hook.body, hook.headers)
      expect(hook.headers['webhook-id']).toBe(eventIn(hook).id)
    }
    expect(
      receiver.hooks
        .map(eventIn)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids)
    const event = receiver.hooks.map(eventIn).find(({ id }) => id === ids[0])
    expect(event).toMatchObject({
      type: 'notification.delivered',
      data: { notification_id: subjects[0], status: 'delivered', notification_type: 'email' },
    })
    expect(event?.data).not.toHaveProperty('to')
    await until(row).toMatchObject({ ticket: null, failures: 0, failing_since: null, state: 'active' })
  })

  test('during a rotation a receiver with either secret accepts a request', async () => {
    const receiver = await receive()
    const [current, earlier, ended] = [newSecret(), newSecret(), newSecret()]
    await place.endpoint({
      url: receiver.url,
      secrets: [
        { secret: current, until: null },
        { secret: earlier, until: Date.now() + 60_000 },
        { secret: ended, until: Date.now() - 60_000 },
      ],
    })
    sending()
    await place.log('notification.delivered', place.messages(1))
    await until(() => receiver.hooks.length).toBe(1)
    const [hook] = receiver.hooks
    for (const secret of [current, earlier])
      expect(() => new Verifier(secret).verify(hook?.body ?? '', hook?.headers ?? {})).not.toThrow()
    expect(() => new Verifier(ended).verify(hook?.body ?? '', hook?.headers ?? {})).toThrow()
  })

  test('an endpoint with a batch gets up to so many events in a request', async () => {
    const receiver = await receive()
    const { secrets } = await place.endpoint({ url: receiver.url, batch: 40 })
    const ids = await place.log('notification.delivered', place.messages(100))
    sending()
    await until(() => eventsIn(receiver.hooks).length).toBe(100)
    expect(
      eventsIn(receiver.hooks)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids)
    expect(receiver.hooks.length).toBe(3)
    for (const { body, headers } of receiver.hooks) new Verifier(secrets[0]?.secret ?? '').verify(body, headers)
    expect(new Set(receiver.hooks.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  })

  test('a batch that is repeated has the same id and body', async () => {
    const receiver = await receive(status(500))
    await place.endpoint({ url: receiver.url, batch: 10 })
    await place.log('notification.delivered', place.messages(30))
    sending()
    await until(() => receiver.hooks.length).toBeGreaterThan(8)
    const requests = new Map<string, Set<string>>()
    for (const { headers, body } of receiver.hooks) {
      const first = eventsIn([{ body }])[0]?.id ?? ''
      requests.set(first, (requests.get(first) ?? new Set()).add(`${headers['webhook-id']} ${body}`))
    }
    expect([...requests.values()].map(({ size }) => size)).toEqual([1, 1, 1])
  })

  test('only the types that an endpoint asks for, and the position passes the others', async () => {
    const receiver = await receive()
    const { row } = await place.endpoint({ url: receiver.url, types: ['notification.delivered'] })
    sending()
    await place.log('notification.sending', place.messages(5))
    await place.log('notification.delivered', place.messages(2))
    await place.log('job.finished', place.messages(1))
    await until(() => receiver.hooks.length).toBe(2)
    const [last] = await place.sql<{ seq: string }>`select max(seq)::text as seq from events`
    await until(row).toMatchObject({ seq: last?.seq, ticket: null })
    expect(receiver.hooks.length).toBe(2)
  })

  test('endpoints of another service or another type of key get nothing', async () => {
    const receiver = await receive()
    const other = await place.service()
    await place.endpoint({ url: receiver.url }, other.id)
    const mine = await receive()
    await place.endpoint({ url: mine.url })
    sending()
    await place.log('notification.delivered', place.messages(1))
    await until(() => mine.hooks.length).toBe(1)
    expect(receiver.hooks).toEqual([])
  })
})

describe('order', () => {
  test('events of one message arrive in order and never at the same time; others overtake', async () => {
    const random = seeded()
    const inFlight = new Set<string>()
    const held: (() => void)[] = []
    let overlaps = 0
    let most = 0
    const receiver = await receive((hook, response) => {
      const { notification_id: subject } = eventIn(hook).data
      if (inFlight.has(subject)) overlaps++
      inFlight.add(subject)
      most = Math.max(most, inFlight.size)
      held.push(() => {
        inFlight.delete(subject)
        response.writeHead(204).end()
      })
      // The first ones wait for the fifth: that others overtake must not depend on how fast this machine is.
      if (most > 4) for (const answer of held.splice(0)) setTimeout(answer, random.between(0, 20))
    })
    await place.endpoint({ url: receiver.url })
    const subjects = place.messages(40)
    const types: EventType[] = ['notification.sending', 'notification.pending', 'notification.delivered']
    for (const type of types) await place.log(type, subjects, { announce: false })
    sending()
    await until(() => receiver.hooks.length).toBe(120)
    for (const subject of subjects)
      expect(
        receiver.hooks
          .map(eventIn)
          .filter(({ data }) => data.notification_id === subject)
          .map(({ type }) => type),
      ).toEqual(types)
    expect(overlaps).toBe(0)
    expect(most).toBeGreaterThan(4)
    expect(most).toBeLessThanOrEqual(16)
  })
})

describe('an endpoint that fails', () => {
  test.each([500, 404, 302, 429, 503])(
    '%i: everything waits at the position, and arrives when it works again',
    async code => {
      const receiver = await receive(status(code))
      const { row } = await place.endpoint({ url: receiver.url })
      const before = await row()
      const ids = await place.log('notification.delivered', place.messages(30))
      sending()
      await until(async () => (await row()).failures).toBeGreaterThan(1)
      expect(await row()).toMatchObject({ stamp: before.stamp, seq: before.seq, retries: 0, state: 'active' })
      receiver.answer(ok)
      const failed = receiver.hooks.length
      await until(() => receiver.hooks.length - failed).toBe(30)
      expect(
        receiver.hooks
          .slice(failed)
          .map(hook => eventIn(hook).id)
          .sort(),
      ).toEqual(ids)
      await until(row).toMatchObject({ failures: 0, failing_since: null, ticket: null, retries: 0 })
    },
  )

  test('is asked with one request at a time', async () => {
    let inFlight = 0
    let most = 0
    const receiver = await receive((_hook, response) => {
      most = Math.max(most, ++inFlight)
      setTimeout(() => {
        inFlight--
        response.writeHead(500).end()
      }, 5)
    })
    const { row } = await place.endpoint({ url: receiver.url, failures: 1, failingSince: new Date().toISOString() })
    await place.log('notification.delivered', place.messages(50))
    sending()
    await until(async () => (await row()).failures).toBeGreaterThan(3)
    expect(most).toBe(1)
    expect(receiver.hooks.length).toBeLessThan(20)
  })

  test('refused connections, with the reason in the attempts', async () => {
    const receiver = await receive()
    await receiver.stop()
    const { id, row } = await place.endpoint({ url: receiver.url })
    await place.log('notification.delivered', place.messages(3))
    sending()
    await until(async () => (await row()).failures).toBeGreaterThan(0)
    const [attempt] = await place.sql`
      select status, error, events, answer from webhook_attempts where webhook_id = ${id} order by id limit 1`
    expect(attempt).toMatchObject({ status: null, error: 'connection refused', answer: null })
  })

  test('410 disables it at once, with an audit entry and mails to the team', async () => {
    const receiver = await receive(status(410))
    const { id, row } = await place.endpoint({ url: receiver.url })
    await place.log('notification.delivered', place.messages(3))
    const { disabled } = sending()
    await until(row).toMatchObject({ state: 'disabled', reason: 'gone', ticket: null })
    const audit = await place.sql`
      select action, actor_kind, actor_name, service_id, detail from audit where subject_id = ${id}`
    expect(audit).toEqual([
      {
        action: 'webhook disabled',
        actor_kind: 'operator',
        actor_name: 'herald',
        service_id: place.home.id,
        detail: { reason: 'gone' },
      },
    ])
    expect(disabled).toEqual([{ webhook: id, service: place.home.id, reason: 'gone' }])
    const mails = await place.sql<{ sealed: Buffer }>`select sealed from mails`
    const mail = JSON.parse(place.parts.seal.open('mail', mails.at(-1)?.sealed as Buffer).toString())
    expect(mail.to).toBe('maria@example.org')
    expect(mail.text).toContain('410')
    expect(mail.text).toContain(id)
    await place.sql`delete from mails`
    await place.log('notification.delivered', place.messages(1))
    const { length } = receiver.hooks
    await new Promise(resume => setTimeout(resume, 200))
    expect(receiver.hooks.length).toBe(length)
  })

  test('after 72 hours it is disabled, and when it is resumed nothing is lost', async () => {
    const receiver = await receive(status(500))
    const since = new Date(Date.now() - 71 * 3_600_000).toISOString()
    const { row, id } = await place.endpoint({ url: receiver.url, failures: 9, failingSince: since })
    const ids = await place.log('notification.delivered', place.messages(10))
    sending({ schedule: { delays: [0.3], giveUpSeconds: 72 * 3600 } })
    await until(async () => (await row()).failures).toBeGreaterThan(9)
    expect((await row()).state).toBe('active')
    await place.sql`update webhooks set failing_since = failing_since - interval '1 hour' where id = ${id}`
    await until(row).toMatchObject({ state: 'disabled', reason: 'failing', ticket: null })
    receiver.answer(ok)
    const { length } = receiver.hooks
    await place.sql`update webhooks set state = 'active', failures = 0, failing_since = null where id = ${id}`
    place.parts.hints.announce([place.home.id])
    await until(() => receiver.hooks.length).toBe(length + 10)
    expect(
      receiver.hooks
        .slice(length)
        .map(hook => eventIn(hook).id)
        .sort(),
    ).toEqual(ids)
  })

  test('Retry-After is respected', async () => {
    const receiver = await receive(status(429, { 'retry-after': '1' }))
    await place.endpoint({ url: receiver.url, failures: 1, failingSince: new Date().toISOString() })
    await place.log('notification.delivered', place.messages(3))
    sending()
    await until(() => receiver.hooks.length).toBe(2)
    const [first, second] = receiver.hooks
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990)
  })
})

describe('a single event that an endpoint refuses', () => {
  const refusing =
    (isBad: (hook: Hook) => boolean, code = 400): Parameters<typeof startReceiver>[0] =>
    (hook, response) =>
      response.writeHead(isBad(hook) ? code : 204).end()

  test('is set aside, and does not delay the others', async () => {
    const subjects = place.messages(50)
    const bad = subjects[7]
    const isBad = (hook: Hook) => eventIn(hook).data.notification_id === bad
    const receiver = await receive(refusing(isBad))
    const { row } = await place.endpoint({ url: receiver.url })
    const ids = await place.log('notification.sending', subjects)
    sending({ schedule: { delays: [0.05, 0.05, 0.05, 60], giveUpSeconds: 3_600 } })
    await until(() => receiver.hooks.filter(hook => !isBad(hook)).length).toBe(49)
    await until(row).toMatchObject({ retries: 1, failures: 0, ticket: null })
    const [retry] = await place.sql`select event, status, state from webhook_retries`
    expect(retry).toEqual({ event: ids[7], status: 400, state: 'waiting' })

    // A later event of the same message waits behind it.
    await place.log('notification.delivered', subjects.slice(7, 9))
    await until(row).toMatchObject({ retries: 2 })
    receiver.answer(ok)
    await place.sql`update webhook_retries set next_at = clock_timestamp()`
    place.parts.hints.announce([place.home.id])
    await until(row).toMatchObject({ retries: 0 })
    const types = receiver.hooks.filter(isBad).map(hook => eventIn(hook).type)
    expect(types.slice(-2)).toEqual(['notification.sending', 'notification.delivered'])
    expect(types.slice(0, -1).every(type => type === 'notification.sending')).toBe(true)
  })

  test('in a batch: its events are sent one by one', async () => {
    const subjects = place.messages(60)
    const bad = subjects[12] as Id
    const receiver = await receive(refusing(({ body }) => body.includes(bad)))
    const { row } = await place.endpoint({ url: receiver.url, batch: 20 })
    await place.log('notification.delivered', subjects)
    sending({ schedule: { delays: [0.05, 60], giveUpSeconds: 3_600 } })
    const taken = () =>
      new Set(eventsIn(receiver.hooks.filter(({ body }) => !body.includes(bad))).map(({ id }) => id)).size
    await until(taken).toBe(59)
    await until(row).toMatchObject({ retries: 1, failures: 0 })
  })

  test('that comes alone does not delay the next one', async () => {
    const [bad, good] = place.messages(2) as [Id, Id]
    const receiver = await receive(refusing(hook => eventIn(hook).data.notification_id === bad))
    const { row } = await place.endpoint({ url: receiver.url })
    sending({ schedule: { delays: [60], giveUpSeconds: 3_600 } })
    await place.log('notification.delivered', [bad])
    await until(row).toMatchObject({ retries: 1, ticket: null })
    await place.log('notification.delivered', [good])
    await until(() => receiver.hooks.length).toBe(2)
    await until(row).toMatchObject({ failures: 0, failing_since: null, retries: 1 })
  })

  test('and later ones of its message cost no turns until they are due', async () => {
    const [bad, good] = place.messages(2) as [Id, Id]
    const receiver = await receive(refusing(hook => eventIn(hook).data.notification_id === bad))
    const { row } = await place.endpoint({ url: receiver.url })
    const { turns } = sending({ schedule: { delays: [0.1, 60], giveUpSeconds: 3_600 } })
    await place.log('notification.sending', [bad, good])
    await until(async () => (await place.sql`select failures from webhook_retries`)[0]?.failures).toBe(2)
    await place.log('notification.delivered', [bad])
    await until(row).toMatchObject({ retries: 2, ticket: null })
    // Not those until here: they look for events that an open transaction, also of another test, keeps back.
    const first = turns()
    await place.sql`update webhook_retries set next_at = clock_timestamp() where failures = 0`
    place.parts.hints.announce([place.home.id])
    await new Promise(resume => setTimeout(resume, 300))
    const before = turns()
    await new Promise(resume => setTimeout(resume, 500))
    expect(turns()).toBe(before)
    expect(before - first).toBeLessThan(4)
  })

  test('is given up after 72 hours', async () => {
    const [bad, good] = place.messages(2) as [Id, Id]
    const receiver = await receive(refusing(hook => eventIn(hook).data.notification_id === bad))
    const { row } = await place.endpoint({ url: receiver.url })
    sending({ schedule: { delays: [0.05], giveUpSeconds: 0.5 } })
    await place.log('notification.delivered', [bad, good])
    await until(row).toMatchObject({ retries: 0, failed: 1, state: 'active' })
  })
})

describe('a process that ends between a request and its record', () => {
  test('another one repeats the request with the same id, and a late record of the first changes nothing', async () => {
    const held: (() => void)[] = []
    const receiver = await receive((_hook, response) => {
      held.push(() => response.writeHead(500).end())
    })
    const { id, row } = await place.endpoint({ url: receiver.url })
    sending()
    await place.log('notification.delivered', place.messages(1))
    await until(() => receiver.hooks.length).toBe(1)
    receiver.answer(ok)
    // As after the end of the lease.
    await place.sql`update tickets set owner = null, leased_until = null where lane = 'webhooks'`
    sending()
    await until(() => receiver.hooks.length).toBe(2)
    await until(row).toMatchObject({ ticket: null, failures: 0 })
    const done = await row()
    for (const release of held) release()
    await new Promise(resume => setTimeout(resume, 100))
    expect(await row()).toEqual(done)
    const [first, second] = receiver.hooks
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
    expect(await place.sql`select status from webhook_attempts where webhook_id = ${id}`).toEqual([{ status: 204 }])
  })

  test.each(['after-webhook-post', 'before-webhook-record'] as const)('%s is a crash point', async name => {
    const receiver = await receive()
    const { row } = await place.endpoint({ url: receiver.url })
    // Before the engine starts, and complete, whatever transactions of other tests are open: a turn without an event is recorded, too.
    await place.log('notification.delivered', place.messages(1))
    await until(async () => (await place.sql`select from events where stamp > ${horizon}`).length).toBe(0)
    armCrashPoints([{ name, action: 'throw', when: { chance: 1 } }])
    const started = startSending(place, { schedule: QUICK })
    stops.push(started.stop)
    try {
      await until(() => started.faults.length).toBeGreaterThan(0)
      expect(String(started.faults[0])).toContain(name)
      expect((await row()).ticket).not.toBeNull()
    } finally {
      armCrashPoints([])
    }
    expect(receiver.hooks.length).toBe(1)
  })
})

describe('attempts', () => {
  test('requests with the same answer share a row; the beginning of the answer is sealed', async () => {
    const receiver = await receive(status(200, {}, 'thanks'))
    const { id, row } = await place.endpoint({ url: receiver.url })
    const ids = await place.log('notification.delivered', place.messages(20))
    sending()
    await until(() => receiver.hooks.length).toBe(20)
    await until(row).toMatchObject({ ticket: null })
    const attempts = await place.sql<{ events: Id[]; took: number[]; status: number; answer: Buffer; stamp: string }>`
      select events, took, status, answer, stamp::text from webhook_attempts where webhook_id = ${id}`
    expect(attempts).toHaveLength(1)
    const [attempt] = attempts
    expect(attempt?.events.sort()).toEqual(ids)
    expect(attempt?.took).toHaveLength(20)
    expect(attempt?.status).toBe(200)
    expect(attempt?.answer.toString('utf8')).not.toContain('thanks')
    expect(place.parts.seal.open('webhook answer', attempt?.answer as Buffer).toString()).toBe('thanks')
    expect(attempt?.stamp).toBe((await row()).stamp)
  })
})

describe('replays', () => {
  test('a part of the log is sent again with the same ids, beside new events', async () => {
    const receiver = await receive()
    const { id, row } = await place.endpoint({ url: receiver.url })
    const before = await row()
    sending()
    const ids = await place.log('notification.delivered', place.messages(25))
    await until(() => receiver.hooks.length).toBe(25)
    await until(row).toMatchObject({ ticket: null })
    const { stamp, seq } = await row()
    await place.sql`
      insert into webhook_replays (id, webhook_id, types, first, last, stamp, seq, n, end_stamp, end_seq)
      values (${place.parts.ids.next()}, ${id}, null, '00000000-0000-0000-0000-000000000000',
              'ffffffff-ffff-ffff-ffff-ffffffffffff', ${before.stamp}, ${before.seq}, ${before.n}, ${stamp}, ${seq})`
    const [fresh] = await place.log('notification.delivered', place.messages(1))
    await until(() => receiver.hooks.length).toBe(51)
    await until(row).toMatchObject({ replays: 0, ticket: null })
    const again = receiver.hooks.slice(25).map(hook => eventIn(hook).id)
    expect(again.sort()).toEqual([...ids, fresh].sort())
  })
})
