// Callers that announce large bodies and send slowly delay only themselves, and not for long.
import type net from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { EMAIL, emailTemplate, type Key } from './support/sends.ts'
import { dial, statusOf, type Wire } from './support/wire.ts'
import { type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'
const MIB = 1024 * 1024
/** Just under the size limit of a bulk job. */
const ANNOUNCED = 67_000_000

const timers: NodeJS.Timeout[] = []
const sockets: net.Socket[] = []
const hangUp = () => {
  for (const timer of timers.splice(0)) clearInterval(timer)
  for (const socket of sockets.splice(0)) socket.destroy()
}
afterEach(hangUp)

const head = (key: string, path: string, length: number, method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

async function open(here: World, bytes: string | Buffer): Promise<Wire> {
  const wire = await dial(here.address, bytes)
  wire.socket.on('error', () => {})
  sockets.push(wire.socket)
  return wire
}

/** Writes `bytes` now and then until the server closes the connection. */
function drip({ socket }: Wire, bytes: string | Buffer, everyMs: number) {
  timers.push(setInterval(() => socket.writable && socket.write(bytes), everyMs))
}

async function mailer(here: World) {
  const key = await (await here.service({ may_send_files: true, rate_limit: 1_000_000 })).key()
  const template: Id = await emailTemplate(key, 'Hello', 'News')
  const doc = { file: Buffer.alloc(300_000, 'x').toString('base64'), filename: 'a.txt', sending_method: 'attach' }
  const send = () =>
    key.post(EMAIL, { email_address: 'a@example.net', template_id: template, personalisation: { doc } })
  return { key, template, send }
}

/** The time that 40 e-mails of 400 kB take: one that waits shows as well as many that are slow. */
async function forty(send: () => Promise<{ status: number }>): Promise<number> {
  const started = performance.now()
  for (let n = 0; n < 40; n++) expect((await send()).status).toBe(201)
  return performance.now() - started
}

describe('memory is shared by service and charged as bodies arrive', () => {
  let here: World
  let hostile: Key
  let mail: Awaited<ReturnType<typeof mailer>>
  beforeAll(async () => {
    here = await world()
    hostile = await (await here.service()).key({ type: 'test' })
    mail = await mailer(here)
    await forty(mail.send)
  })

  const beside = async (attack: () => Promise<void>) => {
    // Other programs slow down single attempts; a delay caused by the attack shows in every attempt.
    const ratios: number[] = []
    for (let attempt = 0; attempt < 3 && !ratios.some(ratio => ratio <= 2); attempt++) {
      const usual = await forty(mail.send)
      await attack()
      ratios.push((await forty(mail.send)) / usual)
      hangUp()
      await forty(mail.send) // closing the connections takes time of this process, too
    }
    return Math.min(...ratios)
  }

  test('four connections that announce 67 MB and send slowly: e-mails of 400 kB of others take at most twice as long', async () => {
    const ratio = await beside(async () => {
      for (let n = 0; n < 4; n++) drip(await open(here, `${head(hostile.key, BULK, ANNOUNCED)}{`), ' ', 500)
    })
    expect(ratio).toBeLessThanOrEqual(2)
  }, 120_000)

  test('2,500 of them', async () => {
    const ratio = await beside(async () => {
      for (let n = 0; n < 2_500; n++) await open(here, `${head(hostile.key, BULK, ANNOUNCED)}{`)
    })
    expect(ratio).toBeLessThanOrEqual(2)
  }, 120_000)

  test('six that really send 60 MB each, all but the end', async () => {
    const piece = Buffer.alloc(MIB, ' ')
    const ratio = await beside(async () => {
      for (let n = 0; n < 6; n++) {
        const { socket } = await open(here, head(hostile.key, BULK, ANNOUNCED))
        for (let sent = 0; sent < 60; sent++) socket.write(piece)
      }
    })
    expect(ratio).toBeLessThanOrEqual(2)
  }, 120_000)
})

describe('a body has a minimum speed', () => {
  const SECONDS = 6
  let here: World
  let key: Key
  beforeAll(async () => {
    here = await world({ HERALD_REQUEST_SECONDS: String(SECONDS), HERALD_HEADER_SECONDS: '2', HERALD_BODY_BUDGET: '8' })
    key = await (await here.service({ rate_limit: 1_000_000 })).key()
  })

  const took = async (wire: Wire) => {
    const started = performance.now()
    return { status: statusOf(await wire.answer), seconds: (performance.now() - started) / 1000 }
  }

  test('a body that is too slow is ended after a third of its time: 408', async () => {
    const wire = await open(here, `${head(key.key, BULK, ANNOUNCED)}{`)
    drip(wire, ' ', 100)
    const { status, seconds } = await took(wire)
    expect(status).toBe(408)
    expect(seconds).toBeLessThan(SECONDS / 3 + 1.5)
  }, 15_000)

  test('a steady body, slow but above 1 KiB a second, is read to its end', async () => {
    const template = await emailTemplate(key, 'Hello', 'News')
    const body = JSON.stringify({ email_address: 'a@example.net', template_id: template }).padEnd(20 * 1024, ' ')
    const wire = await open(here, head(key.key, EMAIL, body.length) + body.slice(0, 1024))
    for (let at = 1024; at < body.length; at += 1024)
      setTimeout(() => wire.socket.write(body.slice(at, at + 1024)), (at / 1024) * 200)
    expect((await took(wire)).status).toBe(201)
  }, 15_000)

  test('a body that never ends is ended at its time limit, whatever its speed', async () => {
    const wire = await open(here, `${head(key.key, BULK, ANNOUNCED)}{`)
    drip(wire, Buffer.alloc(4_096, ' '), 200)
    const { status, seconds } = await took(wire)
    expect(status).toBe(408)
    expect(seconds).toBeGreaterThan(SECONDS - 1)
    expect(seconds).toBeLessThan(SECONDS + 2.5)
  }, 15_000)

  test.each([
    ['of a request that was refused before', 'POST', '/v2/nothing'],
    ['that is ignored', 'GET', '/v2/templates'],
  ])(
    'a body %s is not waited for longer',
    async (_what, method, path) => {
      const wire = await open(here, head(key.key, path, ANNOUNCED, method))
      drip(wire, ' ', 100)
      await wire.answer
      const started = performance.now()
      await new Promise(done => wire.socket.on('close', done))
      expect((performance.now() - started) / 1000).toBeLessThan(SECONDS / 3 + 1.5)
    },
    15_000,
  )

  test('headers that arrive too slowly are ended at their time limit: 408, and others are served meanwhile', async () => {
    const wires = await Promise.all(
      Array.from({ length: 100 }, () => open(here, 'GET /v2/templates HTTP/1.1\r\nHost: x\r\nX-A: ')),
    )
    for (const wire of wires) drip(wire, 'a', 100)
    const ends = Promise.all(wires.map(took))
    expect((await key.get('/v2/templates')).status).toBe(200)
    for (const { status, seconds } of await ends) {
      expect(status).toBe(408)
      expect(seconds).toBeLessThan(2 + 2.5)
    }
  }, 15_000)

  test('a body larger than the budget is read to its end, beside others that keep their memory', async () => {
    const greedy = await (await here.service()).key({ type: 'test' })
    for (let n = 0; n < 4; n++) {
      const { socket } = await open(here, head(greedy.key, BULK, ANNOUNCED))
      socket.write(Buffer.alloc(20 * MIB, ' '))
    }
    const body = JSON.stringify({ name: 'n'.repeat(300) }).padEnd(12 * MIB, ' ')
    const reply = await here.call('POST', BULK, { raw: body, headers: { authorization: `ApiKey-v1 ${key.key}` } })
    expect(reply.body.errors.map((one: { message: string }) => one.message)).toContain(
      'template_id is a required property',
    )
  }, 30_000)
})
