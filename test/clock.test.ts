// The database clock is set while the service runs: the process clock follows within seconds, and no request fails.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DatabaseClock, fakeDatabaseClock } from '../faults/support/fake-database-clock.ts'
import { logGroup } from './support/events.ts'
import { EMAIL, emailTemplate, type Key, LIST } from './support/sends.ts'
import { call, type World, world } from './support/world.ts'

const MINUTE = 60
let here: World
let clock: DatabaseClock
let key: Key
let template_id: string

beforeAll(async () => {
  here = await world()
  key = await (await here.service({ rate_limit: 1_000_000 })).key()
  template_id = await emailTemplate(key, 'Hello', 'News')
  clock = await fakeDatabaseClock(here.parts.db)
  await until(async () => (await send()).status === 201)
})

afterAll(() => clock.reset())

beforeEach(async () => {
  await clock.set(0)
  await until(async () => Math.abs(await ahead()) < 2)
})

const send = () => key.post(EMAIL, { email_address: 'a@example.org', template_id })

async function databaseTime(): Promise<number> {
  const [row] = await here.parts.db.sql<{ at: number }>`select extract(epoch from clock_timestamp())::float8 as at`
  return row?.at ?? 0
}

/** The seconds by which the creation time of a new message is ahead of the database. */
async function ahead(): Promise<number> {
  const reply = await send()
  const { created_at } = (await key.get(`${LIST}/${reply.body.id}`)).body
  return Date.parse(created_at) / 1000 - (await databaseTime())
}

async function until(isSo: () => Promise<boolean>) {
  for (const since = performance.now(); performance.now() - since < 10_000; await sleep(50))
    if (await isSo().catch(() => false)) return
  throw new Error('not so within 10 s')
}

const steps = async () => {
  const text = await (await fetch(`${here.address}/metrics`)).text()
  return Number(/^herald_clock_steps (\d+)$/m.exec(text)?.[1])
}

/** Signed by a caller that uses the database clock. */
async function shownToken(): Promise<number> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: key.key.slice(-73, -37), iat: Math.floor(await databaseTime()) }
  const signed = `${part({ typ: 'JWT', alg: 'HS256' })}.${part(claims)}`
  const signature = createHmac('sha256', key.key.slice(-36)).update(signed).digest('base64url')
  return (await call(here.address, 'GET', LIST, { headers: { authorization: `Bearer ${signed}.${signature}` } })).status
}

describe('4.7 the database clock is set', () => {
  test.each([-10 * MINUTE, 10 * MINUTE, -50 * 60 * MINUTE])(
    'by %d seconds: created_at and tokens follow, the step is counted, and no request fails',
    async seconds => {
      const before = await steps()
      await clock.set(seconds)
      const statuses: number[] = []
      for (const since = performance.now(); performance.now() - since < 4_000; await sleep(20))
        statuses.push((await send()).status)
      expect(statuses.filter(status => status !== 201)).toEqual([])
      expect(Math.abs(await ahead())).toBeLessThan(2)
      expect(await shownToken()).toBe(200)
      await expect.poll(steps).toBe(before + 1)
      // The step back is counted before the next test begins. Metrics are at most one second old.
      await clock.set(0)
      await expect.poll(steps).toBe(before + 2)
    },
  )

  test('back over midnight: messages accepted then are found and listed', async () => {
    const now = await databaseTime()
    await clock.set(-(now % 86_400) - 30)
    await until(async () => (await ahead()) < 2)
    const other = await (await here.service()).key()
    const template = await emailTemplate(other, 'Hello', 'News')
    const { id } = (await other.post(EMAIL, { email_address: 'a@example.org', template_id: template })).body
    expect((await other.get(`${LIST}/${id}`)).status).toBe(200)
    const listed = (await other.get(LIST)).body.notifications as { id: string }[]
    expect(listed.some(one => one.id === id)).toBe(true)
  })

  test('back by three days: events are logged', async () => {
    const scope = { service_id: (await here.service()).id, key_type: 'normal' } as const
    await clock.set(-3 * 86_400)
    await until(async () => (await logGroup(here.parts.db.sql, scope, [here.parts.ids.next()])).length > 0)
    const [event] = await here.parts.db.sql<{ days: number }>`
      select extract(epoch from clock_timestamp() - uuid_time(id))::float8 / 86400 as days from events
      where service_id = ${scope.service_id}`
    expect(Math.abs(event?.days ?? 9)).toBeLessThan(0.01)
  })

  test('back: earlier requests do not count against the rate limit for longer than a minute', async () => {
    const service = await here.service({ rate_limit: 5 })
    const few = await service.key()
    const template = await emailTemplate(few, 'Hello', 'News')
    const ask = async () => (await few.post(EMAIL, { email_address: 'a@example.org', template_id: template })).status
    for (let n = 0; n < 6; n++) await ask()
    expect(await ask()).toBe(429)
    await clock.set(-10 * MINUTE)
    // Not polled: refused requests count too.
    await until(async () => {
      const rows = await here.parts.db.sql`select at from rate_hits where service_id = ${service.id}`
      return rows.length === 0
    })
    expect(await ask()).toBe(201)
  })
})
