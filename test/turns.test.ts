// The bulk thread schedules fairly between services. One service sends files made to cost time; another one must not be delayed.
import { beforeAll, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { emailTemplate, type Key, SMS, smsTemplate } from './support/sends.ts'
import { call, type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'
const UNLIMITED = 10_000_000

let here: World

beforeAll(async () => {
  here = await world()
  await here.service().then(async service => {
    const key = await service.key()
    await honest(key, await emailTemplate(key)) // the thread is started
  })
})

async function tenant() {
  const limits = { rate_limit: UNLIMITED, email_daily_limit: UNLIMITED, sms_daily_limit: UNLIMITED }
  const key = await (await here.service(limits)).key()
  return { key, email: await emailTemplate(key), text: await smsTemplate(key) }
}

const send = (key: Key, raw: string) =>
  call(here.address, 'POST', BULK, { raw, headers: { authorization: `ApiKey-v1 ${key.key}` } })

function honest(key: Key, template: Id) {
  const rows = Array.from({ length: 1_000 }, (_, at) => [`ann${at}@example.org`, 'Ann'])
  return send(
    key,
    JSON.stringify({ name: 'Honest', template_id: template, rows: [['email address', 'name'], ...rows] }),
  )
}

/** Every text is searched for a number up to its end. */
const odd = (at: number) => `+44 7 +44 7 (613) 999 1 ${at % 10} +1 613 555 0${100 + (at % 100)}`

const hostile: [string, (template: { email: Id; text: Id }) => string, number[]][] = [
  [
    '8,000 odd phone numbers',
    ({ text }) => {
      const rows = Array.from({ length: 8_000 }, (_, at) => [odd(at), 'x'.repeat(100)])
      return JSON.stringify({ name: 'Odd', template_id: text, rows: [['phone number', 'name'], ...rows] })
    },
    [201, 400],
  ],
  [
    '50 MB of lists',
    ({ email }) => `{"name":"Lists","template_id":"${email}","rows":[${'[],'.repeat(16_000_000)}[]]}`,
    [400],
  ],
  [
    '50 MB of names in one object',
    ({ email }) => {
      const names = Array.from({ length: 4_000_000 }, (_, at) => `"n${at}":1`).join(',')
      return `{"name":"Names","template_id":"${email}","rows":[["email address","name"],["a@example.org",{${names}}]]}`
    },
    [400],
  ],
  [
    '50 MB of cells in one row',
    ({ email }) => {
      const cells = '"ab",'.repeat(10_000_000)
      return `{"name":"Cells","template_id":"${email}","rows":[["email address","name"],["a@example.org",${cells}""]]}`
    },
    [201, 400, 413],
  ],
]

for (const [what, bodyOf, allowed] of hostile)
  test(`§4 row 4: ${what} get an answer of their own, and another service is served meanwhile`, async () => {
    const [bad, good] = await Promise.all([tenant(), tenant()])
    const body = bodyOf(bad)
    let isOver = false
    const theirs = Promise.all([send(bad.key, body), send(bad.key, body)]).finally(() => {
      isOver = true
    })
    const ours: { status: number; ms: number }[] = []
    while (!isOver) {
      const since = performance.now()
      const { status } = await honest(good.key, good.email)
      ours.push({ status, ms: Math.round(performance.now() - since) })
    }
    const times = ours.map(one => one.ms).sort((a, b) => a - b)
    console.log(`${what}: ${ours.length} neighbouring jobs, longest ${times.at(-1)} ms`)
    for (const reply of await theirs) expect(allowed, reply.text.slice(0, 300)).toContain(reply.status)
    expect(ours.map(one => one.status)).toEqual(ours.map(() => 201))
    expect(times.at(-1)).toBeLessThan(15_000)
  }, 180_000)

test('§4 row 4: 4,000 odd phone numbers in a bulk job are refused in seconds', async () => {
  const { key, text } = await tenant()
  const rows = Array.from({ length: 4_000 }, (_, at) => ['1 '.repeat(30) + (at % 10), 'Ann'])
  const since = performance.now()
  const reply = await send(
    key,
    JSON.stringify({ name: 'Odd', template_id: text, rows: [['phone number', 'name'], ...rows] }),
  )
  expect(reply.status).toBe(400)
  expect(reply.body.errors[0].message).toMatch(/^Some rows have errors. Row 1 - phone number: invalid recipient/)
  expect(performance.now() - since).toBeLessThan(2_000)
})

test('§4 row 4: an odd phone number in a single send costs at most a few milliseconds', async () => {
  const { key, text } = await tenant()
  const sends = Array.from({ length: 50 }, (_, at) => at)
  const since = performance.now()
  for (const at of sends)
    expect(
      (await key.post(SMS, { phone_number: '1 '.repeat(30) + at, template_id: text, personalisation: { name: 'Ann' } }))
        .status,
    ).toBe(400)
  expect((performance.now() - since) / sends.length).toBeLessThan(100)
})
