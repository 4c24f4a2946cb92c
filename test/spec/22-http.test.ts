// Contract 22: decisions after the first build about requests and responses.
import { beforeAll, describe, expect, test } from 'vitest'
import { EMAIL, emailTemplate, type Key, LIST } from '../support/sends.ts'
import { dial, exchange, statusOf } from '../support/wire.ts'
import { type World, world } from '../support/world.ts'

const ID = '00000000-0000-0000-0000-000000000000'
const HUGE = 67 * 1024 * 1024

let here: World
let key: Key

beforeAll(async () => {
  here = await world()
  key = await (await here.service()).key()
})

describe('§22.14 the content type of JSON answers is exactly application/json', () => {
  test('answers, refusals, faults of the wire, and the pages beside the interface', async () => {
    const template = await emailTemplate(key, 'Hello', 'News')
    const sent = await key.post(EMAIL, { email_address: 'a@example.net', template_id: template })
    expect(sent.status).toBe(201)
    const replies = [
      sent,
      await key.get(LIST),
      await key.get(`${LIST}/${sent.body.id}`),
      await key.get('/v2/templates'),
      await key.get(`/v2/manage-template/${template}`),
      await key.post(`/v2/template/${template}/preview`, {}),
      await key.post(EMAIL, {}),
      await key.post('/v2/notifications/bulk', {}),
      await key.post('/v2/manage-template', {}),
      await key.delete(`${LIST}/${sent.body.id}`),
      await here.call('GET', '/nothing'),
      await here.call('PUT', EMAIL),
      await here.call('GET', LIST),
      await here.call('GET', LIST, { headers: { authorization: 'ApiKey-v1 wrong' } }),
      await here.call('POST', EMAIL, { raw: '{', headers: { authorization: `ApiKey-v1 ${key.key}` } }),
      await here.call('GET', '/openapi.json'),
      await here.call('GET', '/health/live'),
      await here.call('GET', '/health/ready'),
    ]
    expect(replies.map(reply => reply.headers.get('content-type'))).toEqual(replies.map(() => 'application/json'))
    const broken = await exchange(here.address, 'this is not HTTP\r\n\r\n')
    expect(broken).toMatch(/^content-type: application\/json\r$/im)
  })
})

describe('§23.2 a path segment over 1,024 characters, or one that is not valid percent-encoding', () => {
  const unknown = () => here.call('GET', '/v2/nothing')
  test.each([
    ['GET', `${LIST}/%`],
    ['GET', `${LIST}/%ff%fe`],
    ['GET', `${LIST}/%e0%a4%a`],
    ['DELETE', `${LIST}/%zz`],
    ['POST', '/v2/template/%/preview'],
    ['GET', `/herald/v1/notifications/%/timeline`],
    ['GET', '/%'],
    ['GET', `${LIST}/${'a'.repeat(1_025)}`],
    ['DELETE', `${LIST}/${'1'.repeat(1_025)}`],
    ['GET', `/v2/template/${'a'.repeat(5_000)}/1`],
    ['POST', `/v2/template/${'a'.repeat(1_025)}/preview`],
    ['GET', `/${'a'.repeat(1_025)}`],
  ])('is 404 as an unknown path: %s, case %#', async (method, path) => {
    // As it is: fetch would refuse or change some of these paths.
    const reply = await exchange(
      here.address,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\nConnection: close\r\n\r\n`,
    )
    const [head = '', body] = reply.split('\r\n\r\n')
    expect(statusOf(reply)).toBe(404)
    expect(body).toBe((await unknown()).text)
    expect(head).toMatch(/^content-type: application\/json$/im)
    expect(head).toMatch(/^x-request-id: [\w-]{36}$/im)
  })

  test('up to 1,024 characters it is an id that is not valid', async () => {
    expect(await key.get(`${LIST}/${'a'.repeat(1_024)}`)).toBeRefused(400, 'ValidationError', 'id is not a valid UUID')
  })
})

describe('§22.8 names of unexpected query parameters, in the order in which the caller wrote them', () => {
  test.each([
    ['?zeta=1&10=1&2=1&alpha=1', 'zeta, 10, 2, alpha'],
    ['?2=1&1=1', '2, 1'],
    ['?b=1&%31%30=1&a=1&10=2&2', 'b, 10, a, 2'],
    ['?x+y=1&7=1&__proto__=1&3', 'x y, 7, __proto__, 3'],
    ['?%zz=1&9=1&8=1', '%zz, 9, 8'],
  ])('%s', async (query, names) => {
    for (const path of [
      LIST,
      '/v2/notifications/bulk',
      '/v2/templates',
      '/herald/v1/events',
      '/herald/v1/inbox',
      '/herald/v1/statistics',
    ]) {
      const { body } = await key.get(path + query)
      expect(body.errors, path).toEqual([
        { error: 'ValidationError', message: `Additional properties are not allowed (${names} were unexpected)` },
      ])
    }
  })
})

const head = (method: string, path: string, length: number, authorization: string | null) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${
    authorization ? `Authorization: ${authorization}\r\n` : ''
  }\r\n`

describe('§22.6 unknown path and wrong method first, then the key, then the size', () => {
  const mine = () => `ApiKey-v1 ${key.key}`

  test.each([
    ['an unknown path', 'POST', '/v2/nothing', 404],
    ['an unknown kind of message', 'POST', '/v2/notifications/letter', 404],
    ['a wrong method', 'PATCH', EMAIL, 405],
    ['a wrong method', 'PUT', '/v2/manage-template', 405],
    ['no key', 'POST', EMAIL, 401],
    ['no key', 'POST', '/v2/notifications/bulk', 401],
  ])('%s (%s %s), although the body is far too large', async (_what, method, path, status) => {
    expect(statusOf(await exchange(here.address, head(method, path, HUGE, null)))).toBe(status)
    expect(statusOf(await exchange(here.address, head(method, path, HUGE, null).replace(/Content-T.*\r\n/, '')))).toBe(
      status,
    )
  })

  test('a wrong key is refused before the size, the size before the body is read', async () => {
    expect(statusOf(await exchange(here.address, head('POST', EMAIL, HUGE, 'ApiKey-v1 wrong')))).toBe(403)
    for (const path of [EMAIL, '/v2/notifications/bulk', '/v2/manage-template'])
      expect(statusOf(await exchange(here.address, head('POST', path, HUGE, mine())))).toBe(413)
    expect(statusOf(await exchange(here.address, head('PATCH', '/v2/nothing', HUGE, mine())))).toBe(404)
  })

  test('a body of GET, HEAD or DELETE is ignored whatever its size and type', async () => {
    const body = 'x'.repeat(3 * 1024 * 1024)
    const ask = async (method: string, path: string, type = 'application/json') =>
      statusOf(
        await exchange(here.address, head(method, path, body.length, mine()).replace('application/json', type) + body),
      )
    for (const type of ['application/json', 'text/plain', 'nonsense']) {
      expect(await ask('GET', '/v2/templates', type)).toBe(200)
      expect(await ask('HEAD', '/v2/templates', type)).toBe(200)
      expect(await ask('DELETE', `${LIST}/${ID}`, type)).toBe(404)
      expect(await ask('DELETE', `/v2/manage-template/${ID}`, type)).toBe(404)
    }
  })

  test('the connection stays usable after an ignored body', async () => {
    const body = '{"a":'
    const twice =
      head('DELETE', `${LIST}/${ID}`, body.length, mine()) +
      body +
      head('GET', '/v2/nothing', 0, null).replace('Host: x', 'Host: x\r\nConnection: close')
    const { socket, heard } = await dial(here.address, twice)
    await new Promise(done => socket.on('close', done))
    expect(heard().match(/HTTP\/1\.1 404 /g)).toHaveLength(2)
    expect(heard()).toContain('Notification not found in database')
  })
})

describe('§22.7 HTTP/1.0 without Host', () => {
  test('is answered like any other request', async () => {
    const ask = (line: string, more = '') =>
      exchange(here.address, `${line} HTTP/1.0\r\nAuthorization: ApiKey-v1 ${key.key}\r\n${more}\r\n`)
    expect(statusOf(await ask('GET /v2/templates'))).toBe(200)
    expect(statusOf(await ask('GET /nothing'))).toBe(404)
    // HTTP 1.1 requires the header.
    const without = await exchange(here.address, 'GET /v2/templates HTTP/1.1\r\n\r\n')
    expect(statusOf(without)).toBe(400)
  })

  test('links use the address of the socket where no public address is configured', async () => {
    const template = await emailTemplate(key, 'Hello', 'News')
    const body = JSON.stringify({ email_address: 'a@example.net', template_id: template })
    const answer = await exchange(
      here.address,
      `POST ${EMAIL} HTTP/1.0\r\nAuthorization: ApiKey-v1 ${key.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(statusOf(answer)).toBe(201)
    const sent = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
    expect(sent.uri).toBe(`${here.address}/v2/notifications/${sent.id}`)
  })
})
