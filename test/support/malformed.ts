// Malformed requests (reliability C4, 5.3, S-26, S-27), for the test and for the fault tests: the same seed makes the same ones.
import net from 'node:net'
import { createRandom } from '../../faults/support/random.ts'
import { resolved } from '../../src/http/openapi.ts'
import { openApi } from '../../src/routes.ts'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is read as it comes
type Json = any
type Raw = string | Buffer
export type Malformed = { what: string; bytes: Buffer }
type Answer = { status: number; headers: string; body: string }

/** Existing objects of the caller, so that not every path is unknown. */
type Known = { email: string; sms: string; message: string; webhook: string; category: string }

const api = openApi()
const routes = Object.entries((api as Json).paths as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

export function createMalformed(seed: number, key: string, known: Known) {
  const { next: random, pick } = createRandom(seed)
  const chance = (share: number) => random() < share

  /** Texts that are not JSON, or that JSON.parse accepts and later code does not. */
  const brokenJson: (() => Raw)[] = [
    () => '',
    () => 'null',
    () => '[]',
    () => '"text"',
    () => '42',
    () => 'NaN',
    () => '{',
    () => '{"a":}',
    () => '{"a":1,}',
    () => '{"a":1}{"b":2}',
    () => '\ufeff{}',
    () => '{"name":"a","name":"b"}',
    () => '{"template_id":"a","template_id":"b"}',
    () => `{"personalisation":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    () => `${'['.repeat(100_000)}`,
    () => `{"personalisation":${'['.repeat(30)}${']'.repeat(30)}}`,
    () => '{"reference":"\\ud800"}',
    () => '{"\\udc00":"x"}',
    () => '{"reference":"a\\u0000b"}',
    () => '{"\\u0000":1}',
    () => '{"reference":1e999}',
    () => '{"reference":-1e-999,"name":99999999999999999999999999}',
    () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    () => Buffer.from([0x00, 0x01, 0x02]),
    () => Buffer.from('{"name":"x"}', 'utf16le'),
    () => 'email_address=a%40example.org',
    () => `{"a":"${'x'.repeat(1_200_000)}"}`,
  ]

  /** Values that are wrong in any field. */
  const values: (() => unknown)[] = [
    () => null,
    () => true,
    () => 0,
    () => -1,
    () => 1.5,
    () => 99_999_999_999,
    () => Number.MAX_VALUE,
    () => '',
    () => ' ',
    () => '\u0000',
    () => 'a\u0000b',
    () => '\u202e\u200b\ufeff',
    () => '💥'.repeat(300),
    () => "'; drop table services; --",
    () => '<script>alert(1)</script>',
    () => '%00',
    () => '../../etc/passwd',
    () => '{{7*7}}#{7*7}((',
    () => '(('.repeat(2_000),
    () => '((a??'.repeat(500),
    () => '))(('.repeat(500),
    () => 'x'.repeat(60_000),
    () => [],
    () => [[]],
    () => [null, 1, 'a', {}],
    () => ({}),
    () => ({ toString: 1, valueOf: null, length: -1 }),
    () => ({ constructor: { prototype: { polluted: true } } }),
    () => ({ file: 'not base64!', filename: '...', sending_method: 'attach' }),
    () => ({ file: 'AA A=', filename: 'a.pdf', sending_method: 'link' }),
    () => ({ file: 'A-_=', filename: 'x'.repeat(300), sending_method: ['attach'] }),
    () => ({ file: 12, filename: {}, sending_method: null }),
    () => nested(20),
    () => nested(31),
    () => nested(200),
    () => known.email,
    () => known.sms,
    () => known.message,
    ...[
      'infinity',
      '-infinity',
      'NaN',
      'now',
      '294277-01-01T00:00:00Z',
      '0000-00-00',
      '2026-13-45',
      '+275760-09-13',
      '99999999999',
    ].map(text => () => text),
    ...ids(),
  ]

  function nested(depth: number): unknown {
    return depth === 0 ? 'deep' : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) }
  }

  /** Spellings of a UUID: some valid by the contract, some not. */
  function ids(): (() => string)[] {
    const plain = '0190a1b2-c3d4-7000-8000-0123456789ab'
    return [
      plain,
      plain.toUpperCase(),
      plain.replaceAll('-', ''),
      `{${plain}}`,
      `urn:uuid:${plain}`,
      `urn:uuid:{${plain}}`,
      `{${plain}`,
      ` ${plain}`,
      `${plain}\n`,
      `${plain}0`,
      plain.slice(1),
      plain.replace('a', 'g'),
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '----0190a1b2c3d47000800000123456789ab',
      '０190a1b2-c3d4-7000-8000-0123456789ab',
      'null',
      'undefined',
      '1',
      '-1',
      '1e3',
      '99999999999999999999',
      "1' or '1'='1",
    ].map(text => () => text)
  }

  /** A valid body of the route with some of it made wrong. */
  function bodyOf(operation: Json): string {
    const properties: string[] = Object.keys(
      resolved<Json>(api, operation.requestBody?.content?.['application/json']?.schema ?? {}).properties ?? {},
    )
    const right: Record<string, unknown> = {
      email_address: 'a@example.org',
      phone_number: '+16135550123',
      template_id: chance(0.7) ? known.email : known.sms,
      personalisation: { name: 'Ada', warning: 'yes' },
      name: 'Fuzz',
      template_type: pick(['email', 'sms']),
      content: 'Hello ((name))',
      subject: 'Hello',
      template_category_id: known.category,
      url: 'https://fuzz.invalid/events',
      format: pick(['standard', 'callback']),
      types: ['notification.delivered'],
      batch: 10,
      token: 'a token of the endpoint',
      state: pick(['active', 'paused']),
      from: '2026-11-02T08:00:00Z',
      overlap_hours: 1,
    }
    const body: [string, unknown][] = properties.filter(name => name in right).map(name => [name, right[name]])
    const changes = 1 + Math.floor(random() * 3)
    for (let n = 0; n < changes; n++) {
      const name = chance(0.85) && properties.length > 0 ? pick(properties) : pick(STRANGE)
      const at = body.findIndex(([other]) => other === name)
      if (at !== -1) body.splice(at, 1)
      if (chance(0.1)) continue
      const value = pick(values)()
      body.push([
        name,
        name === 'personalisation' && chance(0.7) ? { name: value, [pick(STRANGE)]: pick(values)() } : value,
      ])
    }
    // Written by hand: as a literal, __proto__ would not become a member.
    return `{${body.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  }

  const STRANGE = [
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    '',
    'é',
    '\u0000',
    'x'.repeat(500),
    '$ref',
    '0',
  ]

  const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'QUERY']

  const TYPES = [
    'application/json; charset=utf-7',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset="',
    'application/JSON;;;;',
    'application/json, text/plain',
    'application/vnd.api+json',
    'text/plain',
    'multipart/form-data',
    'application/x-www-form-urlencoded; charset=\u00ff',
    'x'.repeat(3_000),
  ]

  function query(): string {
    const names = [
      'status',
      'template_type',
      'reference',
      'include_jobs',
      'older_than',
      'type',
      'status[]',
      'status[a][b]',
      '__proto__',
      'page',
      'after',
      'types',
      'limit',
      'wait',
      'failed',
    ]
    const texts = [
      '',
      'delivered',
      'failed',
      'email',
      'letter',
      'true',
      'TRUE',
      '%00',
      '%zz',
      '%ff',
      'a%00b',
      '[]',
      '%',
      known.message,
      '%ud800',
      'now',
      '2026-11-02T08:00:00Z',
      '2026-13-99T99:99:99Z',
      '0.0.0',
      'k2f.9x.1',
      `${'z'.repeat(40)}.z.1`,
      'notification.delivered,job.finished',
      'notification.unknown',
      '-1',
      '1001',
    ]
    return Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      chance(0.1)
        ? pick(['&', '=', '?', 'a', '&&=&', `${'x'.repeat(5_000)}=1`])
        : `${pick(names)}=${chance(0.6) ? pick(texts) : inPath(asText(pick(values)()))}`,
    ).join('&')
  }

  /** What a request line can contain; the rest is in the raw table below. */
  function inPath(text: string): string {
    const short = text.slice(0, 2_000)
    return chance(0.5) && short.isWellFormed() ? encodeURIComponent(short) : short.replace(/[^\x21-\x7e]|[?#]/g, '%20')
  }

  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

  function pathOf(path: string): string {
    const filled = path.replace(/\{([^}]+)\}/g, (_all, name: string) => {
      if (chance(0.3)) return name === 'version' ? '1' : pick([known.email, known.sms, known.message, known.webhook])
      return inPath(asText(pick(values)()))
    })
    if (!chance(0.08)) return filled
    return (
      filled + pick(['/', '//', '/%00', '%00', '/..', '/%2e%2e/', ';a=b', '#x', '/%c0%af', `/${'a'.repeat(1_500)}`])
    )
  }

  function authorization(): string[] {
    if (chance(0.8)) return [`Authorization: ApiKey-v1 ${key}`]
    return pick([
      [],
      ['Authorization: '],
      ['Authorization: Basic dXNlcjpwYXNz'],
      ['Authorization: ApiKey-v1'],
      [`Authorization: ApiKey-v1 ${'x'.repeat(5_000)}`],
      [`Authorization: ApiKey-v1 ${key.slice(0, -1)}`],
      [`Authorization: ApiKey-v1 ${key}\u00ff`],
      ['Authorization: Bearer a.b.c'],
      ['Authorization: Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.'],
      ['Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.bnVsbA.x'],
      [`Authorization: ApiKey-v1 ${key}`, 'Authorization: Basic x'],
      [`Authorization: ApiKey-v1 ${key}`, 'Date: Thu, 01 Jan 1970 00:00:00 GMT'],
      [`Authorization: ApiKey-v1 ${key}`, 'Date: infinity'],
    ])
  }

  function generated(): Malformed {
    const { method: usual, path, operation } = pick(routes)
    const method = chance(0.9) ? usual : pick(METHODS)
    const target = pathOf(path) + (usual === 'GET' && chance(0.5) ? `?${query()}` : '')
    const hasBody = usual === 'POST' || usual === 'PATCH' || chance(0.05)
    const body = hasBody ? Buffer.from(chance(0.25) ? pick(brokenJson)() : bodyOf(operation)) : null
    const type = chance(0.92) ? 'application/json' : pick(TYPES)
    const headers = [
      ...authorization(),
      ...(body ? [`Content-Type: ${type}`, `Content-Length: ${body.length}`] : []),
      ...(chance(0.03) ? [`Content-Encoding: ${pick(['gzip', 'br', 'identity', 'x'])}`] : []),
      ...(chance(0.05) && method === 'POST'
        ? [`Idempotency-Key: ${pick(['', 'a', 'ü', 'x'.repeat(300), 'fuzz', '\t'])}`]
        : []),
      ...(chance(0.03)
        ? [
            pick([
              'X-Request-Id: \u00e9',
              'X-Forwarded-Host: evil',
              'Origin: null',
              'Accept: x/y',
              'Expect: 100-continue',
            ]),
          ]
        : []),
    ]
    return asked(
      `${method} ${target.slice(0, 300)} ${body?.subarray(0, 300) ?? ''}`,
      [`${method} ${target}`, ...headers],
      body,
    )
  }

  /** Requests that no HTTP library would write (reliability S-26, S-27). */
  function rawTable(): Malformed[] {
    const post = `POST /v2/notifications/email HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key}\r\nContent-Type: application/json\r\n`
    const get = 'GET /v2/notifications HTTP/1.1\r\nHost: x\r\n'
    const close = 'Connection: close\r\n'
    return [
      'garbage\r\n\r\n',
      '\r\n\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'GET  /  HTTP/1.1\r\nHost: x\r\n\r\n',
      'get / HTTP/1.1\r\nHost: x\r\n\r\n',
      `GET http://[bad HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET * HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `OPTIONS * HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      'CONNECT evil:443 HTTP/1.1\r\nHost: x\r\n\r\n',
      `GET /v2/notifications/\u0000 HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET /v2/notifications/%00 HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET /v2/notifications/\u00e9 HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET /%zz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET //v2//notifications HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      `${get}X: ${'y'.repeat(40_000)}\r\n\r\n`,
      `${get}${'X-A: b\r\n'.repeat(3_000)}${close}\r\n`,
      `${get}bad header\r\n\r\n`,
      `${get}: empty\r\n\r\n`,
      `${get}X\u0000Y: 1\r\n\r\n`,
      `${get}X: a\u0000b\r\n\r\n`,
      `${get}X: a\rb\r\n\r\n`,
      `${get} folded: x\r\n\r\n`,
      `GET /v2/notifications HTTP/1.1\r\nHost: x\r\nHost: y\r\n${close}\r\n`,
      `GET /v2/notifications HTTP/1.1\r\nHost: \r\n${close}\r\n`,
      `GET /v2/notifications HTTP/1.1\r\nHost: a b/c?d\r\nAuthorization: ApiKey-v1 ${key}\r\n${close}\r\n`,
      `GET /v2/notifications HTTP/1.0\r\n\r\n`,
      `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      `${post}Content-Length: -1\r\n\r\n{}`,
      `${post}Content-Length: 2, 2\r\n\r\n{}`,
      `${post}Content-Length: 0x2\r\n\r\n{}`,
      `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
      `${post}Content-Length: 2147483648\r\n${close}\r\n{}`,
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: chunked\r\n${close}\r\nzz\r\n{}\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: chunked\r\n${close}\r\nffffffffffffffff1\r\n{}\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: chunked\r\n${close}\r\n2\r\n{}\r\n0\r\n\r\n`,
      `${post}Transfer-Encoding: chunked\r\nTrailer: x\r\n${close}\r\n2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n`,
      `${post}Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n{}`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    ].map(text => ({ what: JSON.stringify(text.slice(0, 120)), bytes: Buffer.from(text, 'latin1') }))
  }

  function asked(what: string, lines: string[], body: Buffer | null): Malformed {
    const [first, ...headers] = lines
    const head = [`${first} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n')
    return { what, bytes: Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]) }
  }

  return { rawTable, generated }
}

/** What is wrong with a response; null: nothing. */
export function problemWith({ bytes }: Malformed, { status, headers, body }: Answer): string | null {
  if (status === 0) return 'no answer'
  if (status >= 500) return 'a fault'
  if (status < 400) return null
  if (bytes.subarray(0, 5).toString() === 'HEAD ') return body === '' ? null : 'a body after HEAD'
  if (!/^content-type: application\/json(;|\r?$)/im.test(headers)) return 'not JSON'
  try {
    const told = JSON.parse(body)
    const isEnvelope =
      Object.keys(told).join() === 'errors,status_code' &&
      told.status_code === status &&
      told.errors.length > 0 &&
      told.errors.every(
        (one: Json) =>
          Object.keys(one).join() === 'error,message' &&
          typeof one.error === 'string' &&
          typeof one.message === 'string',
      ) &&
      (told.errors.length === 1 || told.errors[0].error === 'ValidationError')
    return isEnvelope ? null : 'not the envelope'
  } catch {
    return 'no JSON in the body'
  }
}

/** Raw bytes; returns what is received until the server closes, or a whole response has arrived. */
export function exchange(address: string, { bytes }: Malformed): Promise<Answer> {
  const { hostname, port } = new URL(address)
  return new Promise(resolve => {
    const pieces: Buffer[] = []
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
    const told = () => withoutContinue(Buffer.concat(pieces))
    const end = () => {
      socket.destroy()
      resolve(read(told()))
    }
    socket.setTimeout(10_000, end)
    socket.on('data', data => {
      pieces.push(data)
      if (isWhole(told())) end()
    })
    socket.on('end', end)
    socket.on('error', end)
  })
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const withoutContinue = (bytes: Buffer) =>
  bytes.toString('latin1', 0, CONTINUE.length) === CONTINUE ? bytes.subarray(CONTINUE.length) : bytes

function isWhole(bytes: Buffer): boolean {
  const head = bytes.indexOf('\r\n\r\n')
  const length = head === -1 ? null : /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1]
  return length !== null && length !== undefined && bytes.length >= head + 4 + Number(length)
}

function read(bytes: Buffer): Answer {
  const head = bytes.indexOf('\r\n\r\n')
  const headers = bytes.toString('latin1', 0, head === -1 ? bytes.length : head)
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1] ?? 0),
    headers,
    body: head === -1 ? '' : bytes.toString('utf8', head + 4),
  }
}

/** Sends all of them, a few at a time: the number of responses by status, and what was wrong. */
export async function askAll(address: string, all: readonly Malformed[], atOnce = 16) {
  const wrong: string[] = []
  const counts: Record<string, number> = {}
  let next = 0
  const caller = async () => {
    for (let at = next++; at < all.length; at = next++) {
      const one = all[at] as Malformed
      const answer = await exchange(address, one)
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
      const problem = problemWith(one, answer)
      if (problem) wrong.push(`${problem}\n  asked ${one.what}\n  got ${answer.status} ${answer.body.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  return { counts, wrong }
}
