// C1, C2, R19: large bodies share memory, are parsed in a thread, and get the same answers as small ones.
import net from 'node:net'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { EMAIL, emailTemplate, type Key, SMS } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const LARGE = 'x'.repeat(300_000)
const FILE = { file: Buffer.alloc(400_000, 'x').toString('base64'), filename: 'a.txt', sending_method: 'attach' }

let here: World
let key: Key
let template: Id

beforeAll(async () => {
  // Room for one body of 8 MiB.
  here = await world({ HERALD_BODY_BUDGET: '8', HERALD_REQUEST_SECONDS: '2' })
  key = await (await here.service({ may_send_files: true, rate_limit: 100_000 })).key()
  template = await emailTemplate(key, 'Hello', 'News')
})

const head = (length: number) =>
  `POST ${EMAIL} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** A raw socket, because a client library cannot pause in the middle of a body. */
function talk(text: string): Promise<net.Socket> {
  const { port, hostname } = new URL(here.address)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(text)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

const answer = (socket: net.Socket) =>
  new Promise<string>(resolve => {
    let heard = ''
    socket.on('data', chunk => {
      heard += chunk.toString()
      if (heard.includes('\r\n\r\n') && heard.endsWith('}')) resolve(heard)
    })
    socket.on('close', () => resolve(heard))
  })

describe('a thread reads large bodies', () => {
  const refusal = async (body: object | string) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const headers = { authorization: `ApiKey-v1 ${key.key}` }
    const reply = await here.call('POST', EMAIL, { raw, headers })
    return [reply.status, reply.body.errors?.[0]?.message]
  }
  const pad = (body: string) => body.replace(/\}$/, `,"reference":"${LARGE}"}`)

  test.each([
    ['not JSON', `{"a":"${LARGE}"`, 400, /^Error decoding arguments/],
    ['the same key twice', pad('{"template_id":"x","template_id":"y"}'), 400, /^Error decoding arguments/],
    ['nested too deep', pad(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`), 400, /^Error decoding arguments/],
    ['a list', `["${LARGE}"]`, 400, /is not of type object$/],
  ])('%s', async (_what, body, status, message) => {
    const [got, said] = await refusal(body)
    expect(got).toBe(status)
    expect(said).toMatch(message)
  })

  test('an unexpected __proto__ is an unexpected field', async () => {
    const body = pad(`{"email_address":"a@example.net","template_id":"${template}","__proto__":{"x":1}}`)
    const reply = await here.call('POST', EMAIL, { raw: body, headers: { authorization: `ApiKey-v1 ${key.key}` } })
    expect(reply.body.errors.map((one: { message: string }) => one.message)).toContain(
      'Additional properties are not allowed (__proto__ was unexpected)',
    )
  })

  test('file errors are worded as for small bodies, NUL too', async () => {
    const post = (doc: object) =>
      refusal({ email_address: 'a@example.net', template_id: template, personalisation: { doc } })
    expect(await post({ ...FILE, file: `${FILE.file}!` })).toEqual([
      400,
      'doc : Incorrect padding : Error decoding base64 field',
    ])
    expect(await post({ ...FILE, file: `${FILE.file}\u0000` })).toEqual([
      400,
      'personalisation contains a character that is not allowed',
    ])
    expect(await post({ ...FILE, filename: 'x' })).toEqual([400, 'filename is too short'])
    expect((await post(FILE))[0]).toBe(201)
  })

  test('a large text message is refused as a small one', async () => {
    const reply = await key.post(SMS, { phone_number: '+16135550123', template_id: template, reference: LARGE })
    expect(reply.body.errors[0].message).toMatch(/^reference x+ is too long$/)
  })
})

describe('shares of memory', () => {
  test('a caller that disconnects while waiting or while being read releases its share', async () => {
    for (let n = 0; n < 5; n++) {
      const one = await talk(`${head(8 * 1024 * 1024)}{`)
      const two = await talk(`${head(8 * 1024 * 1024)}{`)
      two.destroy()
      one.destroy()
    }
    const personalisation = { doc: FILE }
    const reply = await key.post(EMAIL, { email_address: 'a@example.net', template_id: template, personalisation })
    expect(reply.status).toBe(201)
  })

  test('without a length', async () => {
    const body = JSON.stringify({
      email_address: 'a@example.net',
      template_id: template,
      personalisation: { doc: FILE },
    })
    const chunked = await talk(
      head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked') +
        `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    expect(await answer(chunked)).toMatch(/^HTTP\/1\.1 201 /)
    chunked.destroy()
  })

  const chunkedPost = (pieces: readonly Buffer[]) =>
    fetch(here.address + EMAIL, {
      method: 'POST',
      headers: { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'application/json' },
      body: Readable.toWeb(Readable.from(pieces)) as ReadableStream,
      duplex: 'half',
    } as RequestInit)

  test('without a length and large: the file in it arrives complete', async () => {
    const linked = await emailTemplate(key, 'Here: ((doc))', 'News')
    const content = Buffer.from(Array.from({ length: 4_000_000 }, (_, n) => 32 + ((n * 7919) % 91)))
    const doc = { file: content.toString('base64'), filename: 'a.txt', sending_method: 'link' }
    const body = Buffer.from(
      JSON.stringify({ email_address: 'a@example.net', template_id: linked, personalisation: { doc } }),
    )
    const pieces = Array.from({ length: Math.ceil(body.length / 99_991) }, (_, n) =>
      body.subarray(n * 99_991, (n + 1) * 99_991),
    )
    const reply = await chunkedPost(pieces)
    expect(reply.status).toBe(201)
    const sent = (await reply.json()) as { content: { body: string } }
    const url = /http\S+/.exec(sent.content.body)?.[0] ?? ''
    const served = await fetch(url, { headers: { accept: '*/*' } })
    expect(Buffer.from(await served.arrayBuffer()).equals(content)).toBe(true)
  })

  test('without a length and too large', async () => {
    const socket = await talk(head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked'))
    const heard = answer(socket)
    socket.on('error', () => {}) // it is closed while we write
    const piece = Buffer.alloc(1024 * 1024, ' ')
    for (let n = 0; n < 21; n++) {
      socket.write('100000\r\n')
      socket.write(piece)
      socket.write('\r\n')
    }
    expect(await heard).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  test('C2 a body that is sent too slowly is cut off, and nothing of it is stored', async () => {
    const body = JSON.stringify({ email_address: 'a@example.net', template_id: template, reference: 'dripped' })
    const socket = await talk(head(body.length) + body.slice(0, -1))
    expect(await answer(socket)).toMatch(/^HTTP\/1\.1 408 /)
    socket.write(body.slice(-1))
    expect((await key.get('/v2/notifications?reference=dripped')).body.notifications).toEqual([])
  })
})
