// S-02, S-03, S-41: guessing keys, and forged address headers.
import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClock } from '../../src/core/clock.ts'
import type { Id } from '../../src/core/id.ts'
import type { Seal } from '../../src/core/seal.ts'
import type { Sql } from '../../src/db/connect.ts'
import { createAuthenticate } from '../../src/keys/authenticate.ts'
import { createMarks } from '../../src/keys/marks.ts'
import { createThrottle, FREE } from '../../src/keys/throttle.ts'
import { createServices } from '../../src/services/load.ts'
import { EMAIL, emailTemplate, type Key } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const PATH = '/v2/templates'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key

beforeAll(async () => {
  here = await world({ HERALD_TRUSTED_PROXIES: '127.0.0.1' })
  service = await here.service()
  key = await service.key()
})

const wrongKey = () => `herald-a_key-${service.id}-${randomUUID()}`

describe('S-02 the same work for every wrong key', () => {
  test('unknown, revoked, of another service: one digest and one query each', async () => {
    const other = await here.service()
    const [revoked, foreign] = [await service.key(), await other.key()]
    await here.parts.db.sql`update keys set revoked_at = now() where id = ${revoked.id}`
    const cases = {
      unknown: wrongKey(),
      revoked: revoked.key,
      foreign: `herald-a_key-${service.id}-${foreign.key.slice(-36)}`,
      'unknown service': `herald-a_key-${randomUUID()}-${randomUUID()}`,
    }
    const work: Record<string, object> = {}
    for (const [name, text] of Object.entries(cases)) {
      const counts = { statements: 0, digests: 0 }
      const sql = ((strings, ...values) => {
        counts.statements++
        return here.parts.db.sql(strings, ...values)
      }) as Sql
      const seal = {
        ...here.parts.seal,
        digests(...of: Parameters<Seal['digests']>) {
          counts.digests++
          return here.parts.seal.digests(...of)
        },
      }
      const authenticate = createAuthenticate({
        sql,
        clock: createClock(),
        seal,
        services: createServices(sql, createClock()),
        keyPrefix: { own: 'herald', accepted: ['herald'] },
        onFault: () => {},
      })
      await expect(authenticate({ authorization: `ApiKey-v1 ${text}` }, () => '127.0.0.1')).rejects.toThrow('API key')
      work[name] = counts
    }
    for (const counts of Object.values(work)) expect(counts).toEqual({ statements: 1, digests: 1 })
  })
})

describe('keys that were marked as used a moment ago', () => {
  test('are marked once in ten seconds, and forgotten afterwards', () => {
    let now = 0
    const marks = createMarks({ now: () => now })
    const [first, second] = [randomUUID() as Id, randomUUID() as Id]
    expect([marks.isDue(first), marks.isDue(first)]).toEqual([true, false])
    now = 9_999
    expect([marks.isDue(first), marks.isDue(second)]).toEqual([false, true])
    now = 10_000
    expect([marks.isDue(first), marks.isDue(second)]).toEqual([true, false])
    for (let key = 0; key < 1_000; key++) marks.isDue(randomUUID() as Id)
    expect(marks.size()).toBe(1_002)
    now = 20_000
    marks.isDue(second)
    expect(marks.size()).toBe(1)
  })

  test('are bounded in number', () => {
    const marks = createMarks({ now: () => 0 }, 100)
    for (let key = 0; key < 1_000; key++) expect(marks.isDue(randomUUID() as Id)).toBe(true)
    expect(marks.size()).toBe(100)
  })
})

describe('S-02 wrong keys from one address', () => {
  /** Failed authentications whose delay ends when the test says so, and whether an answer is still delayed then. */
  function withHand(options: { now?: () => number; most?: number } = {}) {
    const hand: { release: () => void } = { release: () => {} }
    const waiting = new Promise<void>(resolve => {
      hand.release = resolve
    })
    const { now = () => 0, ...rest } = options
    const throttle = createThrottle({ ...createClock(), now }, { ...rest, wait: () => waiting })
    return { ...throttle, release: hand.release }
  }
  async function isLate(told: Promise<void>): Promise<boolean> {
    let late = true
    told.then(() => {
      late = false
    }, expect.unreachable)
    await turn()
    return late
  }

  test('the first sixty refusals in a minute are immediate, then each is delayed; per address; the window ends after a minute', async () => {
    const time = { now: 1_000_000 }
    const throttle = withHand({ now: () => time.now })
    for (let n = 0; n < FREE; n++) expect(await isLate(throttle.failed('203.0.113.9'))).toBe(false)
    expect(await isLate(throttle.failed('203.0.113.9'))).toBe(true)
    expect(await isLate(throttle.failed('::ffff:203.0.113.9'))).toBe(true)
    expect(await isLate(throttle.failed('203.0.113.10'))).toBe(false)
    time.now += 60_000
    expect(await isLate(throttle.failed('203.0.113.9'))).toBe(false)
  })

  test('the number of tracked addresses and of delayed answers is bounded', async () => {
    const throttle = withHand({ most: 100 })
    for (let n = 0; n < 1_000; n++) await throttle.failed(`198.51.100.${n}`)
    expect(throttle.size()).toBe(100)
    for (let n = 0; n < FREE; n++) await throttle.failed('203.0.113.9')
    const flood = Array.from({ length: 1_500 }, () => throttle.failed('203.0.113.9'))
    expect(await isLate(flood.at(-1) as Promise<void>)).toBe(false)
    expect(await isLate(flood[0] as Promise<void>)).toBe(true)
    throttle.release()
    await Promise.all(flood)
  })

  test('an IPv6 network is one caller; loopback is not counted', async () => {
    const throttle = withHand()
    for (const one of ['2001:db8:1:2:3:4:5:6', '2001:DB8:0001:2::9']) await throttle.failed(one)
    expect(throttle.size()).toBe(1)
    for (const ours of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      for (let n = 0; n <= FREE; n++) expect(await isLate(throttle.failed(ours))).toBe(false)
    expect(throttle.size()).toBe(1)
  })

  test('over HTTP: the text stays, the answer is delayed, a valid key from there is not; a forged address header changes nothing', async () => {
    const from = (address: string, text: string) =>
      here.call('GET', PATH, { headers: { authorization: `ApiKey-v1 ${text}`, 'x-forwarded-for': address } })
    const guess = async (address: string) => {
      const reply = await from(address, wrongKey())
      expect(reply).toBeRefused(403, 'AuthError', 'Invalid token: API key not found')
    }
    await Promise.all(Array.from({ length: FREE }, (_, n) => guess(`192.0.2.${n}, 203.0.113.9`)))
    expect((await from('203.0.113.9', key.key)).status).toBe(200)

    const since = performance.now()
    const order: string[] = []
    const note = (name: string) => () => {
      order.push(name)
    }
    await Promise.all([
      guess('203.0.113.9').then(note('slowed')),
      guess('8.8.8.8, 203.0.113.9').then(note('slowed')),
      from('203.0.113.9', key.key).then(note('right key')),
      guess('203.0.113.77').then(note('another address')),
    ])
    expect(performance.now() - since).toBeGreaterThan(900)
    expect(order.slice(2)).toEqual(['slowed', 'slowed'])
  })
})

describe('S-03 signed tokens', () => {
  test('longer than 4 kB: not even parsed', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const text = `${part({ alg: 'HS256' })}.${part({ iss: service.id, x: 'y'.repeat(4_000) })}.xx`
    const reply = await here.call('GET', PATH, { headers: { authorization: `Bearer ${text}` } })
    expect(reply).toBeRefused(403, 'AuthError', 'Invalid token: signature, api token is not valid')
  })

  test('no more than 50 keys are tried, live ones before revoked ones', async () => {
    const many = await here.service()
    const first = await many.key()
    for (let n = 0; n < 49; n++) {
      const { id } = await many.key()
      if (n % 2 === 0) await here.parts.db.sql`update keys set revoked_at = now() where id = ${id}`
    }
    const tokenOf = (text: string) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const signed = `${part({ alg: 'HS256' })}.${part({ iss: many.id, iat: Math.floor(here.parts.clock.now() / 1000) })}`
      return `Bearer ${signed}.${createHmac('sha256', text.slice(-36)).update(signed).digest('base64url')}`
    }
    const status = async () => (await here.call('GET', PATH, { headers: { authorization: tokenOf(first.key) } })).status
    expect(await status()).toBe(200)
    for (let n = 0; n < 25; n++) await many.key()
    expect(await status()).toBe(200)
    await many.key()
    await expect.poll(status, { interval: 20 }).toBe(403)
    expect((await first.get(PATH)).status).toBe(200)
  })
})

describe('S-41 headers in which a caller describes itself', () => {
  /** The addresses in an answer: of the message, and of its file. */
  async function addresses(w: World, more: Record<string, string>) {
    const caller = await (await w.service()).key()
    const template_id = await emailTemplate(caller, '((link))')
    const link = { file: Buffer.from('hello').toString('base64'), filename: 'a.txt', sending_method: 'link' }
    const body = { email_address: 'ada@example.net', template_id, personalisation: { name: 'Ada', link } }
    const headers = { authorization: `ApiKey-v1 ${caller.key}`, 'content-type': 'application/json', ...more }
    const { uri, content } = await posted(w.port, headers, JSON.stringify(body))
    return [uri, content.body].map((address: string) => address.slice(0, address.indexOf('/', 8)))
  }

  const spoofed = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.1',
    forwarded: 'for=203.0.113.1;host=evil.example;proto=https',
    'x-original-host': 'evil.example',
    'x-real-ip': '203.0.113.1',
  }

  test('with a public address in the settings they are ignored, even from a trusted proxy', async () => {
    const w = await world({ HERALD_BASE_URL: 'https://notify.example.org', HERALD_TRUSTED_PROXIES: '127.0.0.1' })
    const ours = 'https://notify.example.org'
    expect(await addresses(w, { ...spoofed, host: 'evil.example' })).toEqual([ours, ours])
  })

  test('without one, forwarded headers of strangers are ignored', async () => {
    const w = await world()
    expect(await addresses(w, spoofed)).toEqual([w.address, w.address])
  })

  test('those of a trusted proxy are used', async () => {
    expect(await addresses(here, spoofed)).toEqual(['https://evil.example', 'https://evil.example'])
  })
})

// fetch does not let a caller choose the Host header.
const posted = (port: number, headers: Record<string, string>, body: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  new Promise<any>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: EMAIL, method: 'POST', headers }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(JSON.parse(text)))
    })
    asked.on('error', reject).end(body)
  })
