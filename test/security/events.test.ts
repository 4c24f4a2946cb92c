// Events leave the house: threats by those who name an address, those who answer there, and those who read what is not theirs.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { sealTarget } from '../../src/webhooks/webhook.ts'
import { ALLOWED } from '../support/hooks.ts'
import { startReceiver } from '../support/receiver.ts'
import { EMAIL, emailTemplate } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const HOOKS = '/herald/v1/webhooks'
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const managerOf = async (here: World) => (await here.service()).key({ manageWebhooks: true })
type Manager = Awaited<ReturnType<typeof managerOf>>

async function receive(...given: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...given)
  ends.push(receiver.stop)
  return receiver
}

const send = async (key: Manager, template_id: string, email_address = 'ada@example.org') => {
  const reply = await key.post(EMAIL, { email_address, template_id, personalisation: { name: 'Ada' } })
  expect(reply.status).toBe(201)
  return reply.body.id as Id
}

describe('S-45 addresses inside the network', () => {
  const INSIDE = [
    '127.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '017700000001',
    '0.0.0.0',
    'localhost',
    'api.localhost',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '224.0.0.1',
    '255.255.255.255',
  ]

  test('are refused when an endpoint is created or changed, in every spelling', async () => {
    const here = await world()
    const key = await managerOf(here)
    const { id } = (await key.post(HOOKS, { url: 'https://hooks.example.org/' })).body
    for (const host of INSIDE) {
      const body = { url: `https://${host}/` }
      for (const reply of [await key.post(HOOKS, body), await key.patch(`${HOOKS}/${id}`, body)]) {
        expect([host, reply.status]).toEqual([host, 400])
        expect(reply.body.errors[0].message).toMatch(/^url must not be an address inside a network/)
      }
    }
    for (const url of [
      'http://hooks.example.org/',
      'https://hooks.example.org:22/',
      'file:///etc/passwd',
      'gopher://x/',
    ])
      expect((await key.post(HOOKS, { url })).status).toBe(400)
    expect((await key.get(HOOKS)).body.webhooks).toHaveLength(1)
  })

  test('are not connected to, whatever is stored: the settings may have changed since', async () => {
    const inside = await receive()
    const here = await world({ HERALD_WEBHOOK_SCHEMES: 'http', HERALD_WEBHOOK_PORTS: '1-65535' }, { engine: true })
    const key = await managerOf(here)
    const { id } = (await key.post(HOOKS, { url: 'http://hooks.example.org/' })).body
    const target = { url: inside.url, secrets: [], token: 'secret' }
    await here.parts.db.sql`
      update webhooks set format = 'callback', sealed = ${sealTarget(here.parts.seal, target)} where id = ${id}`
    await send(key, await emailTemplate(key))
    const attempts = async () => (await key.get(`${HOOKS}/${id}/attempts`)).body.attempts
    await vi.waitFor(async () => expect((await attempts()).length).toBeGreaterThan(0), { timeout: 20_000 })
    expect((await attempts())[0]).toMatchObject({ status_code: null, error: 'address is not allowed' })
    const tested = await key.post(`${HOOKS}/${id}/test`)
    expect(tested.text).toContain('address is not allowed')
    expect([inside.connections(), inside.hooks]).toEqual([0, []])
  })
})

describe('S-46 a hostile receiver', () => {
  test('that never answers, drips, floods or resets delays neither messages nor other endpoints', async () => {
    const here = await world(ALLOWED, { engine: true })
    const [victim, other] = [await managerOf(here), await managerOf(here)]
    const good = await receive()
    const hostile = [
      await receive(() => {}),
      await receive((_hook, response, request) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write('x'), 50)
        request.socket.once('close', () => clearInterval(drip))
      }),
      await receive((_hook, response) => {
        response.writeHead(200)
        const flood = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
          if (!response.destroyed) response.once('drain', flood)
        }
        response.on('error', () => {})
        flood()
      }),
      await receive((_hook, _response, request) => request.socket.resetAndDestroy()),
      await receive((_hook, response) => response.writeHead(200, { 'x-huge': 'x'.repeat(60_000) }).end()),
    ]
    for (const { url } of hostile) expect((await victim.post(HOOKS, { url })).status).toBe(201)
    expect((await other.post(HOOKS, { url: good.url })).status).toBe(201)
    const [theirs, ours] = [await emailTemplate(victim), await emailTemplate(other)]
    for (let n = 0; n < 50; n++) await send(victim, theirs)
    for (const one of hostile) await vi.waitFor(() => expect(one.hooks.length).toBeGreaterThan(0), { timeout: 20_000 })

    const memory = process.memoryUsage().rss
    for (let n = 0; n < 5; n++) {
      const since = performance.now()
      const id = await send(other, ours)
      await vi.waitFor(() => expect(good.hooks.some(hook => hook.body.includes(id))).toBe(true), {
        timeout: 10_000,
        interval: 10,
      })
      expect(performance.now() - since).toBeLessThan(5_000)
    }
    expect((process.memoryUsage().rss - memory) / 2 ** 20).toBeLessThan(200)
    // Herald answers and sends as ever.
    expect((await victim.get('/v2/notifications')).body.notifications.length).toBe(50)
  })
})

describe('S-49 another service, or a key of another type', () => {
  test('gets no event, no endpoint and no timeline of a message, by any id or cursor', async () => {
    const here = await world(ALLOWED, { engine: true })
    const service = await here.service()
    const owner = await service.key({ manageWebhooks: true })
    const id = await send(owner, await emailTemplate(owner))
    const events = async (key: Manager, query = '') => (await key.get(`/herald/v1/events${query}`)).body
    await vi.waitFor(async () => expect((await events(owner)).events.length).toBeGreaterThan(0), { timeout: 20_000 })
    const { events: seen, next } = await events(owner, '?limit=1')
    const stranger = await managerOf(here)
    const sibling = await service.key({ type: 'team', manageWebhooks: true })
    for (const key of [stranger, sibling]) {
      expect((await events(key)).events).toEqual([])
      expect((await events(key, `?after=${next}`)).events).toEqual([])
      const receiver = await receive()
      const hook = (await key.post(HOOKS, { url: receiver.url })).body.id
      const replay = await key.post(`${HOOKS}/${hook}/replay`, { event: seen[0].id })
      expect([replay.status, receiver.hooks.length]).toEqual([404, 0])
    }
    const path = (id: string) => `/herald/v1/notifications/${id}/timeline`
    expect((await owner.get(path(id))).status).toBe(200)
    const [theirs, nobodys] = [await stranger.get(path(id)), await stranger.get(path(randomUUID()))]
    expect([theirs.status, theirs.text]).toEqual([404, nobodys.text])
  })
})

describe('S-50 personal data in events', () => {
  let here: World
  beforeAll(async () => {
    here = await world(ALLOWED, { engine: true })
  })

  test('a recipient is sent only to endpoints that ask for it, and is not in the feed', async () => {
    const key = await managerOf(here)
    const [plain, asking] = [await receive(), await receive()]
    await key.post(HOOKS, { url: plain.url })
    await key.post(HOOKS, { url: asking.url, include_recipient: true })
    await send(key, await emailTemplate(key), 'grace.hopper@example.net')
    await vi.waitFor(() => expect([plain.hooks.length, asking.hooks.length]).toEqual([1, 1]), { timeout: 20_000 })
    expect(asking.hooks[0]?.body).toContain('grace.hopper@example.net')
    expect(plain.hooks[0]?.body).not.toContain('grace')
    const feed = await key.get('/herald/v1/events')
    expect(feed.body.events.length).toBe(1)
    expect(feed.text).not.toContain('grace')
    for (const { body } of [...plain.hooks, ...asking.hooks]) expect(body).not.toMatch(/Ada/) // a value of the template
  })
})

describe('S-52 many endpoints, replays and waiting requests', () => {
  test('a caller that disconnects while it waits for events leaves nothing behind', async () => {
    const here = await world()
    const key = await managerOf(here)
    const waiting = async () =>
      Number(/^herald_events_waiting (\d+)$/m.exec(await (await fetch(`${here.address}/metrics`)).text())?.[1])
    const sockets = Array.from({ length: 10 }, () => {
      const socket = connect(here.port, '127.0.0.1')
      socket.write(
        `GET /herald/v1/events?wait=25&after=now HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\n\r\n`,
      )
      return socket
    })
    await vi.waitFor(async () => expect(await waiting()).toBe(10), { timeout: 10_000 })
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 10_000 })
  })
})
