// Interface 7.2 and 8; contract 1.4 (Retry-After), 4, 15.1 and 15.2; check vector 17.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { type Reply, type World, world } from '../support/world.ts'

let here: World
beforeAll(async () => {
  here = await world()
})

async function fresh(options: Parameters<World['service']>[0] = {}) {
  const service = await here.service(options)
  const key: Key = await service.key()
  const [template, text] = [await emailTemplate(key, 'Hello', 'News'), await smsTemplate(key, 'Hello')]
  const email = (more: object = {}, by: Key = key) =>
    by.post(EMAIL, { email_address: 'maria@example.org', template_id: template, ...more })
  const sms = (more: object = {}, by: Key = key) =>
    by.post(SMS, { phone_number: '+16135550199', template_id: text, ...more })
  return { service, key, email, sms }
}

/** Moves time forward until these requests have left the window. */
const age = (service: Id, seconds: number) => here.parts.db.sql`
  update rate_hits set at = at - make_interval(secs => ${seconds}) where service_id = ${service}`

const statuses = (replies: readonly Reply[]) => replies.map(reply => reply.status)
const tooFast = (type: string, limit: number) =>
  [429, 'RateLimitError', `Exceeded rate limit for key type ${type} of ${limit} requests per 60 seconds`] as const
const tooMany = (limit: number) => [429, 'TooManyRequestsError', `Exceeded send limits (${limit}) for today`] as const

describe('15.1 request rate', () => {
  test('check vector 17: 1000 requests per 60 seconds; the next is refused, another key type still works', async () => {
    const { service, key, email, sms } = await fresh()
    // Refused for their template, but counted: every request that reached the rate limit counts.
    const knock = () => email({ template_id: randomUUID() })
    const replies: Reply[] = []
    while (replies.length < 1_000) replies.push(...(await Promise.all(Array.from({ length: 100 }, knock))))
    expect(replies).toHaveLength(1_000)
    expect(new Set(statuses(replies))).toEqual(new Set([400]))

    const refused = await email()
    expect(refused).toBeRefused(...tooFast('LIVE', 1000))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(await sms()).toBeRefused(...tooFast('LIVE', 1000))
    expect(await email({}, await service.key())).toBeRefused(...tooFast('LIVE', 1000))
    for (const type of ['team', 'test'] as const)
      expect((await email({}, await service.key({ type }))).status).toBe(201)
    expect((await (await fresh()).email()).status).toBe(201)
    // Only the send routes are limited.
    expect((await key.get(LIST)).status).toBe(200)
    expect((await key.get('/v2/templates')).status).toBe(200)
  })

  test('the limit of the service, shown in the message with the key type', async () => {
    const { service, email, sms } = await fresh({ rate_limit: 2 })
    const types = { LIVE: 'normal', TEAM: 'team', TEST: 'test' } as const
    for (const [name, type] of Object.entries(types)) {
      const by = await service.key({ type })
      expect(statuses([await email({}, by), await sms({}, by)])).toEqual([201, 201])
      expect(await email({}, by)).toBeRefused(...tooFast(name, 2))
      expect(await sms({}, by)).toBeRefused(...tooFast(name, 2))
    }
  })

  test('a request leaves the window after 60 seconds, not before', async () => {
    const { service, email } = await fresh({ rate_limit: 1 })
    expect((await email()).status).toBe(201)
    await age(service.id, 30)
    const refused = await email()
    expect(refused.status).toBe(429)
    await age(service.id, 30.5)
    // The refused request was made half a minute ago and still counts.
    expect((await email()).status).toBe(429)
    await age(service.id, 60.5)
    expect((await email()).status).toBe(201)
  })

  test('refused requests are counted as well, so hammering prolongs the block', async () => {
    const { service, email } = await fresh({ rate_limit: 2 })
    expect(statuses([await email(), await email()])).toEqual([201, 201])
    await age(service.id, 59)
    expect(statuses([await email(), await email()])).toEqual([429, 429])
    await age(service.id, 2)
    expect((await email()).status).toBe(429)
    await age(service.id, 61)
    expect((await email()).status).toBe(201)
  })

  test('1.4 Retry-After: whole seconds until the window frees a slot', async () => {
    const { service, email } = await fresh({ rate_limit: 3 })
    await email()
    await age(service.id, 40)
    await email()
    await email()
    // Four are in the window; the oldest leaves in 20 seconds, but three stay: the next in 60.
    const refused = await email()
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(55)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  })

  test('a refused caller who waits as long as Retry-After says is accepted', async () => {
    const { service, email } = await fresh({ rate_limit: 2 })
    for (const seconds of [25, 10]) {
      await email()
      await age(service.id, seconds)
    }
    const refused = await email()
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    await age(service.id, wait)
    expect((await email()).status).toBe(201)
  })

  test('RateLimit and RateLimit-Policy on every answer to a counted request', async () => {
    const { email, sms } = await fresh({ rate_limit: 4, email_daily_limit: 1 })
    const headers = (reply: Reply) => [reply.headers.get('ratelimit-policy'), reply.headers.get('ratelimit')]
    const left = (count: number) => ['"requests";q=4;w=60', expect.stringMatching(`^"requests";r=${count};t=\\d+$`)]
    const accepted = await email()
    expect([accepted.status, ...headers(accepted)]).toEqual([201, ...left(3)])
    const wrong = await sms({ template_id: randomUUID() })
    expect([wrong.status, ...headers(wrong)]).toEqual([400, ...left(2)])
    const full = await email()
    expect([full.status, ...headers(full)]).toEqual([429, ...left(1)])
    expect((await sms()).status).toBe(201)
    const refused = await sms()
    expect([refused.status, ...headers(refused)]).toEqual([429, ...left(0)])
  })

  test('4 only requests that passed steps 1 to 7 are counted', async () => {
    const { key, email } = await fresh({ rate_limit: 3 })
    await here.call('POST', EMAIL, { body: {} })
    await here.call('POST', EMAIL, { raw: '[', headers: { authorization: `ApiKey-v1 ${key.key}` } })
    await email({ foo: 1 })
    await email({ personalisation: { doc: { file: 'abc', filename: 'a.txt', sending_method: 'link' } } })
    await key.get(LIST)
    expect((await email()).headers.get('ratelimit')).toMatch(/^"requests";r=2;/)

    const silent = await fresh({ rate_limit: 3 })
    await silent.service.change({ may_send_email: false })
    await expect.poll(async () => (await silent.email()).status, { interval: 5 }).toBe(400)
    await silent.service.change({ state: 'suspended', may_send_email: true })
    await expect.poll(async () => (await silent.email()).status, { interval: 5 }).toBe(403)
    await silent.service.change({ state: 'active' })
    await expect.poll(async () => (await silent.email()).status, { interval: 5 }).toBe(201)
    const counted = await here.parts.db.sql<{ in_window: number }>`
      select in_window from rates where service_id = ${silent.service.id}`
    expect(counted.map(row => row.in_window)).toEqual([1])
  })

  test('exact for concurrent requests', async () => {
    const { email } = await fresh({ rate_limit: 30 })
    const replies = await Promise.all(Array.from({ length: 90 }, () => email()))
    expect(replies.filter(reply => reply.status === 201)).toHaveLength(30)
    expect(replies.filter(reply => reply.status === 429)).toHaveLength(60)
  })
})

describe('15.2 daily limit', () => {
  const today = () => new Date().toISOString().slice(0, 10)
  const used = (service: Id, channel: 'email' | 'sms', count: number) => here.parts.db.sql`
    insert into usage (service_id, channel, day, used, granted, most)
    values (${service}, ${channel}, ${today()}, ${count}, 0, ${count})`

  test.each([
    ['trial', 50, 50],
    ['live', 10_000, 1_500],
  ] as const)('defaults of a %s service: %i e-mails and %i texts, counted apart', async (mode, emails, texts) => {
    const { service, email, sms } = await fresh({ mode })
    await used(service.id, 'email', emails - 2)
    await used(service.id, 'sms', texts - 1)
    expect(statuses([await email(), await email()])).toEqual([201, 201])
    expect(await email()).toBeRefused(...tooMany(emails))
    expect((await sms()).status).toBe(201)
    expect(await sms()).toBeRefused(...tooMany(texts))
  })

  test('the service’s own; never exceeded by concurrent requests', async () => {
    const { key, email, sms } = await fresh({ email_daily_limit: 7, sms_daily_limit: 0 })
    const replies = await Promise.all(Array.from({ length: 40 }, () => email()))
    expect(replies.filter(reply => reply.status === 201)).toHaveLength(7)
    for (const reply of replies.filter(reply => reply.status !== 201)) expect(reply).toBeRefused(...tooMany(7))
    expect((await key.get(LIST)).body.notifications).toHaveLength(7)
    expect(await sms()).toBeRefused(...tooMany(0))
  })

  test('shared by the live and team keys of the service', async () => {
    const { service, email } = await fresh({ email_daily_limit: 2 })
    const team = await service.key({ type: 'team' })
    expect(statuses([await email(), await email({}, team)])).toEqual([201, 201])
    expect(await email({}, team)).toBeRefused(...tooMany(2))
    expect(await email()).toBeRefused(...tooMany(2))
  })

  test('1.4 Retry-After: whole seconds until 00:00 UTC', async () => {
    const { email } = await fresh({ email_daily_limit: 0 })
    const untilMidnight = () => Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1000)
    const before = untilMidnight()
    const wait = Number((await email()).headers.get('retry-after'))
    expect(wait).toBeLessThanOrEqual(before + 1)
    expect(wait).toBeGreaterThanOrEqual(untilMidnight() - 1)
    expect(Number.isInteger(wait)).toBe(true)
  })

  test('a text of several parts counts once', async () => {
    const { key, sms } = await fresh({ sms_daily_limit: 2 })
    const template_id = await smsTemplate(key, 'a'.repeat(500))
    expect(statuses([await sms({ template_id }), await sms({ template_id })])).toEqual([201, 201])
    expect((await sms({ template_id })).status).toBe(429)
  })

  const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)

  test('the day is the UTC date of the due time', async () => {
    const { email } = await fresh({ email_daily_limit: 1 })
    const at = (scheduled_for: string) => email({ scheduled_for })
    expect((await email()).status).toBe(201)
    expect(await email()).toBeRefused(...tooMany(1))
    expect((await at(`${day(1)}T10:00:00`)).status).toBe(201)
    expect(await at(`${day(1)}T23:59:59.9999999`)).toBeRefused(...tooMany(1))
    // 23:30 two hours west of Greenwich is the next day in UTC.
    expect((await at(`${day(1)}T23:30:00-02:00`)).status).toBe(201)
    expect(await at(`${day(2)}T10:00:00`)).toBeRefused(...tooMany(1))
    expect((await at(`${day(3)}T00:00:00`)).status).toBe(201)
  })

  test('given back when a scheduled message is cancelled, to its own day and once', async () => {
    const { key, email } = await fresh({ email_daily_limit: 1 })
    const dues = [`${day(1)}T10:00:00`, `${day(2)}T23:59:59.9999999`]
    for (const scheduled_for of dues) {
      const { id } = (await email({ scheduled_for })).body
      expect((await email({ scheduled_for })).status).toBe(429)
      expect((await key.delete(`${LIST}/${id}`)).status).toBe(200)
      expect((await key.delete(`${LIST}/${id}`)).status).toBe(404)
      expect((await email({ scheduled_for })).status).toBe(201)
      expect((await email({ scheduled_for })).status).toBe(429)
    }
  })

  test('not given back by a message that cannot be cancelled', async () => {
    const { key, email } = await fresh({ email_daily_limit: 1 })
    const { id } = (await email()).body
    expect((await key.delete(`${LIST}/${id}`)).status).toBe(400)
    expect((await email()).status).toBe(429)
  })

  test('cancelling the message of a test key gives nothing back, as nothing was taken', async () => {
    const { service, key, email } = await fresh({ email_daily_limit: 1 })
    const scheduled_for = `${day(1)}T10:00:00`
    expect((await email({ scheduled_for })).status).toBe(201)
    const { id } = (await email({ scheduled_for }, await service.key({ type: 'test' }))).body
    expect((await key.delete(`${LIST}/${id}`)).status).toBe(200)
    expect((await email({ scheduled_for })).status).toBe(429)
  })

  test('not counted: test keys, smoke-test recipients, refused requests', async () => {
    const { service, email, sms } = await fresh({ email_daily_limit: 1, sms_daily_limit: 1 })
    const testKey = await service.key({ type: 'test' })
    for (let at = 0; at < 3; at++) {
      expect((await email({}, testKey)).status).toBe(201)
      expect((await email({ email_address: 'simulate-delivered@herald.example' })).status).toBe(201)
      expect((await sms({ phone_number: '+16132532222' })).status).toBe(201)
      expect((await email({ email_reply_to_id: randomUUID() })).status).toBe(400)
      expect((await email({ template_id: randomUUID() })).status).toBe(400)
      expect((await email({ scheduled_for: 'x' })).status).toBe(400)
    }
    expect(statuses([await email(), await sms()])).toEqual([201, 201])
    expect(statuses([await email(), await sms()])).toEqual([429, 429])
  })

  test('when the allowance is used up: test keys and smoke-test recipients are still accepted (21.22)', async () => {
    const { service, email, sms } = await fresh({ email_daily_limit: 0, sms_daily_limit: 0 })
    expect((await email({}, await service.key({ type: 'test' }))).status).toBe(201)
    expect((await email({ email_address: 'simulate-delivered-2@herald.example' })).status).toBe(201)
    expect((await sms({ phone_number: '+16132532223', scheduled_for: inMinutes(5) })).status).toBe(201)
  })

  test('a limit that is raised counts at once, one that is lowered below what was used refuses', async () => {
    const { service, email } = await fresh({ email_daily_limit: 1 })
    expect(statuses([await email(), await email()])).toEqual([201, 429])
    await service.change({ email_daily_limit: 3 })
    await expect.poll(async () => (await email()).status, { interval: 5 }).toBe(201)
    await service.change({ email_daily_limit: 1 })
    await expect.poll(async () => (await email()).body.errors?.[0].message, { interval: 5 }).toBe(tooMany(1)[2])
  })
})
