// No request of one caller blocks the event loop for more than 50 ms: the largest requests and responses. Large message texts are
// in large.test.ts.
import { beforeAll, expect, test } from 'vitest'
import { addedPause, createCaller } from './support/loop.ts'
import { EMAIL, emailTemplate, type Key } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'
const MIB = 1024 * 1024
const MOST_MS = 50

let here: World
let key: Key

beforeAll(async () => {
  here = await world()
  key = await (await here.service({ rate_limit: 1_000_000, email_daily_limit: 1_000_000 })).key()
})

const usual = () => key.get('/v2/notifications')

test('a list of 600 templates of 50,000 characters is complete and in order', async () => {
  const author = await (await here.service()).key()
  const id = await emailTemplate(author, '((name)) '.repeat(5_000), 'Subject')
  await here.parts.db.sql`
    insert into templates (id, service_id, type, version, created_by, created_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, service_id, type, version, created_by, created_at
    from templates, generate_series(1, 600) n
    where id = ${id}`
  await here.parts.db.sql`
    insert into template_versions (template_id, version, name, content, subject, category_id, created_by, made_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, version, 'T' || lpad(n::text, 5, '0'), content,
           subject, category_id, created_by, made_at
    from template_versions, generate_series(1, 600) n
    where template_id = ${id}`

  const listed = await author.get('/v2/templates')
  expect([listed.status, listed.headers.get('content-type')]).toEqual([200, 'application/json'])
  const names = listed.body.templates.map((one: { name: string }) => one.name)
  expect(names).toHaveLength(601)
  expect(names).toEqual([...names].sort())
  expect(listed.body.templates[0]).toEqual((await author.get(`/v2/template/${id}`)).body)
  expect((await author.get('/v2/templates?type=sms')).text).toBe('{"templates":[]}')

  const caller = await createCaller(here.port, '/v2/templates', author.key, null)
  try {
    expect(await addedPause(usual, caller.ask)).toBeLessThan(MOST_MS)
  } finally {
    await caller.stop()
  }
}, 120_000)

test.each([
  ['a bulk job of 64 MB', BULK, 63 * MIB],
  ['an e-mail of 20 MB', EMAIL, 19 * MIB],
])(
  '%s with an Idempotency-Key',
  async (_what, path, size) => {
    const body = JSON.stringify({ reference: 'x' }).padEnd(size, ' ')
    const caller = await createCaller(here.port, path, key.key, body, { 'idempotency-key': 'one' })
    try {
      expect(await addedPause(usual, caller.ask)).toBeLessThan(MOST_MS)
      expect(await caller.ask()).toBe(400)
    } finally {
      await caller.stop()
    }
  },
  60_000,
)

test('a template of 1 MiB that is all brackets, and its preview', async () => {
  const body = (content: string) =>
    JSON.stringify({
      name: 'x',
      template_type: 'email',
      subject: 's',
      content,
      template_category_id: '207b293c-2ae5-48e8-836d-fcabd60b2153',
    })
  for (const content of ['('.repeat(1_000_000), '((a??'.repeat(200_000), '((a))'.repeat(200_000)]) {
    const caller = await createCaller(here.port, '/v2/manage-template', key.key, body(content))
    try {
      expect(await addedPause(usual, caller.ask)).toBeLessThan(MOST_MS)
      expect(await caller.ask()).toBe(400)
    } finally {
      await caller.stop()
    }
  }
}, 60_000)
