// Contract 1: HTTP conventions, on every path alike.
import net from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { CATEGORY, type Reply, type World, world } from '../support/world.ts'

const DECODING =
  'Error decoding arguments: The browser (or proxy) sent a request that this server could not understand.'
const NOT_JSON =
  "UnsupportedMediaType error: Did not attempt to load JSON data because the request Content-Type was not 'application/json'."
const UNKNOWN_PATH =
  'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.'
const WRONG_METHOD = 'The method is not allowed for the requested URL.'
const TOO_LARGE = 'The data value transmitted exceeds the capacity limit.'

let here: World
let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>

beforeAll(async () => {
  here = await world({ HERALD_CORS_ORIGINS: 'https://app.example.org' })
  key = await (await here.service()).key()
})

const raw = (path: string, raw: string | Buffer, headers: Record<string, string> = {}, method = 'POST') =>
  here.call(method, path, {
    raw,
    headers: { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'application/json', ...headers },
  })

const POSTS = ['/v2/manage-template']

describe('1.3 body is not JSON, or empty, on POST/PATCH', () => {
  for (const body of ['[', '{', '{"a":}', '', 'name=x', '{"a":1}{"b":2}', "{'a': 1}", '\u0000', 'NaN'])
    test(`400 for ${JSON.stringify(body)}`, async () => {
      for (const path of POSTS) expect(await raw(path, body)).toBeRefused(400, 'BadRequestError', DECODING)
      const id = '00000000-0000-0000-0000-000000000000'
      const patched = await raw(`/v2/manage-template/${id}`, body, {}, 'PATCH')
      expect(patched).toBeRefused(400, 'BadRequestError', DECODING)
    })

  test('broken UTF-8, lone surrogates, duplicate keys and endless nesting cannot be decoded either (contract 21.20)', async () => {
    const bodies = [
      Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
      '{"name": "\\ud800"}',
      '{"name": "\\udc00x"}',
      '{"name": "a", "name": "b"}',
      '{"personalisation": {"x": 1, "x": 1}}',
      `{"name": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ]
    for (const body of bodies)
      expect(await raw('/v2/manage-template', body)).toBeRefused(400, 'BadRequestError', DECODING)
  })

  test('a whole pair of surrogates is an ordinary character', async () => {
    const reply = await raw('/v2/manage-template', '{"name": "\\ud83d\\ude00"}')
    expect(reply.body.errors[0].message).toBe('template_type is a required property')
  })
})

describe('1.3 content type missing or not JSON on POST/PATCH', () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'json',
    '',
  ])
    test(`415 for "${type}"`, async () => {
      expect(await raw('/v2/manage-template', '{}', { 'content-type': type })).toBeRefused(
        415,
        'BadRequestError',
        NOT_JSON,
      )
    })

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/json;charset=latin9',
  ])
    test(`"${type}" is JSON; parameters are ignored`, async () => {
      expect((await raw('/v2/manage-template', '{}', { 'content-type': type })).body.errors[0].error).toBe(
        'ValidationError',
      )
    })

  test('no content type at all', async () => {
    const answer = await overSocket(
      `POST /v2/manage-template HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 415 /)
    expect(answer).toContain('UnsupportedMediaType error')
  })

  test('no body and no content type', async () => {
    const answer = await overSocket(
      `POST /v2/manage-template HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 415 /)
  })

  test('a packed body is not read', async () => {
    expect(await raw('/v2/manage-template', '{}', { 'content-encoding': 'gzip' })).toBeRefused(
      415,
      'BadRequestError',
      NOT_JSON,
    )
  })
})

describe('1.3 body is valid JSON but not an object', () => {
  test.each([
    ['[]', '[] is not of type object'],
    ['"x"', 'x is not of type object'],
    ['42', '42 is not of type object'],
    ['true', 'True is not of type object'],
    ['["a", 1, null]', '[a, 1, None] is not of type object'],
  ])('%s', async (body, message) => {
    expect(await raw('/v2/manage-template', body)).toBeRefused(400, 'ValidationError', message)
  })

  test('template create and update: null is treated as {}', async () => {
    const { body } = await raw('/v2/manage-template', 'null')
    expect(body.errors[0]).toEqual({ error: 'ValidationError', message: 'name is a required property' })
    const id = '00000000-0000-0000-0000-000000000000'
    expect(await raw(`/v2/manage-template/${id}`, 'null', {}, 'PATCH')).toBeRefused(
      400,
      'ValidationError',
      '{} does not have enough properties',
    )
  })
})

describe('1.3 unknown path and wrong method, decided before authentication', () => {
  for (const path of [
    '/v2',
    '/v2/nothing',
    '/v2/manage-template/',
    '/V2/manage-template',
    '/v2/manage-template/a/b',
    '/%00',
    '/v2/template',
  ])
    test(`404 ${path}`, async () => {
      expect(await here.call('GET', path)).toBeRefused(404, 'NotFound', UNKNOWN_PATH)
    })

  test('an address that cannot be read is an unknown path', async () => {
    const answer = await overSocket('GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
    expect(answer).toContain('"error":"NotFound"')
  })

  test.each([
    ['PUT', '/v2/manage-template', 'OPTIONS, POST'],
    ['GET', '/v2/manage-template', 'OPTIONS, POST'],
    ['POST', '/v2/manage-template/template-categories', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
    ['DELETE', '/v2/templates', 'GET, HEAD, OPTIONS'],
  ])('405 %s %s', async (method, path, allow) => {
    const reply = await here.call(method, path)
    expect(reply).toBeRefused(405, 'MethodNotAllowed', WRONG_METHOD)
    expect(reply.headers.get('allow')).toBe(allow)
  })
})

test('1.3 body over the size cap: 413, after authentication where headers suffice (contract 21.24)', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024 + 1) })
  expect(await raw('/v2/manage-template', body)).toBeRefused(413, 'RequestEntityTooLarge', TOO_LARGE)
  const stranger = await here.call('POST', '/v2/manage-template', { raw: body })
  expect(stranger.status).toBe(401)
})

describe('1.4 headers', () => {
  test('every body is application/json', async () => {
    const replies: Reply[] = [await here.call('GET', '/nothing'), await key.get('/v2/templates')]
    for (const reply of replies) expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('OPTIONS is answered without authentication, empty 200; an unknown path stays unknown', async () => {
    const reply = await here.call('OPTIONS', '/v2/manage-template')
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect((await here.call('OPTIONS', '/v2/nothing')).status).toBe(404)
  })

  test('CORS only for the origins that are allowed', async () => {
    const allowed = await here.call('OPTIONS', '/v2/templates', { headers: { origin: 'https://app.example.org' } })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.org')
    expect(allowed.headers.get('access-control-allow-headers')).toBe('Content-Type,Authorization,Idempotency-Key')
    expect(allowed.headers.get('access-control-allow-methods')).toBe('GET,PUT,POST,PATCH,DELETE')
    const other = await here.call('OPTIONS', '/v2/templates', { headers: { origin: 'https://evil.example' } })
    expect(other.headers.get('access-control-allow-origin')).toBe(null)
  })

  test('the request id is echoed, or generated; a malformed one is replaced', async () => {
    const id = async (given?: string) =>
      (await here.call('GET', '/health/live', { headers: given ? { 'x-request-id': given } : {} })).headers.get(
        'x-request-id',
      )
    expect(await id('trace-1.2:3')).toBe('trace-1.2:3')
    expect(await id()).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id('a b "c"')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('HEAD is answered like GET (contract 21.24)', async () => {
    const reply = await here.call('HEAD', '/v2/templates', { headers: { authorization: `ApiKey-v1 ${key.key}` } })
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect((await here.call('HEAD', '/v2/templates')).status).toBe(401)
  })
})

describe('malformed HTTP requests', () => {
  test.each([
    ['garbage', 'this is not HTTP\r\n\r\n', 400],
    ['no host', 'GET /v2/templates HTTP/1.1\r\n\r\n', 400],
    ['headers too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /v2/manage-template HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      400,
    ],
    [
      'length and chunks',
      'POST /v2/manage-template HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400],
  ])('%s: the envelope all the same', async (_name, bytes, status) => {
    const answer = await overSocket(bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(head).toMatch(/content-type: application\/json/i)
    expect(JSON.parse(body).status_code).toBe(status)
    expect(JSON.parse(body).errors).toHaveLength(1)
  })
})

test('1.2 several sentences come in one envelope, identical ones once', async () => {
  const reply = await key.post('/v2/manage-template', { template_type: 'sms', template_category_id: CATEGORY.general })
  expect(reply).toBeRefused(400, 'ValidationError', 'name is a required property', 'content is a required property')
})

describe('what runs beside the interface', () => {
  test('alive, ready, metrics, openapi.json and docs need no key', async () => {
    expect((await here.call('GET', '/health/live')).body).toEqual({ status: 'ok' })
    expect((await here.call('GET', '/health/ready')).body).toEqual({
      status: 'ok',
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
      providers: { email: ['capture'], sms: ['capture'] },
      details: [
        expect.stringMatching(/^E-mails are captured, not sent/),
        expect.stringMatching(/^Text messages are captured, not sent/),
      ],
    })
    expect((await here.call('GET', '/metrics')).text).toContain('herald_http_request_seconds_bucket')
    const openApi = (await here.call('GET', '/openapi.json')).body
    expect(openApi.openapi).toBe('3.1.0')
    expect(Object.keys(openApi.paths)).toContain('/v2/manage-template/{template_id}')
    const docs = await here.call('GET', '/docs/api')
    expect(docs.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(docs.text).toContain('/v2/manage-template/{template_id}')
    expect(docs.text.match(/(src|href)="https?:/g)).toBe(null)
  })
})

/** Raw bytes; returns what is received until the server closes. */
function overSocket(bytes: string): Promise<string> {
  const { hostname, port } = new URL(here.address)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', data => {
      answer += data
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', error => (answer ? resolve(answer) : reject(error)))
  })
}
