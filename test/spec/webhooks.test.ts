// Endpoints: every route of /herald/v1/webhooks, who may call it, and what is never shown again.
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { createSeal } from '../../src/core/seal.ts'
import { EVENT_TYPES } from '../../src/events/event.ts'
import { sealAgain } from '../../src/maintenance/seal.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { sealTarget } from '../../src/webhooks/webhook.ts'
import { logGroup, readable } from '../support/events.ts'
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts'
import { type Reply, type World, world } from '../support/world.ts'

const HOOKS = '/herald/v1/webhooks'
const URL = 'https://permits.example.org/events'
const ON_LOOPBACK = {
  HERALD_WEBHOOK_ALLOW: '127.0.0.1',
  HERALD_WEBHOOK_SCHEMES: 'https,http',
  HERALD_WEBHOOK_PORTS: '443,1024-65535',
}
type Service = Awaited<ReturnType<World['service']>>
type Key = Awaited<ReturnType<Service['key']>>

let here: World
let service: Service
let key: Key
let peer: HttpPeer

beforeAll(async () => {
  here = await world(ON_LOOPBACK)
  peer = await startHttpPeer(() => ({ status: 200, body: 'taken' }))
  ;({ service, key } = await manager())
})
afterAll(() => peer.stop())

/** A service and a key that may manage its webhooks. */
async function manager(type: 'normal' | 'team' | 'test' = 'normal') {
  const service = await here.service()
  return { service, key: await service.key({ type, manageWebhooks: true }) }
}

const errorsOf = ({ status, body }: Reply) => [
  status,
  ...body.errors.map(({ error, message }: { error: string; message: string }) => `${error}: ${message}`),
]
const sql = () => here.parts.db.sql
const zulu = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const scope = (service_id: Id) => ({ service_id, key_type: 'normal' as const })
/** Logs a group and waits until it can be read. */
async function log(...group: Parameters<typeof logGroup> extends [unknown, ...infer Rest] ? Rest : never) {
  await logGroup(sql(), ...group)
  await readable(sql())
}
const fresh = (count = 1) => Array.from({ length: count }, () => here.parts.ids.next())

describe('create', () => {
  test('a standard endpoint: its fields, the defaults, and the secret once', async () => {
    const reply = await key.post(HOOKS, { url: URL })
    expect(reply.status).toBe(201)
    expect(Object.keys(reply.body)).toEqual([
      ...['id', 'url', 'format', 'types', 'include_recipient', 'batch', 'state', 'reason', 'failing_since', 'failures'],
      ...['behind', 'created_at', 'updated_at', 'last_success_at', 'secret'],
    ])
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: URL,
      format: 'standard',
      types: null,
      include_recipient: false,
      batch: 1,
      state: 'active',
      reason: null,
      failing_since: null,
      failures: 0,
      behind: { events: 0, more: false, since: null },
      created_at: expect.stringMatching(zulu),
      updated_at: null,
      last_success_at: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const { secret, ...rest } = reply.body
    const read = await key.get(`${HOOKS}/${reply.body.id}`)
    expect(read.body).toEqual(rest)
    expect(read.text).not.toContain(secret)
  })

  test('a callback: a token, the final statuses, the recipient', async () => {
    const token = 'a-token-of-the-receiver'
    const reply = await key.post(HOOKS, { url: URL, format: 'callback', token })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ format: 'callback', include_recipient: true, batch: 1, secret: null })
    expect(reply.body.types).toContain('notification.delivered')
    expect(reply.body.types).not.toContain('notification.sending')
    expect(reply.text).not.toContain(token)
  })

  test('types are kept in the order of the list, each once', async () => {
    const types = ['job.finished', 'notification.delivered', 'job.finished']
    const reply = await key.post(HOOKS, { url: URL, types, batch: 100, include_recipient: true })
    expect(reply.body).toMatchObject({
      types: ['notification.delivered', 'job.finished'],
      batch: 100,
      include_recipient: true,
    })
  })

  const callback = { url: URL, format: 'callback', token: 'long enough'.replace(' ', '-') }
  test.each<[string, object, string[]]>([
    ['no url', {}, ['ValidationError: url is a required property']],
    [
      'a url that is none',
      { url: 'example.org' },
      [expect.stringMatching(/^ValidationError: url must be an address like /)],
    ],
    [
      'a scheme that is not allowed',
      { url: 'ftp://example.org/' },
      [expect.stringMatching(/^ValidationError: url must begin with /)],
    ],
    [
      'a port that is not allowed',
      { url: 'https://example.org:22/' },
      [expect.stringMatching(/^ValidationError: url must not use port 22/)],
    ],
    ['a private address', { url: 'https://10.0.0.1/' }, [expect.stringMatching(/^ValidationError: url must not be /)]],
    [
      'a password in the url',
      { url: 'https://a:b@example.org/' },
      [expect.stringMatching(/^ValidationError: url must not contain /)],
    ],
    [
      'a long url',
      { url: `https://example.org/${'x'.repeat(2000)}` },
      ['ValidationError: url must have at most 2000 characters'],
    ],
    [
      'an unknown format',
      { url: URL, format: 'xml' },
      ['ValidationError: format xml is not one of [standard, callback]'],
    ],
    [
      'an unknown type',
      { url: URL, types: ['notification.lost'] },
      [expect.stringMatching(/^ValidationError: types notification.lost is not one of \[/)],
    ],
    ['no types', { url: URL, types: [] }, ['ValidationError: types is empty. Leave it out to receive all types.']],
    ['a batch of 0', { url: URL, batch: 0 }, ['ValidationError: batch must be a number from 1 to 100']],
    ['a batch of 101', { url: URL, batch: 101 }, ['ValidationError: batch must be a number from 1 to 100']],
    ['a batch of 1.5', { url: URL, batch: 1.5 }, ['ValidationError: batch 1.5 is not of type integer']],
    [
      'a token for standard',
      { url: URL, token: 'long-enough' },
      [expect.stringMatching(/^ValidationError: token is only used by /)],
    ],
    [
      'an unexpected field',
      { url: URL, secret: 'x' },
      ['ValidationError: Additional properties are not allowed (secret was unexpected)'],
    ],
    [
      'a callback without a token',
      { url: URL, format: 'callback' },
      ['ValidationError: token is a required property for the format callback'],
    ],
    [
      'a callback with a short token',
      { ...callback, token: 'short' },
      ['ValidationError: token must have 10 to 500 characters of ASCII, without spaces'],
    ],
    [
      'a callback with a token of two lines',
      { ...callback, token: 'line one\nX-Other: 1' },
      ['ValidationError: token must have 10 to 500 characters of ASCII, without spaces'],
    ],
    [
      'a callback in batches',
      { ...callback, batch: 2 },
      [expect.stringMatching(/^ValidationError: batch must be 1 for the format callback/)],
    ],
    [
      'a callback for jobs',
      { ...callback, types: ['job.finished'] },
      [expect.stringMatching(/^ValidationError: types job.finished cannot be sent in the format callback/)],
    ],
    [
      'a callback without the recipient',
      { ...callback, include_recipient: false },
      [expect.stringMatching(/^ValidationError: include_recipient cannot be false /)],
    ],
    ['no object', [], ['ValidationError: [] is not of type object']],
  ])('%s is refused', async (_, body, sentences) => {
    expect(errorsOf(await key.post(HOOKS, body))).toEqual([400, ...sentences])
  })

  test('by default only https on port 443', async () => {
    const usual = await world()
    const key = await (await usual.service()).key({ manageWebhooks: true })
    for (const url of ['http://example.org/', 'https://example.org:8443/', 'https://127.0.0.1/', 'https://localhost/'])
      expect((await key.post(HOOKS, { url })).status, url).toBe(400)
    expect((await key.post(HOOKS, { url: 'https://example.org/' })).status).toBe(201)
  })

  test('a service has at most 20, also when they are created at the same time', async () => {
    const { key } = await manager()
    const replies = await Promise.all(Array.from({ length: 23 }, () => key.post(HOOKS, { url: URL })))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20)
    for (const reply of replies.filter(({ status }) => status !== 201))
      expect(errorsOf(reply)).toEqual([
        400,
        'BadRequestError: A service can have at most 20 webhooks. Remove one first.',
      ])
    expect((await key.get(HOOKS)).body.webhooks).toHaveLength(20)
  })

  test('address, secret and token are not in the database in the clear', async () => {
    const url = `https://example.org/${randomUUID()}`
    const token = `token-${randomUUID()}`
    const { id, secret } = (await key.post(HOOKS, { url })).body
    await key.post(HOOKS, { url, format: 'callback', token })
    await key.post(`${HOOKS}/${id}/rotate-secret`)
    await key.patch(`${HOOKS}/${id}`, { url: `${url}/2` })
    const rows = await sql()<{ row: string }>`
      select w::text as row from webhooks w
      union all
      select a::text from audit a`
    const text = rows.map(({ row }) => row).join('\n')
    for (const clear of [url, token, secret, secret.slice(6)])
      for (const form of [clear, Buffer.from(clear).toString('hex')]) expect(text).not.toContain(form)
  })
})

describe('read', () => {
  test('the list is in order of creation', async () => {
    const { key } = await manager()
    expect((await key.get(HOOKS)).body).toEqual({ webhooks: [] })
    const made = []
    for (const batch of [1, 2, 3]) made.push((await key.post(HOOKS, { url: URL, batch })).body)
    expect((await key.get(HOOKS)).body).toEqual({ webhooks: made.map(({ secret: _, ...rest }) => rest) })
  })

  test('behind counts the events after its position that it wants', async () => {
    const { service, key } = await manager()
    await log(scope(service.id), fresh(5))
    const { id } = (await key.post(HOOKS, { url: URL, types: ['notification.delivered'] })).body
    await log(scope(service.id), fresh(2), { type: 'notification.sending' })
    await log(scope(service.id), fresh(3))
    await log({ ...scope(service.id), key_type: 'test' }, fresh(7))
    const { body } = await key.get(`${HOOKS}/${id}`)
    expect(body.behind).toEqual({ events: 3, more: false, since: expect.stringMatching(zulu) })
    for (let n = 0; n < 10; n++)
      await sql()`
        insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause)
        select event_group(now()), event_stamp(), ${service.id}, 'normal', 'email', 'notification.delivered',
               array[gen_random_uuid()], 'attempt'
        from generate_series(1, 100)`
    await readable(sql())
    const { behind } = (await key.get(`${HOOKS}/${id}`)).body
    expect(behind).toMatchObject({ events: expect.any(Number), more: true })
    expect(behind.events).toBeGreaterThan(990)
  })

  test('a malformed id and an unknown id', async () => {
    expect(errorsOf(await key.get(`${HOOKS}/nonsense`))).toEqual([400, 'ValidationError: id is not a valid UUID'])
    expect(errorsOf(await key.get(`${HOOKS}/${randomUUID()}`))).toEqual([404, 'NoResultFound: No result found'])
  })
})

const made = async (body: object = {}): Promise<{ id: Id; secret: string }> =>
  (await key.post(HOOKS, { url: URL, ...body })).body

/** Takes up one of the twenty places for the time of the work. */
async function withHook(body: object, work: (id: Id, secret: string) => Promise<unknown>) {
  const { id, secret } = await made(body)
  expect(id).toBeDefined()
  await work(id, secret)
  await key.delete(`${HOOKS}/${id}`)
}

describe('change', () => {
  test('what is not given stays', () =>
    withHook({ types: ['job.finished'], batch: 7, include_recipient: true }, async id => {
      const reply = await key.patch(`${HOOKS}/${id}`, { url: 'https://example.org/other' })
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        url: 'https://example.org/other',
        types: ['job.finished'],
        batch: 7,
        include_recipient: true,
        updated_at: expect.stringMatching(zulu),
      })
      expect(reply.body).not.toHaveProperty('secret')
      const all = await key.patch(`${HOOKS}/${id}`, { types: null, batch: 1, include_recipient: false })
      expect(all.body).toMatchObject({ types: null, batch: 1, include_recipient: false })
      expect((await key.get(`${HOOKS}/${id}`)).body).toEqual(all.body)
    }))

  test('pause, resume; a disabled endpoint becomes active and its failures are forgotten', () =>
    withHook({}, async id => {
      const to = async (state: string) => (await key.patch(`${HOOKS}/${id}`, { state })).body
      expect(await to('paused')).toMatchObject({ state: 'paused' })
      expect(await to('active')).toMatchObject({ state: 'active' })
      const ticket = here.parts.ids.next()
      await sql()`
        update webhooks
        set state = 'disabled', reason = 'failing', failing_since = now() - interval '73 hours', failures = 15, ticket = ${ticket}
        where id = ${id}`
      expect((await key.get(`${HOOKS}/${id}`)).body).toMatchObject({
        state: 'disabled',
        reason: 'failing',
        failing_since: expect.stringMatching(zulu),
        failures: 15,
      })
      const [before] = await sql()`select stamp, seq, n from webhooks where id = ${id}`
      expect(await to('active')).toMatchObject({ state: 'active', reason: null, failing_since: null, failures: 0 })
      expect(await sql()`select stamp, seq, n, ticket from webhooks where id = ${id}`).toEqual([
        { ...before, ticket: null },
      ])
    }))

  test('from: the position becomes a time of the past', async () => {
    const { service, key } = await manager()
    await log(scope(service.id), fresh(2))
    const [middle] = await sql()<{ at: string }>`select to_json(clock_timestamp()) #>> '{}' as at`
    await log(scope(service.id), fresh(3))
    const { id } = (await key.post(HOOKS, { url: URL })).body
    const path = `${HOOKS}/${id}`
    expect((await key.get(path)).body.behind.events).toBe(0)
    expect((await key.patch(path, { from: middle?.at })).body.behind.events).toBe(3)
    expect((await key.patch(path, { from: '2020-01-01' })).body.behind.events).toBe(5)
  })

  test.each<[string, object, string[]]>([
    ['nothing', {}, ['ValidationError: {} does not have enough properties']],
    ['an unknown state', { state: 'disabled' }, ['ValidationError: state disabled is not one of [active, paused]']],
    [
      'the format',
      { format: 'callback' },
      ['ValidationError: Additional properties are not allowed (format was unexpected)'],
    ],
    [
      'a private address',
      { url: 'https://192.168.0.1/' },
      [expect.stringMatching(/^ValidationError: url must not be /)],
    ],
    [
      'a token for standard',
      { token: 'long-enough' },
      [expect.stringMatching(/^ValidationError: token is only used by /)],
    ],
    ['a time that is none', { from: 'yesterday' }, ['ValidationError: from must be a time like 2026-11-02T09:15:00Z']],
    ['a time to come', { from: '2999-01-01' }, ['ValidationError: from must not be in the future']],
  ])('%s is refused and changes nothing', (_, body, sentences) =>
    withHook({}, async id => {
      const before = await key.get(`${HOOKS}/${id}`)
      expect(errorsOf(await key.patch(`${HOOKS}/${id}`, body))).toEqual([400, ...sentences])
      expect((await key.get(`${HOOKS}/${id}`)).body).toEqual(before.body)
    }),
  )
})

test('remove', async () => {
  const { id } = await made()
  const reply = await key.delete(`${HOOKS}/${id}`)
  expect([reply.status, reply.body]).toEqual([200, { result: 'success' }])
  for (const again of [await key.delete(`${HOOKS}/${id}`), await key.get(`${HOOKS}/${id}`)])
    expect(errorsOf(again)).toEqual([404, 'NoResultFound: No result found'])
})

describe('secret and test event', () => {
  const received = () => {
    const got = peer.requests.at(-1)
    if (!got) throw new Error('nothing was received')
    return got
  }
  const verifies = (secret: string) => {
    const { body, headers } = received()
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>)
    } catch {
      return null
    }
  }

  test('a test event is signed, and the answer is told', () =>
    withHook({ url: `${peer.url}/hook` }, async (id, secret) => {
      const reply = await key.post(`${HOOKS}/${id}/test`)
      expect([reply.status, reply.body]).toEqual([
        200,
        { success: true, status_code: 200, error: null, took_ms: expect.any(Number), answer: 'taken' },
      ])
      expect(received()).toMatchObject({ method: 'POST', url: '/hook' })
      expect(verifies(secret)).toEqual({
        id: received().headers['webhook-id'],
        type: 'webhook.test',
        timestamp: expect.stringMatching(zulu),
        data: { webhook_id: id },
      })
    }))

  test('in a batch it is a list', () =>
    withHook({ url: peer.url, batch: 10 }, async (id, secret) => {
      await key.post(`${HOOKS}/${id}/test`)
      expect(verifies(secret)).toMatchObject({ events: [{ type: 'webhook.test' }] })
    }))

  test('a callback has the fields of the family and the token', () =>
    withHook({ url: peer.url, format: 'callback', token: 'a-token-of-ours' }, async id => {
      await key.post(`${HOOKS}/${id}/test`)
      expect(received().headers.authorization).toBe('Bearer a-token-of-ours')
      expect(Object.keys(JSON.parse(received().body))).toEqual([
        ...['id', 'reference', 'to', 'status', 'status_description', 'provider_response', 'created_at', 'completed_at'],
        ...['sent_at', 'notification_type'],
      ])
      await key.patch(`${HOOKS}/${id}`, { token: 'another-token' })
      await key.post(`${HOOKS}/${id}/test`)
      expect(received().headers.authorization).toBe('Bearer another-token')
    }))

  test('an answer that is no success, and none at all', async () => {
    peer.answer(() => ({ status: 500, body: 'x'.repeat(5000) }))
    await withHook({ url: peer.url }, async id => {
      const { body } = await key.post(`${HOOKS}/${id}/test`)
      expect(body).toMatchObject({ success: false, status_code: 500, error: null, answer: 'x'.repeat(1024) })
    })
    peer.answer(() => ({ status: 200, body: 'taken' }))
    await withHook({ url: 'http://127.0.0.1:1024/' }, async id => {
      const { status, body } = await key.post(`${HOOKS}/${id}/test`)
      expect([status, body]).toEqual([
        200,
        { success: false, status_code: null, error: 'connection refused', took_ms: expect.any(Number), answer: null },
      ])
    })
  })

  test('one test at a time, and a slow one does not delay reads', () =>
    withHook({ url: peer.url }, async id => {
      peer.mode('hang')
      const before = peer.requests.length
      const first = key.post(`${HOOKS}/${id}/test`)
      await expect.poll(() => peer.requests.length).toBe(before + 1)
      const tests = await Promise.all(Array.from({ length: 10 }, () => key.post(`${HOOKS}/${id}/test`)))
      for (const reply of tests)
        expect(errorsOf(reply)).toEqual([
          429,
          'TooManyRequestsError: A test of this webhook has not ended yet. Try again in a few seconds.',
        ])
      expect((await key.get(HOOKS)).status).toBe(200)
      peer.mode('ok')
      peer.interrupt()
      expect((await first).body).toMatchObject({ success: false, error: 'connection was closed before the answer' })
    }))

  test('rotation: both secrets verify during the overlap, then only the new one', () =>
    withHook({ url: peer.url }, async (id, first) => {
      const reply = await key.post(`${HOOKS}/${id}/rotate-secret`)
      expect(reply.status).toBe(200)
      expect(Object.keys(reply.body)).toEqual(['secret', 'previous_valid_until'])
      const { secret: second, previous_valid_until } = reply.body
      expect(Date.parse(previous_valid_until) - Date.now()).toBeGreaterThan(23.9 * 3_600_000)
      await key.post(`${HOOKS}/${id}/test`)
      expect(String(received().headers['webhook-signature']).split(' ')).toHaveLength(2)
      for (const secret of [first, second]) expect(verifies(secret)).not.toBe(null)

      const third = (await key.post(`${HOOKS}/${id}/rotate-secret`, { overlap_hours: 0 })).body.secret
      await key.post(`${HOOKS}/${id}/test`)
      expect([first, second, third].map(secret => verifies(secret) !== null)).toEqual([false, false, true])
    }))

  test('rotation: an overlap out of range, and a callback', async () => {
    await withHook({}, async id => {
      for (const overlap_hours of [-1, 169])
        expect(errorsOf(await key.post(`${HOOKS}/${id}/rotate-secret`, { overlap_hours }))).toEqual([
          400,
          'ValidationError: overlap_hours must be a number from 0 to 168',
        ])
    })
    await withHook({ format: 'callback', token: 'a-token-of-ours' }, async id =>
      expect(errorsOf(await key.post(`${HOOKS}/${id}/rotate-secret`))).toEqual([
        400,
        'BadRequestError: The format callback has no secret. Change its token instead.',
      ]),
    )
  })

  test('after a change of the sealing secret the next start seals endpoints anew', () =>
    withHook({}, async (id, secret) => {
      const old = createSeal(['an earlier secret of this installation'])
      const target = { url: URL, secrets: [{ secret, until: null }], token: null }
      await sql()`update webhooks set sealed = ${sealTarget(old, target)} where id = ${id}`
      const seal = createSeal(['a new secret for this installation 123', 'an earlier secret of this installation'])
      await sql()`delete from webhooks where id <> ${id}`
      await runSteps(sealAgain({ db: { sql: sql() }, seal }))
      const [row] = await sql()<{ sealed: Buffer }>`select sealed from webhooks where id = ${id}`
      expect(seal.isCurrent('webhook target', row?.sealed as Buffer)).toBe(true)
      expect(JSON.parse(String(seal.open('webhook target', row?.sealed as Buffer)))).toEqual(target)
    }))
})

describe('replay', () => {
  let owner: Service
  let key: Key
  let id: Id
  const ask = (body: object) => key.post(`${HOOKS}/${id}/replay`, body)
  const eventIds = async (): Promise<Id[]> => {
    const rows = await sql()<{ id: Id }>`select id from events where service_id = ${owner.id} order by stamp, seq`
    return rows.map(row => row.id)
  }

  beforeAll(async () => {
    ;({ service: owner, key } = await manager())
    id = (await key.post(HOOKS, { url: URL })).body.id
    await log(scope(owner.id), fresh(4))
    await log(scope(owner.id), fresh(1), { type: 'notification.sending' })
  })

  test('a period: 202, and a row with its own position', async () => {
    const from = '2026-01-01T08:00:00Z'
    await sql()`update webhooks set (stamp, seq, n) = (select stamp, seq, 0 from events where service_id = ${owner.id}
                order by stamp desc limit 1) where id = ${id}`
    const reply = await ask({ from, types: ['notification.delivered'] })
    expect(reply.status).toBe(202)
    expect(Object.keys(reply.body)).toEqual(['from', 'to', 'types', 'events'])
    expect(reply.body).toEqual({
      from: '2026-01-01T08:00:00.000000Z',
      to: expect.stringMatching(zulu),
      types: ['notification.delivered'],
      events: null,
    })
    const [last] = await sql()`select stamp, seq from events where service_id = ${owner.id} order by stamp desc limit 1`
    expect(
      await sql()`select types, end_stamp as stamp, end_seq as seq from webhook_replays where webhook_id = ${id}`,
    ).toEqual([{ types: ['notification.delivered'], ...last }])
  })

  test('it ends at the position of the endpoint: what is after it is sent anyway', async () => {
    await sql()`delete from webhook_replays`
    const [first] = await sql()`select stamp, seq from events where service_id = ${owner.id} order by stamp limit 1`
    await sql()`update webhooks set (stamp, seq, n) = (select stamp, seq, 3 from events where service_id = ${owner.id}
                order by stamp limit 1) where id = ${id}`
    await ask({ from: '2026-01-01T08:00:00Z' })
    expect(
      await sql()`select end_stamp as stamp, end_seq as seq from webhook_replays where webhook_id = ${id}`,
    ).toEqual([first])
  })

  test('one event', async () => {
    const [group = '' as Id] = await eventIds()
    const event = `${group.slice(0, -1)}2`
    const reply = await ask({ event })
    expect([reply.status, reply.body]).toEqual([202, { from: null, to: null, types: null, events: 1 }])
    await ask({ event })
    expect(await sql()`select event, state, failures from webhook_retries where webhook_id = ${id}`).toEqual([
      { event, state: 'waiting', failures: 0 },
    ])
  })

  test('an event that does not exist, that is of another service, or of another type of key', async () => {
    const [group = '' as Id] = await eventIds()
    const other = await manager()
    const ofTestKey = await owner.key({ type: 'test', manageWebhooks: true })
    const theirs = (await other.key.post(HOOKS, { url: URL })).body.id
    const testHook = (await ofTestKey.post(HOOKS, { url: URL })).body.id
    const replies = [
      await ask({ event: `${group.slice(0, -1)}4` }),
      await ask({ event: randomUUID() }),
      await other.key.post(`${HOOKS}/${theirs}/replay`, { event: group }),
      await ofTestKey.post(`${HOOKS}/${testHook}/replay`, { event: group }),
    ]
    for (const reply of replies) expect(errorsOf(reply)).toEqual([404, 'NoResultFound: event not found'])
  })

  test('failed: what was given up becomes due', async () => {
    const [group = '' as Id] = await eventIds()
    await sql()`
      insert into webhook_retries (webhook_id, event, stamp, seq, subject, state, failures, next_at)
      values (${id}, ${group}, 1, 1, ${here.parts.ids.next()}, 'failed', 14, now() - interval '1 day')`
    const listed = await key.get(`${HOOKS}/${id}/failed`)
    expect(listed.body.events.map((one: { state: string }) => one.state)).toEqual(['waiting', 'failed'])
    expect(listed.body.events[1]).toEqual({
      event: group,
      subject: expect.any(String),
      state: 'failed',
      failures: 14,
      since: expect.stringMatching(zulu),
      next_attempt_at: null,
      status_code: null,
    })
    expect(listed.body.links).toEqual({ current: `${here.address}${HOOKS}/${id}/failed`, next: null })
    const older = await key.get(`${HOOKS}/${id}/failed?older_than=${listed.body.events[0].event}`)
    expect(older.body.events.map((one: { event: string }) => one.event)).toEqual([group])
    expect((await ask({ failed: true })).body).toEqual({ from: null, to: null, types: null, events: 2 })
    expect(
      await sql()`select from webhook_retries where webhook_id = ${id} and state = 'waiting' and next_at <= now()`,
    ).toHaveLength(2)
  })

  test.each<[string, object, string[]]>([
    ['nothing', {}, [expect.stringMatching(/^ValidationError: Give one of these: /)]],
    [
      'two kinds',
      { failed: true, from: '2026-01-01' },
      [expect.stringMatching(/^ValidationError: Give one of these: /)],
    ],
    ['an end without a start', { to: '2026-01-01' }, [expect.stringMatching(/^ValidationError: Give one of these: /)]],
    ['failed: false', { failed: false }, ['ValidationError: failed must be true']],
    [
      'an end before the start',
      { from: '2026-01-02', to: '2026-01-01' },
      ['ValidationError: to must be later than from'],
    ],
    // Documented in openapi.json and docs/events.md.
    ['an end to come', { from: '2026-01-02', to: '2999-11-01' }, ['ValidationError: to must not be in the future']],
    ['an event that is no id', { event: 'x' }, ['ValidationError: event is not a valid UUID']],
    [
      'an unknown type',
      { from: '2026-01-02', types: ['x'] },
      [expect.stringMatching(/^ValidationError: types x is not one of /)],
    ],
  ])('%s is refused', async (_, body, sentences) => {
    expect(errorsOf(await ask(body))).toEqual([400, ...sentences])
  })

  test('types that the endpoint does not receive are refused', async () => {
    const { id } = (await key.post(HOOKS, { url: URL, types: ['job.finished'] })).body
    const reply = await key.post(`${HOOKS}/${id}/replay`, { from: '2026-01-02', types: ['job.accepted'] })
    expect(errorsOf(reply)).toEqual([
      400,
      'ValidationError: types job.accepted is not among the types of this webhook. Add it first.',
    ])
  })

  test('at most 10 replays of an endpoint wait', async () => {
    await sql()`delete from webhook_replays`
    for (let n = 0; n < 10; n++) expect((await ask({ from: '2026-01-02' })).status).toBe(202)
    expect(errorsOf(await ask({ from: '2026-01-02' }))).toEqual([
      400,
      'BadRequestError: This webhook has 10 replays that have not ended. Try again later.',
    ])
  })
})

describe('attempts', () => {
  let key: Key
  let id: Id
  const page = (query = '') => key.get(`${HOOKS}/${id}/attempts${query}`)
  const attempt = (status: number | null, more: { error?: string; answer?: string } = {}) => sql()`
    insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error, answer)
    values (${here.parts.ids.next()}, ${id}, now(), ${fresh(2)}, 1, ${[12, 34]}, ${status}, ${more.error ?? null},
            ${more.answer === undefined ? null : here.parts.seal.seal('webhook answer', more.answer)})`

  beforeAll(async () => {
    ;({ key } = await manager())
    id = (await key.post(HOOKS, { url: URL })).body.id
  })

  test('newest first, with the beginning of the answer', async () => {
    expect((await page()).body).toEqual({
      attempts: [],
      links: { current: `${here.address}${HOOKS}/${id}/attempts`, next: null },
    })
    await attempt(200, { answer: 'ok' })
    await attempt(503, { answer: 'maria@example.org is not known' })
    await attempt(null, { error: 'no answer in 10 s' })
    const { body } = await page()
    expect(body.attempts.map((one: { status_code: number }) => one.status_code)).toEqual([null, 503, 200])
    expect(Object.keys(body.attempts[0])).toEqual(['id', 'at', 'events', 'took_ms', 'status_code', 'error', 'answer'])
    expect(body.attempts[1]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(zulu),
      events: [expect.any(String), expect.any(String)],
      took_ms: [12, 34],
      status_code: 503,
      error: null,
      answer: 'maria@example.org is not known',
    })
    expect(body.attempts[0]).toMatchObject({ error: 'no answer in 10 s', answer: null })
    const failed = await page('?failed=true')
    expect(failed.body.attempts).toEqual(body.attempts.slice(0, 2))
  })

  test('pages of 100', async () => {
    for (let n = 0; n < 120; n++) await attempt(500)
    const first = await page('?failed=true')
    expect(first.body.attempts).toHaveLength(100)
    expect(first.body.links.next).toBe(
      `${here.address}${HOOKS}/${id}/attempts?failed=true&older_than=${first.body.attempts[99].id}`,
    )
    const second = await key.get(first.body.links.next.slice(here.address.length))
    expect(second.body.attempts).toHaveLength(22)
    expect(second.body.links.next).toBe(null)
    const ids = [...first.body.attempts, ...second.body.attempts].map((one: { id: string }) => one.id)
    expect(ids).toEqual([...new Set(ids)].sort().reverse())
  })

  test('older_than: unknown ids, and ids of attempts that are purged', async () => {
    expect(errorsOf(await page(`?older_than=${here.parts.ids.next()}`))).toEqual([
      404,
      'NoResultFound: No result found',
    ])
    expect((await page('?older_than=01937e5b-0c1d-7e2f-8a3b-4c5d6e7f8091')).body.attempts).toEqual([])
    expect(errorsOf(await page('?older_than=x'))).toEqual([400, 'ValidationError: older_than is not a valid UUID'])
    expect(errorsOf(await page('?failed=maybe'))).toEqual([
      400,
      'ValidationError: failed maybe is not one of [true, false]',
    ])
  })
})

describe('who may', () => {
  const routes = (id: string): [method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object][] => [
    ['post', HOOKS, { url: URL }],
    ['get', HOOKS],
    ['get', `${HOOKS}/${id}`],
    ['patch', `${HOOKS}/${id}`, { state: 'paused' }],
    ['post', `${HOOKS}/${id}/rotate-secret`],
    ['post', `${HOOKS}/${id}/test`],
    ['post', `${HOOKS}/${id}/replay`, { failed: true }],
    ['get', `${HOOKS}/${id}/attempts`],
    ['get', `${HOOKS}/${id}/failed`],
    ['delete', `${HOOKS}/${id}`],
  ]

  test('a key without manage_webhooks: refused first, before ids and bodies', async () => {
    const plain = await service.key({ manageTemplates: true })
    for (const [method, path] of routes('nonsense'))
      expect(errorsOf(await plain[method](path)), `${method} ${path}`).toEqual([
        403,
        'ForbiddenError: This API key does not have permission to manage webhooks.',
      ])
    expect((await here.call('GET', HOOKS)).status).toBe(401)
  })

  test('a key of another service or another type does not find it', async () => {
    const { id } = await made()
    const before = await key.get(`${HOOKS}/${id}`)
    const strangers = [(await manager()).key, await service.key({ type: 'test', manageWebhooks: true })]
    for (const stranger of strangers) {
      for (const [method, path, body] of routes(id).slice(2))
        expect(errorsOf(await stranger[method](path, body)), `${method} ${path}`).toEqual([
          404,
          'NoResultFound: No result found',
        ])
      expect((await stranger.get(HOOKS)).body).toEqual({ webhooks: [] })
    }
    expect((await key.get(`${HOOKS}/${id}`)).body).toEqual(before.body)
  })

  test('an endpoint belongs to the type of the key that created it', async () => {
    const test = await service.key({ type: 'test', manageWebhooks: true })
    const { id } = (await test.post(HOOKS, { url: URL })).body
    expect(await sql()`select key_type from webhooks where id = ${id}`).toEqual([{ key_type: 'test' }])
    expect((await test.get(HOOKS)).body.webhooks).toHaveLength(1)
  })
})

test('every type of event can be asked for', async () => {
  await withHook({ types: EVENT_TYPES }, async id => {
    expect((await key.get(`${HOOKS}/${id}`)).body.types).toEqual(EVENT_TYPES)
  })
})
