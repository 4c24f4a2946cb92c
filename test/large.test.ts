// Large content of one tenant must not delay other requests (contract 22.13). The event loop of the service is measured while one
// caller sends, lists and reads the largest messages.
import http from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { longestHold } from './support/held.ts'
import { EMAIL, emailTemplate, type Key, LIST } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const UNLIMITED = 10_000_000
/** No request may block the event loop longer. */
const MOST_MS = 50

let here: World
let maker: Key
let tester: Key

beforeAll(async () => {
  here = await world({}, { engine: true })
  const service = await here.service({ rate_limit: UNLIMITED, email_daily_limit: UNLIMITED })
  maker = await service.key()
  tester = await service.key({ type: 'test' })
})

/** Sends prepared bytes and discards the answer: the caller in this process costs next to nothing. */
function quietly(by: Key, method: string, path: string, body?: Buffer): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `ApiKey-v1 ${by.key}`,
      ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
    }
    const request = http.request(`${here.address}${path}`, { method, headers, agent: false }, response => {
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const bulk = (template: Id, rows: unknown[]) => json({ name: 'Large', template_id: template, rows })

test('§22.13 a template of 400 placeholders and 250 rows of 40 kB is refused, without delaying others', async () => {
  const template = await emailTemplate(maker, '((a))'.repeat(400), 'Subject')
  const rows = Array.from({ length: 250 }, (_, at) => [`a${at}@example.org`, 'x'.repeat(40_000)])
  const body = bulk(template, [['email address', 'a'], ...rows])
  const before = process.memoryUsage().rss
  expect(
    await longestHold(async () =>
      expect((await quietly(tester, 'POST', '/v2/notifications/bulk', body)).status).toBe(400),
    ),
  ).toBeLessThan(MOST_MS)
  expect(process.memoryUsage().rss - before).toBeLessThan(600e6)
}, 120_000)

test('§22.13 a list of 250 e-mails of 1,960,000 characters is made in slices and in pages', async () => {
  const template = await emailTemplate(maker, '((a))'.repeat(49), 'Subject')
  const rows = Array.from({ length: 250 }, (_, at) => [`a${at}@example.org`, 'x'.repeat(40_000)])
  const sent = await quietly(
    tester,
    'POST',
    '/v2/notifications/bulk',
    bulk(template, [['email address', 'a'], ...rows]),
  )
  expect(sent.status).toBe(201)
  for (;;) {
    const { body } = await tester.get(`${LIST}?include_jobs=true`)
    if (
      body.notifications.length > 0 &&
      body.notifications.every((one: { status: string }) => one.status === 'delivered')
    )
      break
    await new Promise(resume => setTimeout(resume, 100))
  }
  const before = process.memoryUsage().rss
  const hold = await longestHold(async () => {
    const page = await quietly(tester, 'GET', `${LIST}?include_jobs=true`)
    expect(page.status).toBe(200)
    expect(page.bytes).toBeLessThan(5e6)
  })
  expect(hold).toBeLessThan(MOST_MS)
  expect(process.memoryUsage().rss - before).toBeLessThan(300e6)
}, 120_000)

test('§22.13 one e-mail of 8,000 times 50 kB is refused at once', async () => {
  const template = await emailTemplate(maker, '((a))'.repeat(8_000), 'Subject')
  const body = json({
    email_address: 'ann@example.org',
    template_id: template,
    personalisation: { a: 'x'.repeat(50_000) },
  })
  const since = performance.now()
  expect((await quietly(tester, 'POST', EMAIL, body)).status).toBe(400)
  expect(performance.now() - since).toBeLessThan(1_000)
  expect(await longestHold(() => quietly(tester, 'POST', EMAIL, body))).toBeLessThan(MOST_MS)
})

for (const [what, text] of [
  ['plain words', 'word and another word. '],
  ['Markdown', `* **a** _b_ [x](http://y.zz) "q" it's <b>\n`],
  ['letters outside Latin', 'Привет, это сообщение.\n'],
  ['control characters', '\u0001'],
] as const)
  test(`§22.13 the largest e-mail of ${what} is accepted, delivered and read in slices`, async () => {
    const template = await emailTemplate(maker, '((a))'.repeat(40), 'Subject')
    const a = text.repeat(Math.floor(50_000 / text.length))
    const body = json({ email_address: 'ann@example.org', template_id: template, personalisation: { a } })
    let newest = ''
    const hold = await longestHold(async () => {
      expect((await quietly(maker, 'POST', EMAIL, body)).status).toBe(201)
      newest = await delivered()
    })
    expect(hold, 'accept and delivery').toBeLessThan(MOST_MS)
    expect(await longestHold(() => quietly(maker, 'GET', `${LIST}/${newest}`)), 'reading').toBeLessThan(MOST_MS)
  }, 120_000)

/** Queries the database, so that nothing large is read for it. */
async function delivered(): Promise<string> {
  for (;;) {
    const [newest] = await here.parts.db.sql<{ id: string; status: string }>`
      select id, status from states order by id desc limit 1`
    if (newest?.status === 'delivered') return newest.id
    await new Promise(resume => setTimeout(resume, 20))
  }
}
