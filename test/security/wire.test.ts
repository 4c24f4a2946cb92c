// S-26: bytes on a connection are one request or none. Forty ways to smuggle a second request behind the first; each gets the
// expected number of answers, and the smuggled request is never executed.
import net from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { emailTemplate, type Key } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

let here: World
let key: Key
let template: string

beforeAll(async () => {
  here = await world()
  key = await (await here.service()).key()
  template = await emailTemplate(key, 'Hello', 'Dear')
})

const HOST = 'Host: x\r\n'
const auth = () => `Authorization: ApiKey-v1 ${key.key}\r\n`
const json = 'Content-Type: application/json\r\n'
/** The second request: if it is ever executed, a template is archived. */
const hidden = () => `DELETE /v2/manage-template/${template} HTTP/1.1\r\n${HOST}${auth()}\r\n`
const post = (headers: string, body: string) =>
  `POST /v2/template/${template}/preview HTTP/1.1\r\n${HOST}${auth()}${json}${headers}\r\n${body}`
const chunked = (headers: string, body: string) => post(`Transfer-Encoding: chunked\r\n${headers}`, body)
const get = (headers: string) => `GET /v2/templates HTTP/1.1\r\n${HOST}${auth()}${headers}\r\n`

/** Name, bytes, and the expected statuses, in order. A refusal may come twice, for the request and for what follows it. */
const table: readonly [name: string, bytes: () => string, statuses: readonly number[]][] = [
  ['two lengths that differ', () => post('Content-Length: 2\r\nContent-Length: 40\r\n', `{}${hidden()}`), [400]],
  ['two lengths that agree', () => post('Content-Length: 2\r\nContent-Length: 2\r\n', `{}${hidden()}`), [400]],
  ['a list of lengths', () => post('Content-Length: 2, 2\r\n', `{}${hidden()}`), [400]],
  [
    'length and chunks',
    () => post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden()}`),
    [400],
  ],
  ['chunks and length', () => chunked('Content-Length: 5\r\n', `0\r\n\r\n${hidden()}`), [400]],
  ['chunks twice', () => chunked('Transfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden()}`), [400]],
  ['chunks, then identity', () => post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden()}`), [400]],
  ['identity, then chunks', () => post('Transfer-Encoding: identity, chunked\r\n', `2\r\n{}\r\n0\r\n\r\n`), [200]],
  ['chunks that are none', () => post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden()}`), [400]],
  ['chunks with a vertical tab', () => post('Transfer-Encoding: \vchunked\r\n', `0\r\n\r\n${hidden()}`), [400]],
  [
    'a space before the colon',
    () => post('Transfer-Encoding : chunked\r\nContent-Length: 2\r\n', `{}${hidden()}`),
    [400],
  ],
  ['a length with a space before the colon', () => post('Content-Length : 2\r\n', `{}${hidden()}`), [400]],
  ['a folded header', () => post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n', `{}${hidden()}`), [400]],
  ['a header that begins with a space', () => post(' Content-Length: 2\r\n', `{}${hidden()}`), [400]],
  ['a negative length', () => post('Content-Length: -2\r\n', `{}${hidden()}`), [400]],
  ['a length with a sign', () => post('Content-Length: +2\r\n', `{}${hidden()}`), [400]],
  ['a length in hexadecimal', () => post('Content-Length: 0x2\r\n', `{}${hidden()}`), [400]],
  ['a length with a fraction', () => post('Content-Length: 2.0\r\n', `{}${hidden()}`), [400]],
  ['a length that no number holds', () => post('Content-Length: 99999999999999999999999\r\n', `{}${hidden()}`), [400]],
  ['an empty length', () => post('Content-Length: \r\n', `{}${hidden()}`), [400]],
  ['a chunk whose size is no number', () => chunked('', `zz\r\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk whose size is negative', () => chunked('', `-2\r\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk whose size no number holds', () => chunked('', `ffffffffffffffff2\r\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk that is longer than it says', () => chunked('', `1\r\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk that ends with LF', () => chunked('', `2\r\n{}\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk size that ends with LF', () => chunked('', `2\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['a chunk size that ends with CR', () => chunked('', `2\r{}\r\n0\r\n\r\n${hidden()}`), [400]],
  ['an extension of a chunk with a CR', () => chunked('', `2;a\rb\r\n{}\r\n0\r\n\r\n${hidden()}`), [400]],
  [
    'a length in a trailer',
    () => chunked('Connection: close\r\n', `2\r\n{}\r\n0\r\nContent-Length: 90\r\n\r\n`),
    [400],
  ],
  ['LF instead of CRLF', () => `GET /v2/templates HTTP/1.1\n${HOST}\n${hidden()}`, [400]],
  ['a CR alone in a header', () => get(`X: a\rTransfer-Encoding: chunked\r\n`) + hidden(), [400]],
  ['an LF alone in a header', () => get(`X: a\nb\r\n`) + hidden(), [400]],
  ['NUL in a header', () => get(`X: a\0b\r\n`) + hidden(), [400]],
  ['NUL in the name of a header', () => get(`X\0Y: a\r\n`) + hidden(), [400]],
  ['two hosts', () => get('Host: y\r\nConnection: close\r\n'), [200]],
  ['no host', () => `GET /v2/templates HTTP/1.1\r\n${auth()}Connection: close\r\n\r\n`, [400]],
  ['HTTP/0.9', () => `GET /v2/templates\r\n\r\n${hidden()}`, [400]],
  ['HTTP/9.9', () => `GET /v2/templates HTTP/9.9\r\n${HOST}\r\n${hidden()}`, [400]],
  ['the preface of HTTP/2', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden()}`, [400]],
  [
    'an upgrade to HTTP/2',
    () => get('Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n'),
    [200],
  ],
  ['a body on GET', () => `${get('Content-Length: 12\r\nConnection: close\r\n')}DELETE / HTT`, [200]],
  ['headers of 40 kB', () => get(`X: ${'y'.repeat(40_000)}\r\n`) + hidden(), [431]],
  ['headers without end', () => get('X-A: b\r\n'.repeat(6_000)) + hidden(), [431]],
  ['CONNECT', () => `CONNECT evil.example:443 HTTP/1.1\r\n${HOST}\r\n${hidden()}`, [400]],
  ['two honest requests in one write', () => get('') + get('Connection: close\r\n'), [200, 200]],
  [
    'an honest body and an honest request',
    () => post('Content-Length: 2\r\n', '{}') + get('Connection: close\r\n'),
    [200, 200],
  ],
]

/** Everything received until the server closes. */
const exchange = (bytes: string): Promise<string> =>
  new Promise(resolve => {
    let answer = ''
    const socket = net.connect(here.port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')))
    socket.setEncoding('latin1').setTimeout(20_000, () => socket.destroy())
    socket.on('data', data => {
      answer += data
    })
    socket.on('error', () => {}) // a reset after the answer is a close as well
    socket.on('close', () => resolve(answer))
  })

describe('S-26', () => {
  test.each(table)('%s', async (_name, bytes, statuses) => {
    const answer = await exchange(bytes())
    const told = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
    const isRefused = statuses[0] !== 200
    expect(isRefused ? [...new Set(told)] : told, answer.slice(0, 2_000)).toEqual(statuses)
    if (isRefused) expect(answer).toContain(`"status_code":${statuses[0]}}`)
    expect((await key.get(`/v2/manage-template/${template}`)).body.archived).toBe(false)
  })

  test('the hidden request is valid: sent openly it archives the template', async () => {
    const own = await emailTemplate(key)
    const open = hidden().replace(template, own).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    expect(await exchange(open)).toMatch(/^HTTP\/1\.1 200 /)
    expect((await key.get(`/v2/manage-template/${own}`)).body.archived).toBe(true)
  })

  test('content types are read by the interface’s rule alone: no other type is parsed as JSON', async () => {
    const wanted = `/v2/template/${template}/preview`
    for (const type of [
      'text/plain',
      'application/json\ttext',
      'application/jsonx',
      ' ',
      'x/application/json',
      'a/b+json',
    ])
      expect(
        (
          await here.call('POST', wanted, {
            raw: '{}',
            headers: { 'content-type': type, authorization: `ApiKey-v1 ${key.key}` },
          })
        ).status,
        type,
      ).toBe(415)
  })
})
