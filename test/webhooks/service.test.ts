// Webhooks of a running service: from a message to its events at the endpoint.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { holdSending } from '../../src/queue/hold.ts'
import { releaseAll } from '../../src/queue/release.ts'
import { IDENTITY_TABLES, RELEASED_LANES } from '../../src/sending.ts'
import { ALLOWED, type Hooks, hooks } from '../support/hooks.ts'
import { type Hook, type Receiver, startReceiver } from '../support/receiver.ts'
import { CATEGORY, type Caller, world } from '../support/world.ts'

let place: Hooks
let caller: Caller
let template: Id
const receivers: Receiver[] = []

beforeAll(async () => {
  place = await hooks(await world(ALLOWED, { engine: true }))
  caller = await place.home.key()
  const made = await caller.post('/v2/manage-template', {
    name: 'hello',
    template_type: 'email',
    subject: 'Hello',
    content: 'Hello ((name))',
    template_category_id: CATEGORY.general,
  })
  template = made.body.id
})
afterAll(async () => {
  for (const receiver of receivers) await receiver.stop()
})

async function receive(...given: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...given)
  receivers.push(receiver)
  return receiver
}

const until = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 })
const send = async (to = 'ada@example.org', reference = 'order-7') => {
  const reply = await caller.post('/v2/notifications/email', {
    email_address: to,
    template_id: template,
    personalisation: { name: 'Ada' },
    reference,
  })
  expect(reply.status).toBe(201)
  return reply.body.id as Id
}
const of = (list: readonly Hook[], id: Id) =>
  list.filter(({ body }) => body.includes(id)).map(({ body }) => JSON.parse(body))

describe('a message that is delivered', () => {
  test('reaches an endpoint of the standard format, with the recipient only where it is asked for', async () => {
    const [plain, personal] = [await receive(), await receive()]
    await place.endpoint({ url: plain.url })
    await place.endpoint({ url: personal.url, withRecipient: true })
    const id = await send()
    await until(() => of(plain.hooks, id).length).toBeGreaterThan(0)
    await until(() => of(personal.hooks, id).length).toBeGreaterThan(0)
    const expected = {
      type: 'notification.delivered',
      data: {
        notification_id: id,
        reference: 'order-7',
        notification_type: 'email',
        status: 'delivered',
        status_description: 'Delivered',
        template: { id: template, version: 1 },
        job_id: null,
      },
    }
    expect(of(plain.hooks, id).at(-1)).toMatchObject(expected)
    expect(JSON.stringify(plain.hooks)).not.toContain('ada@example.org')
    expect(of(personal.hooks, id).at(-1)).toMatchObject({
      ...expected,
      data: { ...expected.data, to: 'ada@example.org' },
    })
    expect(JSON.stringify(personal.hooks)).not.toContain('"Ada"')
  })

  test('reaches a callback with exactly the keys of the interface', async () => {
    const receiver = await receive()
    await place.endpoint({
      url: receiver.url,
      format: 'callback',
      token: 'a-token-of-the-caller',
      secrets: [],
      types: ['notification.delivered'],
    })
    const id = await send('bob@example.org', 'order-8')
    await until(() => of(receiver.hooks, id).length).toBe(1)
    const [body] = of(receiver.hooks, id)
    const { body: shown } = await caller.get(`/v2/notifications/${id}`)
    expect(Object.keys(body)).toEqual([
      ...['id', 'reference', 'to', 'status', 'status_description', 'provider_response'],
      ...['created_at', 'completed_at', 'sent_at', 'notification_type'],
    ])
    expect(body).toEqual({
      id,
      reference: 'order-8',
      to: 'bob@example.org',
      status: 'delivered',
      status_description: shown.status_description,
      provider_response: null,
      created_at: shown.created_at,
      completed_at: shown.completed_at,
      sent_at: shown.sent_at,
      notification_type: 'email',
    })
    expect(receiver.hooks[0]?.headers.authorization).toBe('Bearer a-token-of-the-caller')
    expect(receiver.hooks[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  test('arrives within a second', async () => {
    const receiver = await receive()
    await place.endpoint({ url: receiver.url, types: ['notification.delivered'] })
    await send()
    await until(() => receiver.hooks.length).toBe(1)
    const since = performance.now()
    const id = await send()
    await until(() => of(receiver.hooks, id).length).toBe(1)
    expect(performance.now() - since).toBeLessThan(1_500)
  })
})

test('an endpoint that is slow or dead does not delay another one', async () => {
  const slow = [await receive(() => {}), await receive(() => {}), await receive(() => {})]
  for (const { url } of slow) for (let n = 0; n < 6; n++) await place.endpoint({ url })
  const other = await place.service()
  const receiver = await receive()
  await place.endpoint({ url: receiver.url }, other.id)
  await place.log('notification.delivered', place.messages(100))
  await until(() => slow.every(({ hooks }) => hooks.length > 0)).toBe(true)
  const since = performance.now()
  await place.log('notification.delivered', place.messages(50), { of: other.id })
  await until(() => receiver.hooks.length).toBe(50)
  expect(performance.now() - since).toBeLessThan(2_500)
  await place.sql`delete from webhooks where service_id = ${place.home.id}`
})

test('an address inside a network that is not allowed is never connected to', async () => {
  const receiver = await receive()
  const { id, row } = await place.endpoint({ url: receiver.url.replace('127.0.0.1', '127.0.0.2') })
  await place.log('notification.delivered', place.messages(2))
  await until(async () => (await row()).failures).toBeGreaterThan(0)
  const attempts = await place.sql`select status, error from webhook_attempts where webhook_id = ${id}`
  expect(attempts).toEqual([{ status: null, error: 'address is not allowed' }])
  await place.sql`delete from webhooks where id = ${id}`
})

test('while sending is held nothing is posted; after the release everything is', async () => {
  const { db } = place.parts
  const receiver = await receive()
  const { row } = await place.endpoint({ url: receiver.url })
  await holdSending(db.sql, 'asked', IDENTITY_TABLES)
  await until(async () => (await place.call('GET', '/metrics')).text).toContain('herald_held 1')
  await place.log('notification.delivered', place.messages(3))
  await until(row).toMatchObject({ ticket: expect.any(String) })
  await new Promise(resume => setTimeout(resume, 300))
  expect(receiver.hooks).toEqual([])
  await releaseAll(db, RELEASED_LANES)
  await until(() => receiver.hooks.length).toBe(3)
})

test('metrics', async () => {
  const { text } = await place.call('GET', '/metrics')
  expect(text).toMatch(/^herald_webhook_posts_total\{outcome="success"\} [1-9]/m)
  expect(text).toMatch(/^herald_webhook_events_total [1-9]/m)
  expect(text).toMatch(/^herald_webhooks\{state="active"\} [1-9]/m)
  expect(text).toMatch(/^herald_webhook_behind_seconds \d/m)
  expect(text).toMatch(/^herald_webhook_post_seconds_count [1-9]/m)
})
