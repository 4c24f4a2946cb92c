// Reports: messages, jobs and counts of a period, for other programs (docs/reports.md).
import { beforeAll, describe, expect, test } from 'vitest'
import { foldHourlyCounts, recountDays } from '../../src/maintenance/statistics.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, SMS, smsTemplate, ZULU } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const MESSAGES = '/herald/v1/reports/messages'
const JOBS = '/herald/v1/reports/jobs'
const STATISTICS = '/herald/v1/statistics'
const BULK = '/v2/notifications/bulk'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let testKey: Key
let other: Key
let email: string
let text: string
let scheduled: string

const today = () => new Date().toISOString().slice(0, 10)
const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Sends, and waits until everything that is due has a final status. */
beforeAll(async () => {
  here = await world({}, { engine: true })
  service = await here.service()
  key = await service.key()
  testKey = await service.key({ type: 'test' })
  other = await (await here.service()).key()
  email = await emailTemplate(key, 'Hello ((name))', 'Hi')
  text = await smsTemplate(key, 'Hi ((name))')
  const to = { email_address: 'ada@example.org', template_id: email }
  await key.post(EMAIL, { ...to, personalisation: { name: 'Ada' }, reference: '=1+1' })
  await key.post(SMS, { phone_number: '613-555-0123', template_id: text, personalisation: { name: 'Bo' } })
  await key.post(SMS, {
    phone_number: '613-555-0124',
    template_id: text,
    personalisation: { name: 'x'.repeat(200) },
  })
  const later = { ...to, personalisation: { name: 'Later' }, scheduled_for: inMinutes(60) }
  scheduled = (await key.post(EMAIL, later)).body.id
  await testKey.post(EMAIL, { ...to, personalisation: { name: 'Test' } })
  const rows = [
    ['email address', 'name'],
    ['p1@example.org', 'One'],
    ['p2@example.org', '@Two'],
  ]
  await key.post(BULK, { name: '-November', template_id: email, rows })
  for (let n = 0; n < 400; n++) {
    const found = await lines(MESSAGES)
    const waiting = found.filter(
      ({ status, id }) => !['delivered', 'sent'].includes(String(status)) && id !== scheduled,
    )
    if (found.length === 6 && waiting.length === 0) return
    await new Promise(resume => setTimeout(resume, 50))
  }
  throw new Error('the messages were not sent')
})

async function lines(path: string, by: Key = key): Promise<Record<string, unknown>[]> {
  const reply = await by.get(`${path}${path.includes('?') ? '&' : '?'}format=ndjson`)
  expect(reply.status).toBe(200)
  return reply.text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

describe('GET /herald/v1/reports/messages', () => {
  test('every message, those of jobs too, newest first', async () => {
    const found = await lines(MESSAGES)
    expect(found).toHaveLength(6)
    expect(found.map(({ id }) => id)).toEqual([...found.map(({ id }) => id)].sort().reverse())
    expect(found.find(({ reference }) => reference === '=1+1')).toEqual({
      id: expect.any(String),
      recipient: 'ada@example.org',
      type: 'email',
      status: 'delivered',
      status_description: 'Delivered',
      reference: '=1+1',
      template_id: email,
      template_version: 1,
      template_name: 'A template',
      job_id: null,
      job_name: null,
      text_parts: null,
      created_at: expect.stringMatching(ZULU),
      scheduled_for: null,
      sent_at: expect.stringMatching(ZULU),
      completed_at: expect.stringMatching(ZULU),
    })
    expect(found.filter(({ job_name }) => job_name === '-November').map(({ recipient }) => recipient)).toEqual([
      'p2@example.org',
      'p1@example.org',
    ])
  })

  test('the parts of text messages, as they are charged', async () => {
    const found = (await lines(MESSAGES)).filter(({ type }) => type === 'sms')
    expect(found.map(({ recipient, text_parts }) => [recipient, text_parts])).toEqual([
      ['613-555-0124', 2],
      ['613-555-0123', 1],
    ])
  })

  test('as CSV, in which no cell is a formula', async () => {
    const reply = await key.get(MESSAGES)
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="messages.csv"')
    const rows = reply.text.split('\r\n')
    expect(rows[0]).toMatch(/^"id","recipient","type","status",/)
    expect(rows).toHaveLength(8)
    expect(reply.text).toContain(`"'=1+1"`)
    expect(reply.text).toContain(`"'-November"`)
    expect(reply.text).not.toMatch(/(?:^|,)"[=+\-@]/m)
  })

  test('filters', async () => {
    const count = async (query: string) => (await lines(`${MESSAGES}?${query}`)).length
    expect(await count(`template_id=${text}`)).toBe(2)
    expect(await count('status=scheduled')).toBe(1)
    expect(await count('status=failed')).toBe(0)
    expect(await count(`status=delivered&template_id=${email}`)).toBe(3)
    expect(await count(`from=${today()}&to=${today()}`)).toBe(6)
    expect(await count(`to=${dayAfter(-1)}`)).toBe(0)
    expect(await count(`from=${today()}T00:00:00Z&to=${today()}T00:00:01Z`)).toBe(0)
  })

  test('a key sees messages of its service and of keys of its type', async () => {
    expect(await lines(MESSAGES, other)).toEqual([])
    expect(await lines(MESSAGES, testKey)).toHaveLength(1)
    expect((await here.call('GET', MESSAGES)).status).toBe(401)
  })

  test.each([
    ['from=yesterday', 'from is not a date or a time in ISO 8601'],
    ['to=2026-02-30', 'to is not a date or a time in ISO 8601'],
    ['from=2026-05-02&to=2026-05-01T00:00', 'from must be before to'],
    ['from=2020-01-01&to=2026-01-01', 'from and to must be at most 403 days apart'],
    ['format=xml', 'format xml is not one of [csv, ndjson]'],
    ['template_id=x', 'template_id is not a valid UUID'],
  ])('%s is refused', async (query, sentence) => {
    const reply = await key.get(`${MESSAGES}?${query}`)
    expect([reply.status, reply.body.errors]).toEqual([400, [{ error: 'ValidationError', message: sentence }]])
  })
})

describe('GET /herald/v1/reports/jobs', () => {
  test('jobs with what became of their messages', async () => {
    const [job, ...others] = await lines(JOBS)
    expect(others).toEqual([])
    expect(job).toMatchObject({
      name: '-November',
      type: 'email',
      status: 'finished',
      key_type: 'normal',
      messages: 2,
      delivered: 2,
      failed: 0,
      in_transit: 0,
      cancelled: 0,
      created_at: expect.stringMatching(ZULU),
    })
    expect(await lines(`${JOBS}?to=${dayAfter(-1)}`)).toEqual([])
    expect(await lines(JOBS, other)).toEqual([])
    expect((await key.get(JOBS)).text).toMatch(/^"id","name","type",.*\r\n"[0-9a-f-]{36}","'-November","email",/)
  })
})

describe('GET /herald/v1/statistics', () => {
  const groups = async (query: string, by: Key = key) => (await by.get(`${STATISTICS}?${query}`)).body.groups

  test('by day: every message once', async () => {
    const reply = await key.get(STATISTICS)
    expect(reply.body).toMatchObject({ by: 'day', from: expect.stringMatching(ZULU), to: expect.stringMatching(ZULU) })
    expect(reply.body.groups).toEqual([
      {
        group: today(),
        messages: 6,
        delivered: 5,
        failed: 0,
        in_transit: 1,
        cancelled: 0,
        text_parts: 3,
        text_parts_of: 2,
        name: null,
      },
    ])
  })

  test('by template, channel, status and key type', async () => {
    const pairs = async (by: string) =>
      (await groups(`by=${by}`)).map(({ group, messages }: { group: string; messages: number }) => [group, messages])
    expect(new Map(await pairs('template'))).toEqual(
      new Map([
        [email, 4],
        [text, 2],
      ]),
    )
    expect(await pairs('channel')).toEqual([
      ['email', 4],
      ['sms', 2],
    ])
    expect(await pairs('key_type')).toEqual([['normal', 6]])
    const statuses = new Map<string, number>((await pairs('status')) as [string, number][])
    expect(statuses.get('created')).toBe(1)
    expect([...statuses.values()].reduce((sum, one) => sum + one, 0)).toBe(6)
  })

  test('by month: with the parts of text messages that were handed over', async () => {
    expect(await groups('by=month')).toMatchObject([
      { group: today().slice(0, 7), messages: 6, text_parts: 3, text_parts_of: 2 },
    ])
  })

  test('a test key sees those of test keys; another service none', async () => {
    expect(await groups('by=key_type', testKey)).toMatchObject([{ group: 'test', messages: 1 }])
    expect(await groups('by=day', other)).toEqual([])
  })

  test('as CSV', async () => {
    const reply = await key.get(`${STATISTICS}?by=channel&format=csv`)
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(reply.text).toBe(
      '"channel","messages","delivered","failed","in_transit","cancelled","text_parts","text_parts_of"\r\n' +
        '"email","4","3","0","1","0","0","0"\r\n"sms","2","2","0","0","0","3","2"\r\n',
    )
  })

  test('by something else is refused', async () => {
    expect((await key.get(`${STATISTICS}?by=recipient`)).status).toBe(400)
  })

  test('by key: with its name; null is what has no key', async () => {
    const second = await service.key({ name: '=Second' })
    await second.post(EMAIL, { email_address: 'ada@example.org', template_id: email, personalisation: { name: 'A' } })
    type Found = { name: string; delivered: number }[]
    const isSecond = ({ name }: { name: string }) => name === '=Second'
    let found: Found = []
    for (let n = 0; n < 400 && found.find(isSecond)?.delivered !== 1; n++) {
      found = await groups('by=key')
      await new Promise(resume => setTimeout(resume, 50))
    }
    const total = { messages: 6, in_transit: 1, cancelled: 0, text_parts: 3, text_parts_of: 2 }
    expect(found.find(one => !isSecond(one))).toMatchObject({ ...total, delivered: 5 })
    expect(found.find(isSecond)).toMatchObject({ messages: 1, text_parts: 0 })
    expect(found).toHaveLength(2)
    const csv = (await key.get(`${STATISTICS}?by=key&format=csv`)).text
    expect(csv).toMatch(/^"key","key_name","messages",/)
    expect(csv).toMatch(/\r\n"[0-9a-f-]{36}","'=Second","1",/)

    // Counts of the version before: nobody knows the key.
    await here.parts.db.sql`update states set key_id = null where service_id = ${service.id}`
    await here.parts.db.sql`update hourly_changes set key_id = null where service_id = ${service.id}`
    await here.parts.db.sql`delete from key_counts where service_id = ${service.id}`
    expect(await groups('by=key')).toMatchObject([{ group: null, name: null, messages: 7, text_parts: 3 }])
    expect((await key.get(`${STATISTICS}?by=key&format=csv`)).text).toContain('\r\n"","","7",')
  })

  test('past months keep their parts when the messages are gone', async () => {
    await runSteps(foldHourlyCounts(here.parts))
    await here.parts.db.sql`delete from notifications where service_id = ${service.id}`
    await here.parts.db.sql`delete from states where service_id = ${service.id}`
    await runSteps(recountDays(here.parts))
    expect(await lines(MESSAGES)).toEqual([])
    expect(await groups('by=month')).toMatchObject([{ messages: 7, text_parts: 3, text_parts_of: 2 }])
  })
})
