// Every door has admission: each route has a class, pages for everyone come from memory, and metrics are the operator's.
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { addConsole } from '../src/console/serve/index.ts'
import { isFromThisMachine } from '../src/core/network.ts'
import { ADMISSIONS, type Admission } from '../src/http/route.ts'
import { createServer } from '../src/http/server.ts'
import { addReference } from '../src/reference/routes.ts'
import { answeredBy } from '../src/request-log.ts'
import { addPlain, addRoutes, openApi } from '../src/routes.ts'
import { type World, world } from './support/world.ts'

const TOKEN = 'a-token-of-prometheus-0123456789abcdef'

let here: World
let guarded: World
/** Every route of a server with everything. */
const routes: RouteOptions[] = []

const serverOf = ({ parts, config }: World) =>
  createServer({ ...config, log: parts.log, answered: () => {}, ownerOf: () => undefined }).app

beforeAll(async () => {
  here = await world()
  guarded = await world({ HERALD_METRICS_TOKEN: TOKEN })
  const app = serverOf(here)
  app.addHook('onRoute', route => {
    routes.push(route)
  })
  const pages = addConsole(app, here.parts)
  addRoutes(app, here.parts)
  addPlain(app, here.parts, pages.path)
  await app.ready()
  await app.close()
})

describe('classes', () => {
  const TURNED: readonly Admission[] = ['turn']
  /** What is not scheduled by service and person, and why it need not be: docs/admission.md. A new line here is a decision. */
  const OTHERS: Readonly<Partial<Record<Admission, readonly string[]>>> = {
    send: ['/v2/notifications/email', '/v2/notifications/sms'],
    bulk: ['/herald/v1/check/bulk', '/v2/notifications/bulk'],
    own: [
      '/herald/v1/events',
      '/herald/v1/inbox',
      '/herald/v1/inbox/:message_id',
      '/herald/v1/webhooks/:webhook_id/test',
    ],
    page: [
      '/console/assets/:name',
      '/docs',
      '/docs/*',
      '/docs/api',
      '/docs/reference.css',
      '/docs/reference.js',
      '/docs/search.json',
      '/metrics',
      '/openapi.json',
    ],
    download: ['/download/:token'],
    plain: ['/', '/console', '/console/*', '/health/live', '/health/ready', '/v2/notifications/:kind'],
  }

  test('every route has one, and only these are not scheduled by service and person', () => {
    expect(routes.length).toBeGreaterThan(200)
    const urlOf = ({ url }: RouteOptions) => url.replace(/-[0-9a-f]{12}\./, '.')
    const of = (admission: Admission) =>
      [...new Set(routes.filter(route => route.config?.admission === admission).map(urlOf))].sort()
    const found = ADMISSIONS.filter(one => !TURNED.includes(one) && of(one).length > 0)
    expect(Object.fromEntries(found.map(one => [one, of(one)]))).toEqual(OTHERS)
    expect(routes.filter(route => !route.config?.admission).map(urlOf)).toEqual([])
  })

  test('a route without one is refused', async () => {
    const app = serverOf(here)
    expect(() => app.get('/new', async () => 'heavy')).toThrow('GET /new has no admission class (docs/admission.md)')
    await app.close()
  })

  test('docs/admission.md explains each', () => {
    const text = readFileSync('docs/admission.md', 'utf8')
    expect(ADMISSIONS.filter(one => !text.includes(`| \`${one}\` |`))).toEqual([])
  })
})

/** One request with any headers, also Host. */
function ask(place: World, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port: place.port, path, headers, agent: false }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', piece => pieces.push(piece))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) }),
      )
    })
      .on('error', reject)
      .end()
  })
}

describe('pages for everyone', () => {
  const gzip = { 'accept-encoding': 'gzip' }

  test('have an ETag, by which they are not sent again, and are compressed ahead of time', async () => {
    const asset = routes.map(({ url }) => url).filter(url => /^\/docs\/reference-/.test(url))
    const console = /\/console\/assets\/[^"]+/.exec((await ask(here, '/console/sign-in')).bytes.toString())?.[0] ?? ''
    for (const path of [
      '/openapi.json',
      '/docs',
      '/docs/api',
      '/docs/tutorial',
      '/docs/search.json',
      console,
      ...asset,
    ]) {
      const plain = await ask(here, path)
      const zipped = await ask(here, path, gzip)
      expect([path, plain.status, zipped.status]).toEqual([path, 200, 200])
      expect(zipped.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
      expect(plain.headers.etag).not.toBe(zipped.headers.etag)
      for (const [known, { headers }] of [
        [{}, plain],
        [gzip, zipped],
      ] as const) {
        const again = await ask(here, path, { ...known, 'if-none-match': `"other", W/${headers.etag}` })
        expect([path, again.status, again.bytes.length, again.headers.etag]).toEqual([path, 304, 0, headers.etag])
      }
      expect((await ask(here, path, { 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  test('the reference is rendered once, whatever hosts are asked for', async () => {
    let renderings = 0
    const api = openApi()
    const counted = {
      ...api,
      get tags() {
        renderings++
        return api.tags
      },
    }
    const app = serverOf(here)
    addReference(app, here.parts, counted)
    const get = (host: string, headers = {}) => app.inject({ url: '/docs/api', headers: { host, ...headers } })
    const first = (await get('localhost')).body
    for (let n = 0; n < 20; n++) {
      const { body, headers } = await get(`h${n}.example.org`)
      expect(body).toBe(first.replaceAll('http://localhost', `http://h${n}.example.org`))
      expect((await get(`h${n}.example.org`, { 'if-none-match': headers.etag })).statusCode).toBe(304)
    }
    expect(renderings).toBe(1)
    const zipped = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await get(`h${n}.example.org`, gzip)).headers['content-encoding']),
    )
    // Nothing is kept for further hosts.
    expect(zipped.filter(Boolean)).toHaveLength(3)
    await app.close()
  })

  test('no more than two at a time are written, and one network has one of them', async () => {
    const { reads } = here.parts
    let [running, most] = [0, 0]
    const write = async () => {
      most = Math.max(most, ++running)
      await new Promise(resume => setImmediate(resume))
      running--
    }
    await Promise.all(Array.from({ length: 20 }, () => reads.page('203.0.113.1', write)))
    expect(most).toBe(1)
    await Promise.all(Array.from({ length: 20 }, (_, at) => reads.page(`203.0.113.${at}`, write)))
    expect(most).toBe(2)
  })
})

describe('/metrics', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  test('answers the machine itself, and is unknown to everyone else', async () => {
    expect((await ask(here, '/metrics')).bytes.toString()).toContain('herald_http_requests_total')
    const unknown = (await ask(here, '/unknown')).bytes.toString()
    const foreign: Record<string, string>[] = [
      { host: 'notify.example.org' },
      { 'x-forwarded-for': '203.0.113.1' },
      { forwarded: 'for=203.0.113.1' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '203.0.113.1' },
      { ...bearer(TOKEN), host: 'notify.example.org' },
    ]
    for (const headers of foreign) {
      const { status, bytes } = await ask(here, '/metrics', headers)
      expect([headers, status, bytes.toString()]).toEqual([headers, 404, unknown])
    }
    const from = (remoteAddress: string) =>
      isFromThisMachine({ socket: { remoteAddress }, headers: { host: 'localhost:6011' } } as never)
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].every(from)).toBe(true)
    expect(['10.0.0.5', '2001:db8::1', '::ffff:10.0.0.5', ''].some(from)).toBe(false)
  })

  test('with a token, whoever has it may read, through a proxy too, and no one else on the machine', async () => {
    const proxied = { host: 'notify.example.org', 'x-forwarded-for': '203.0.113.1' }
    expect((await ask(guarded, '/metrics', { ...bearer(TOKEN), ...proxied })).status).toBe(200)
    const wrong: Record<string, string>[] = [{}, bearer(`${TOKEN}0`), bearer(''), { authorization: TOKEN }]
    for (const headers of wrong) expect((await ask(guarded, '/metrics', headers)).status).toBe(404)
  })

  test('is rendered once for everyone who asks within a second', async () => {
    let renderings = 0
    here.parts.metrics.gauge('herald_test_renderings', 'Counts.', () => ++renderings)
    const since = performance.now()
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(here, '/metrics')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(renderings).toBeLessThanOrEqual(Math.ceil((performance.now() - since) / 1000) + 1)
  })

  test('stays below 200 kB whatever pages were opened with whatever answers', async () => {
    const answered = answeredBy(here.parts)
    const STATUSES = [200, 303, 400, 401, 403, 404, 409, 422, 429, 500]
    for (const { method, url } of routes)
      for (const one of [method].flat())
        for (const statusCode of STATUSES)
          answered(
            { id: 'x', method: one, routeOptions: { url }, waitedMs: 0, headers: {}, params: {} } as FastifyRequest,
            { statusCode, elapsedTime: 7 } as FastifyReply,
          )
    for (const method of ['PROPFIND', 'TRACE', 'BREW'])
      answered(
        { id: 'x', method, routeOptions: {}, waitedMs: 0, headers: {}, params: {} } as never,
        { statusCode: 404, elapsedTime: 7 } as FastifyReply,
      )
    const text = await here.parts.metrics.text()
    console.log(`${text.length} bytes`)
    expect(text.length).toBeLessThan(200_000)
    expect(text).toContain('herald_http_requests_total{method="GET",route="/console",status="200"}')
    expect(text).toContain('herald_http_requests_total{method="other",route="unknown",status="404"}')
  })
})
