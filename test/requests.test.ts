// The request log of a service: what is kept, what is not, and that no request depends on it.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { revoke } from '../src/keys/revoke.ts'
import { purgeRequests } from '../src/maintenance/purge.ts'
import { createRequestBuffer, OF_SERVICE } from '../src/requests/buffer.ts'
import { pathOf } from '../src/requests/request.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { emailTemplate } from './support/sends.ts'
import { call, OPERATOR, type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
beforeAll(async () => {
  here = await world()
  service = await here.service()
})

type Row = { method: string; path: string; status_code: number; [name: string]: unknown }
type Key = Awaited<ReturnType<typeof service.key>>

async function logOf(key: Key, query = ''): Promise<Row[]> {
  await here.parts.requests.flush()
  return (await key.get(`/herald/v1/requests${query}`)).body.requests
}
/** Without the requests that read the log. */
const others = (rows: readonly Row[]) => rows.filter(({ path }) => path !== '/herald/v1/requests')

describe('GET /herald/v1/requests', () => {
  test('lists what was called, newest first, with ids and without values', async () => {
    const own = await here.service()
    const key = await own.key({ name: 'website' })
    const template = await emailTemplate(key)
    const canary = `canary${randomUUID().slice(0, 8)}`
    const sent = await key.post('/v2/notifications/email', {
      email_address: `${canary}@example.org`,
      template_id: template,
      personalisation: { name: canary },
    })
    await key.get(`/v2/notifications/${sent.body.id}?${canary}=1`)
    await key.get(`/v2/notifications?reference=${canary}`)
    await key.get(`/v2/notifications/${canary}`)
    await key.post('/v2/notifications/email', { email_address: canary, template_id: template })
    const rows = others(await logOf(key))
    expect(rows.map(({ method, path, status_code, error }) => [method, path, status_code, error])).toEqual([
      ['POST', '/v2/notifications/email', 400, 'ValidationError'],
      ['GET', '/v2/notifications/:notification_id', 400, 'ValidationError'],
      ['GET', '/v2/notifications', 200, null],
      ['GET', `/v2/notifications/${sent.body.id}`, 200, null],
      ['POST', '/v2/notifications/email', 201, null],
      ['POST', '/v2/manage-template', 201, null],
    ])
    expect(rows[0]).toMatchObject({
      ...{ key_id: key.id, key_name: 'website', message: 'email_address Not a valid email address', unlisted: null },
      ...{ at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), took_ms: expect.any(Number) },
    })
    expect(JSON.stringify(rows)).not.toContain(canary)
  })

  test('filters by class of status and by key, in pages', async () => {
    const own = await here.service()
    const [first, second] = [await own.key({ name: 'first' }), await own.key({ name: 'second' })]
    await first.get('/v2/templates')
    for (let at = 0; at < 105; at++) await second.get(`/v2/notifications/${randomUUID()}`)
    const refused = await logOf(first, '?status=4xx')
    expect(refused.length).toBe(100)
    expect(new Set(refused.map(({ status_code }) => status_code))).toEqual(new Set([404]))
    const page = (await first.get(`/herald/v1/requests?status=4xx&key_id=${second.id}`)).body
    const next = await call(here.address, 'GET', page.links.next.slice(page.links.next.indexOf('/herald')), {
      headers: { authorization: `ApiKey-v1 ${first.key}` },
    })
    expect(next.body.requests.length).toBe(5)
    expect(next.body.links.next).toBe(null)
    expect(others(await logOf(first, `?status=2xx&key_id=${first.id}`)).map(({ path }) => path)).toEqual([
      '/v2/templates',
    ])
    expect((await first.get('/herald/v1/requests?status=teapot')).status).toBe(400)
    expect((await first.get('/herald/v1/requests?key_id=x')).status).toBe(400)
  })

  test('has no requests of another service', async () => {
    await (await service.key()).get('/v2/templates')
    const stranger = await (await here.service()).key()
    expect(others(await logOf(stranger))).toEqual([])
  })

  test('has requests with a key that is revoked, and that lacks a permission', async () => {
    const own = await here.service()
    const [key, old] = [await own.key({ name: 'new' }), await own.key({ name: 'old', manageTemplates: false })]
    expect((await old.get('/v2/manage-template/template-categories')).status).toBe(403)
    await revoke(here.parts, OPERATOR, old.id)
    await expect.poll(async () => (await old.get('/v2/templates')).status).toBe(403)
    const rows = others(await logOf(key, `?status=4xx&key_id=${old.id}`))
    expect(rows.map(({ message }) => message)).toEqual([
      'Invalid token: API key revoked',
      'This API key does not have permission to manage templates.',
    ])
  })

  test('ends after 24 hours, and the rows are purged', async () => {
    const own = await here.service()
    const key = await own.key()
    await key.get('/v2/templates')
    await here.parts.requests.flush()
    const count = async () =>
      (await here.parts.db.sql`select id from requests where service_id = ${own.id} and path = '/v2/templates'`).length
    expect(await count()).toBe(1)
    here.moveClock(24 * 3_600_000 - 60_000)
    expect(await runSteps(purgeRequests(here.parts))).toBe(0)
    here.moveClock(120_000)
    expect(others(await logOf(key))).toEqual([])
    await runSteps(purgeRequests(here.parts))
    expect(await count()).toBe(0)
    here.moveClock(-24 * 3_600_000 - 60_000)
  })
})

describe('the buffer', () => {
  const request = { key_id: randomUUID() as Id, method: 'GET', path: '/v2/templates', error: null, reason: null }
  const rowsOf = (id: Id) =>
    here.parts.db.sql<{ status: number; unlisted: number | null }>`
      select status, unlisted from requests where service_id = ${id} order by id`

  function bufferOn(sql: World['parts']['db']['sql']) {
    const dropped: number[] = []
    const faults: unknown[] = []
    const buffer = createRequestBuffer({
      ...{ sql, ids: here.parts.ids, onFault: error => faults.push(error) },
      onDropped: count => dropped.push(count),
    })
    return { buffer, dropped, faults }
  }

  test('counts what is beyond the allowance of a service; refusals have one of their own', async () => {
    const { buffer } = bufferOn(here.parts.db.sql)
    const [loud, quiet] = [randomUUID() as Id, randomUUID() as Id]
    let described = 0
    const describeOne = () => {
      described++
      return { ...request, took_ms: 1 }
    }
    for (let at = 0; at < OF_SERVICE.answered.burst + 900; at++) buffer.note(loud, 201, describeOne)
    buffer.note(loud, 400, describeOne)
    buffer.note(quiet, 200, describeOne)
    expect(described).toBe(OF_SERVICE.answered.burst + 2)
    await buffer.stop()
    const rows = await rowsOf(loud)
    expect(rows.filter(({ unlisted }) => unlisted === null).length).toBe(OF_SERVICE.answered.burst + 1)
    expect(rows.filter(({ unlisted }) => unlisted !== null)).toEqual([{ status: 200, unlisted: 900 }])
    expect(rows.filter(({ status }) => status === 400).length).toBe(1)
    expect((await rowsOf(quiet)).length).toBe(1)
  })

  test('drops and counts what cannot be written, and goes on', async () => {
    let isBroken = true
    const { buffer, dropped, faults } = bufferOn(((...args: Parameters<typeof here.parts.db.sql>) =>
      isBroken ? Promise.reject(new Error('away')) : here.parts.db.sql(...args)) as typeof here.parts.db.sql)
    const id = randomUUID() as Id
    for (let at = 0; at < OF_SERVICE.answered.burst + 5; at++) buffer.note(id, 200, () => ({ ...request, took_ms: 1 }))
    await buffer.flush()
    expect(dropped).toEqual([OF_SERVICE.answered.burst + 5])
    expect(faults.length).toBe(1)
    isBroken = false
    buffer.note(id, 500, () => ({ ...request, took_ms: 1 }))
    await buffer.stop()
    expect(await rowsOf(id)).toEqual([{ status: 500, unlisted: null }])
  })

  test('never holds more than the allowance while the database does not answer', async () => {
    let answer = () => {}
    const silence = new Promise<void>(resolve => {
      answer = resolve
    })
    const { buffer } = bufferOn((() => silence) as unknown as typeof here.parts.db.sql)
    let described = 0
    const noteMany = () => {
      for (let at = 0; at < 5_000; at++)
        buffer.note(`service-${at % 100}` as Id, 200, () => {
          described++
          return { ...request, took_ms: 1 }
        })
    }
    noteMany()
    void buffer.flush()
    noteMany()
    expect(described).toBeLessThan(1_100)
    expect(described).toBeGreaterThanOrEqual(1_000)
    answer()
    await buffer.stop()
  })
})

test('a path has ids and numbers, nothing else of the caller', () => {
  const id = randomUUID()
  expect(pathOf('/v2/template/:id/version/:version', { id: id.toUpperCase(), version: '3' })).toBe(
    `/v2/template/${id}/version/3`,
  )
  expect(pathOf('/v2/notifications/:id', { id: 'ada@example.org' })).toBe('/v2/notifications/:id')
  expect(pathOf('/v2/notifications/:id', { id: '16135550147' })).toBe('/v2/notifications/:id')
  expect(pathOf('/v2/notifications', undefined)).toBe('/v2/notifications')
})
