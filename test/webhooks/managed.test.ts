// The whole program: endpoints managed by a key, messages sent by a key, and an independent receiver.
import { Webhook as Verifier } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { EMAIL, emailTemplate } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const HOOKS = '/herald/v1/webhooks'
let here: World
let receiver: Receiver
let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
let template: string

beforeAll(async () => {
  here = await world(
    { HERALD_WEBHOOK_ALLOW: '127.0.0.1', HERALD_WEBHOOK_SCHEMES: 'http', HERALD_WEBHOOK_PORTS: '1024-65535' },
    { engine: true },
  )
  receiver = await startReceiver()
  key = await (await here.service()).key({ manageWebhooks: true })
  template = await emailTemplate(key, 'Hello', 'Hello')
})
afterAll(() => receiver.stop())

const send = async (): Promise<string> =>
  (await key.post(EMAIL, { email_address: 'ada@example.org', template_id: template })).body.id

const until = (read: () => unknown) => expect.poll(read, { timeout: 15_000, interval: 20 })

/** The messages of requests to a path of the receiver, in the order of arrival. */
const messagesAt = (path: string): string[] =>
  receiver.hooks.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body).data.notification_id)

const at = (path: string) => new URL(path, receiver.url).href

async function add(path: string, more: object = {}) {
  const types = ['notification.delivered']
  const { status, body } = await key.post(HOOKS, { url: at(path), types, ...more })
  expect(status).toBe(201)
  return { path: `${HOOKS}/${body.id}`, secret: body.secret as string }
}

test('pause, resume, and replay of a time and of one event: the same id each time', async () => {
  const webhook = await add('/pausing')
  const first = await send()
  await until(() => messagesAt('/pausing')).toEqual([first])
  await until(async () => (await key.get(webhook.path)).body.last_success_at).not.toBe(null)

  await key.patch(webhook.path, { state: 'paused' })
  const second = await send()
  await until(async () => (await key.get(webhook.path)).body.behind.events).toBe(1)
  expect(messagesAt('/pausing')).toEqual([first])

  await key.patch(webhook.path, { state: 'active' })
  await until(() => messagesAt('/pausing')).toEqual([first, second])
  await until(async () => (await key.get(webhook.path)).body.behind).toEqual({ events: 0, more: false, since: null })

  const replay = await key.post(`${webhook.path}/replay`, { from: '2026-01-15T08:00:00Z' })
  expect(replay.status).toBe(202)
  await until(() => messagesAt('/pausing')).toEqual([first, second, first, second])

  const ids = () => receiver.hooks.filter(({ url }) => url === '/pausing').map(({ headers }) => headers['webhook-id'])
  expect(ids().slice(2)).toEqual(ids().slice(0, 2))
  await key.post(`${webhook.path}/replay`, { event: ids()[0] })
  await until(() => messagesAt('/pausing')).toEqual([first, second, first, second, first])
  expect(ids()[4]).toBe(ids()[0])

  const attempts = async (): Promise<{ events: string[] }[]> =>
    (await key.get(`${webhook.path}/attempts`)).body.attempts
  await until(async () => (await attempts()).flatMap(one => one.events).sort()).toEqual(ids().sort())
  for (const one of await attempts()) expect(one).toMatchObject({ status_code: 204, error: null, answer: null })
  await key.patch(webhook.path, { from: '2026-01-15T08:00:00Z' })
  await until(() => messagesAt('/pausing').slice(5)).toEqual([first, second])
})

test('an endpoint that failed gets everything at once when its address is corrected', async () => {
  receiver.answer((hook, response, request) =>
    (hook.url === '/broken' ? status(500) : status(204))(hook, response, request),
  )
  const webhook = await add('/broken')
  const sent = [await send(), await send(), await send()]
  await until(async () => (await key.get(webhook.path)).body.failures).toBeGreaterThan(0)
  const failing = (await key.get(webhook.path)).body
  expect(failing).toMatchObject({ state: 'active', failing_since: expect.any(String) })

  await key.patch(webhook.path, { url: at('/mended') })
  await until(() => [...messagesAt('/mended')].sort()).toEqual([...sent].sort())
  await until(async () => (await key.get(webhook.path)).body).toMatchObject({
    failures: 0,
    failing_since: null,
    last_success_at: expect.any(String),
  })
  const failed = (await key.get(`${webhook.path}/attempts?failed=true`)).body.attempts
  expect(failed.length).toBeGreaterThan(0)
  for (const one of failed) expect(one.status_code).toBe(500)
})

test('an endpoint that answers 410 is disabled, and resumed by a change of its state', async () => {
  receiver.answer(status(410))
  const webhook = await add('/gone')
  const sent = await send()
  await until(async () => (await key.get(webhook.path)).body).toMatchObject({ state: 'disabled', reason: 'gone' })
  receiver.answer(status(204))
  await key.patch(webhook.path, { state: 'active' })
  await until(() => messagesAt('/gone')).toEqual([sent, sent])
})

test('after a rotation a receiver with the old and one with the new secret accept the next event', async () => {
  const webhook = await add('/rotating')
  const { secret } = (await key.post(`${webhook.path}/rotate-secret`)).body
  await send()
  await until(() => messagesAt('/rotating')).toHaveLength(1)
  const hook = receiver.hooks.find(({ url }) => url === '/rotating')
  for (const known of [webhook.secret, secret])
    expect(new Verifier(known).verify(hook?.body ?? '', hook?.headers ?? {})).toMatchObject({
      type: 'notification.delivered',
    })
})

test('a removed endpoint gets nothing, and the others go on', async () => {
  const [gone, stays] = [await add('/removed'), await add('/stays')]
  await key.delete(gone.path)
  const sent = await send()
  await until(() => messagesAt('/stays')).toEqual([sent])
  expect(messagesAt('/removed')).toEqual([])
  await key.delete(stays.path)
})

test('an endpoint of a test key gets events of test keys only', async () => {
  const service = await here.service()
  const [live, test] = [await service.key(), await service.key({ type: 'test', manageWebhooks: true })]
  const template_id = await emailTemplate(live, 'Hello', 'Hello')
  await test.post(HOOKS, { url: at('/of-test'), types: ['notification.delivered'] })
  await live.post(EMAIL, { email_address: 'ada@example.org', template_id })
  const sent = await test.post(EMAIL, { email_address: 'ada@example.org', template_id })
  await until(() => messagesAt('/of-test')).toEqual([sent.body.id])
})
