// A session that holds the limits of one service locked delays this service, and no other.
import type pg from 'pg'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pdf } from './support/documents.ts'
import { EMAIL, emailTemplate, type Key } from './support/sends.ts'
import { type Reply, type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'
let here: World
let locker: pg.Client
type Tenant = { id: string; key: Key } & Record<'send' | 'sendFile' | 'sendBulk', () => Promise<Reply>>
let [locked, other]: Tenant[] = []

beforeAll(async () => {
  here = await world()
})
beforeEach(async () => {
  ;[locked, other] = [await tenant(), await tenant()]
  locker = here.parts.db.client()
  await locker.connect()
})
afterEach(() => locker.end())

async function tenant(): Promise<Tenant> {
  const service = await here.service({ may_send_files: true })
  const key = await service.key()
  const template_id = await emailTemplate(key, 'x', 'x')
  const send = () => key.post(EMAIL, { email_address: 'ann@example.net', template_id })
  const file = { file: pdf().toString('base64'), filename: 'form.pdf', sending_method: 'attach' }
  const sendFile = () => key.post(EMAIL, { email_address: 'ann@example.net', template_id, personalisation: { file } })
  const rows = [['email address'], ['ann@example.net']]
  const sendBulk = () => key.post(BULK, { name: 'x', template_id, rows })
  expect((await send()).status).toBe(201) // its counters exist
  return { id: service.id, key, send, sendFile, sendBulk }
}

const countOf = async ({ id }: Tenant) =>
  (await here.parts.db.sql<{ n: number }>`select count(*) as n from notifications where service_id = ${id}`)[0]?.n

test.each(['rates', 'usage'])('a locked row of %s: others are answered while it is held', async table => {
  if (!locked || !other) throw new Error('there are two')
  await locker.query(`begin; select from ${table} where service_id = '${locked.id}' for update`)
  let isAnswered = false
  const answered = () => {
    isAnswered = true
  }
  const held = [locked.send(), locked.send()]
  for (const one of held) void one.then(answered)
  // Alone in a batch, and together with requests of the locked service, one after the other and many at a time.
  for (let times = 0; times < 5; times++) {
    const more = locked.send()
    void more.then(answered)
    held.push(more)
    expect((await other.send()).status).toBe(201)
  }
  for (const { status } of await Promise.all(Array.from({ length: 20 }, other.send))) expect(status).toBe(201)
  expect(isAnswered).toBe(false)
  await locker.query('rollback')
  for (const { status } of await Promise.all(held)) expect(status).toBe(201)
  expect([await countOf(locked), await countOf(other)]).toEqual([1 + held.length, 1 + 5 + 20])
  // The next ones share a batch again.
  const together = await Promise.all([locked.send(), other.send(), locked.send()])
  expect(together.map(({ status }) => status)).toEqual([201, 201, 201])
})

test('a lock that ends while requests wait for it delays no one for long, and nothing is lost or doubled', async () => {
  if (!locked || !other) throw new Error('there are two')
  const sent: Promise<Reply>[] = []
  for (let times = 0; times < 5; times++) {
    await locker.query(`begin; select from rates where service_id = '${locked.id}' for update`)
    sent.push(locked.send(), other.send(), locked.send())
    await other.send()
    await locker.query('rollback')
  }
  for (const { status } of await Promise.all(sent)) expect(status).toBe(201)
  expect([await countOf(locked), await countOf(other)]).toEqual([1 + 10, 1 + 10])
})

test.each<'sendFile' | 'sendBulk'>(['sendFile', 'sendBulk'])('%s: others are answered while it waits', async send => {
  if (!locked || !other) throw new Error('there are two')
  await locker.query(`begin; select from usage where service_id = '${locked.id}' for update`)
  let isAnswered = false
  // More than there are places and connections.
  const held = Array.from({ length: 12 }, locked[send])
  for (const one of held)
    void one.then(() => {
      isAnswered = true
    })
  await expect.poll(waitingForLocks).toBeGreaterThan(0)
  for (const own of [other.send, other[send], other.send]) expect((await own()).status).toBe(201)
  expect(isAnswered).toBe(false)
  await locker.query('rollback')
  for (const { status } of await Promise.all(held)) expect(status).toBe(201)
  expect(await countOf(locked)).toBe(send === 'sendFile' ? 1 + held.length : 1)
})

test('services whose limits are locked do not wait for each other', async () => {
  const all = [locked, other, await tenant(), await tenant()] as Tenant[]
  const lock = async (tenants: readonly Tenant[]) => {
    const session = here.parts.db.client()
    await session.connect()
    await session.query(
      `begin; select from rates where service_id in (${tenants.map(({ id }) => `'${id}'`)}) for update`,
    )
    return () => session.end()
  }
  const [first, ...rest] = all as [Tenant, ...Tenant[]]
  const [release, releaseRest] = [await lock([first]), await lock(rest)]
  const [sent, ...others] = all.flatMap(one => [one.send(), one.send()])
  // Each waits in a statement of its own.
  await expect.poll(waitingForLocks).toBe(all.length)
  await releaseRest()
  for (const { status } of await Promise.all(others.slice(1))) expect(status).toBe(201)
  await release()
  expect([(await sent)?.status, (await others[0])?.status]).toEqual([201, 201])
})

const waitingForLocks = async () =>
  (
    await here.parts.db.sql<{ n: number }>`
      select count(*) as n
      from pg_stat_activity
      where datname = current_database()
        and wait_event_type = 'Lock'`
  )[0]?.n
