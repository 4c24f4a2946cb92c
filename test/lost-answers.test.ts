// The connection to PostgreSQL is lost around a commit: every request of the batch is resolved separately, a stored message is
// answered 201 and exists once, and 500 is answered only when the result cannot be looked up in time.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { connect, type Database } from '../src/db/connect.ts'
import { databaseUrl, poolOptions } from './support/database.ts'
import { pdf } from './support/documents.ts'
import { createLossy, type Lossy } from './support/lossy.ts'
import { EMAIL, emailTemplate, type Key, LIST } from './support/sends.ts'
import { type Reply, type World, world } from './support/world.ts'

let lossy: Lossy
let here: World
/** The same database, without the relay. */
let direct: Database
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id

beforeAll(async () => {
  lossy = await createLossy()
  here = await world({}, { engine: true, urlOf: lossy.url })
  service = await here.service({ rate_limit: 100_000, may_send_files: true })
  key = await service.key()
  template = await emailTemplate(key)
  const name = new URL(here.config.databaseUrl ?? '').pathname.slice(1)
  direct = connect({ url: databaseUrl(inject('server'), name) }, poolOptions)
  // A reference that begins with "slow" delays its commit; one that begins with "poison" is rejected by the database.
  await direct.script(`
    create function wait_at_commit() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.4); return null; end $$;
    create constraint trigger slow_commit after insert on notifications deferrable initially deferred
      for each row when (new.reference like 'slow%') execute function wait_at_commit();
    alter table notifications add constraint no_poison check (reference not like 'poison%')`)
  return async () => {
    await direct.stop()
    await lossy.stop()
  }
}, 60_000)

let cutsBefore = 0
beforeEach(() => {
  cutsBefore = lossy.cuts()
})
// A test whose connection was never cut proves nothing.
afterEach(({ task }) => {
  if (task.name.startsWith('without a lost connection')) return
  expect(lossy.cuts()).toBe(cutsBefore + (task.name.startsWith('two commits') ? 2 : 1))
})

const mail = (reference: string, more: object = {}) => ({
  email_address: 'ann@example.net',
  template_id: template,
  personalisation: { name: 'Ann' },
  reference,
  ...more,
})
const send = (body: object, by: Key = key, headers: Record<string, string> = {}) => by.post(EMAIL, body, headers)
const marked = (start = '') => `${start}${randomUUID()}`

/** Requests that are sent to the database as one batch, because they arrived while an earlier one was in flight. */
async function together(requests: readonly (() => Promise<Reply>)[]): Promise<Reply[]> {
  const before = send(mail(marked('slow')))
  await waiting()
  const replies = await Promise.all(requests.map(one => one()))
  expect((await before).status).toBe(201)
  return replies
}

/** Waits until an accept is in progress in the database. */
async function waiting() {
  for (;;) {
    const [row] = await direct.sql<{ busy: number }>`
      select count(*)::integer as busy
      from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`
    if (row?.busy) return
    await sleep(10)
  }
}

const storedOf = (reference: string) => direct.sql<{ id: Id }>`
  select id from notifications where reference = ${reference}`

async function deliveredOnce(reference: string, id: Id) {
  expect((await storedOf(reference)).map(row => row.id)).toEqual([id])
  const state = async () =>
    (
      await direct.sql`
      select status, attempts, uncertain from states where id = ${id}`
    )[0]
  await expect.poll(state, { timeout: 10_000 }).toEqual({ status: 'delivered', attempts: 1, uncertain: false })
  const tickets = () => direct.sql`select id from tickets where ${id} = any (subjects)`
  await expect.poll(tickets, { timeout: 5_000 }).toEqual([])
}

describe('§14.3.6 each request of a batch is resolved separately after a lost answer', () => {
  test('stored messages are answered 201 although others of their batch are refused', async () => {
    const poor = await here.service({ email_daily_limit: 0 })
    const poorKey = await poor.key()
    const poorTemplate = await emailTemplate(poorKey)
    const slow = await here.service({ rate_limit: 0 })
    const slowKey = await slow.key()
    const slowTemplate = await emailTemplate(slowKey)
    const [one, two] = [marked(), marked()]
    lossy.cut(one, 'after')

    const [first, missing, tooMany, tooFast, second] = await together([
      () => send(mail(one)),
      () => send(mail(marked(), { personalisation: {} })),
      () => send(mail(marked(), { template_id: poorTemplate }), poorKey),
      () => send(mail(marked(), { template_id: slowTemplate }), slowKey),
      () => send(mail(two)),
    ])

    expect([first, missing, tooMany, tooFast, second].map(reply => reply?.status)).toEqual([201, 400, 429, 429, 201])
    expect(missing?.body.errors[0].message).toMatch(/^Missing personalisation/)
    expect(tooMany?.body.errors[0].error).toBe('TooManyRequestsError')
    expect(tooFast?.body.errors[0].error).toBe('RateLimitError')
    await deliveredOnce(one, first?.body.id)
    await deliveredOnce(two, second?.body.id)
  })

  test('two commits of a batch that was split are lost: each message is sent under the ticket that it was stored with', async () => {
    const [one, two, three] = [marked(), marked(), marked()]
    // Each is the last of its statement only after the batch was split.
    lossy.cut(`${two}"}`, 'after')
    lossy.cut(`${three}"}`, 'after')

    const replies = await together([
      () => send(mail(one)),
      () => send(mail(two)),
      () => send(mail(three)),
      () => send(mail(marked('poison'))),
    ])

    expect(replies.map(reply => reply.status)).toEqual([201, 201, 201, 500])
    for (const [at, reference] of [one, two, three].entries()) await deliveredOnce(reference, replies[at]?.body.id)
  })

  test('a simulated message that is not stored is answered too, and its Idempotency-Key keeps that answer', async () => {
    const [reference, name] = [marked(), randomUUID()]
    const simulated = mail(marked(), { email_address: 'simulate-delivered@herald.example' })
    lossy.cut(reference, 'after')

    const [stored, smoke] = await together([
      () => send(mail(reference)),
      () => send(simulated, key, { 'idempotency-key': name }),
    ])

    expect([stored?.status, smoke?.status]).toEqual([201, 201])
    expect((await send(simulated, key, { 'idempotency-key': name })).text).toBe(smoke?.text)
  })
})

describe('§14.4.10 a connection lost at the commit', () => {
  test.each(['before', 'at once', 'after'] as const)(
    '%s the server has it: 201, stored and sent once',
    async moment => {
      const reference = marked()
      lossy.cut(reference, moment)
      const reply = await send(mail(reference))
      expect(reply.status).toBe(201)
      await deliveredOnce(reference, reply.body.id)
    },
  )

  test('the server commits later than our first lookup: 201, stored and sent once', async () => {
    const reference = marked('slow')
    lossy.cut(reference, 'at once')
    const reply = await send(mail(reference))
    expect(reply.status).toBe(201)
    await deliveredOnce(reference, reply.body.id)
  })

  test('no connection is possible for a second: the result is looked up when one is', async () => {
    const reference = marked()
    lossy.cut(reference, 'after', { refuseMs: 1_000 })
    const reply = await send(mail(reference))
    expect(reply.status).toBe(201)
    await deliveredOnce(reference, reply.body.id)
  })

  test('a message with an Idempotency-Key: 201, and the same answer again', async () => {
    const [reference, name] = [marked(), randomUUID()]
    lossy.cut(reference, 'after')
    const reply = await send(mail(reference), key, { 'idempotency-key': name })
    expect(reply.status).toBe(201)
    const again = await send(mail(reference), key, { 'idempotency-key': name })
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([reply.text, 'true'])
    await deliveredOnce(reference, reply.body.id)
  })

  test('a message with a file: 201, stored and sent once', async () => {
    const reference = marked()
    const file = { file: pdf().toString('base64'), filename: 'letter.pdf', sending_method: 'attach' }
    lossy.cut(reference, 'after', { commit: true, refuseMs: 500 })
    const reply = await send(mail(reference, { personalisation: { name: 'Ann', file } }))
    expect(reply.status).toBe(201)
    expect((await storedOf(reference)).map(row => row.id)).toEqual([reply.body.id])
  })

  test('a bulk job: 201, every row once', async () => {
    const name = marked()
    lossy.cut(name, 'after', { commit: true, refuseMs: 500 })
    const rows = [['email address', 'name'], ...Array.from({ length: 30 }, (_, n) => [`a${n}@example.net`, `A${n}`])]
    const reply = await key.post(`${LIST}/bulk`, { name, template_id: template, rows })
    expect(reply.status).toBe(201)
    expect(await direct.sql`select id from jobs where name = ${name}`).toEqual([{ id: reply.body.data.id }])
    const delivered = async () =>
      (
        await direct.sql`
        select count(*)::integer as messages from states where job_id = ${reply.body.data.id} and status = 'delivered'`
      )[0]
    await expect.poll(delivered, { timeout: 20_000 }).toEqual({ messages: 30 })
  })

  test('the database stays unreachable: 500 within six seconds, also for the next request', async () => {
    const reference = marked()
    lossy.cut(reference, 'after', { refuseMs: 7_000 })
    const since = performance.now()
    const first = send(mail(reference))
    await expect.poll(() => lossy.cuts()).toBe(cutsBefore + 1)
    const nextSince = performance.now()
    const next = send(mail(marked())).then(({ status }) => ({ status, ms: performance.now() - nextSince }))
    const reply = await first
    expect(performance.now() - since).toBeLessThan(6_000)
    expect(reply).toBeRefused(500, 'Exception', 'Internal server error')
    // It waits for the database until its own deadline, and is not delayed by the first.
    expect(await next).toEqual({ status: 500, ms: expect.toSatisfy((ms: number) => ms < 6_000) })
    await expect.poll(() => send(mail(marked())).then(one => one.status), { timeout: 20_000 }).toBe(201)
  }, 40_000)
})

describe('a batch that the database rejects for its data', () => {
  test('without a lost connection: only the request with the bad data is answered 500', async () => {
    const references = [marked(), marked(), marked('poison'), marked(), marked()]
    const replies = await together(references.map(reference => () => send(mail(reference))))
    expect(replies.map(reply => reply.status)).toEqual([201, 201, 500, 201, 201])
    for (const [at, reference] of references.entries())
      if (at !== 2) await deliveredOnce(reference, replies[at]?.body.id)
  })
})
