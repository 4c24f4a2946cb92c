// Contract 23.6: a body of GET, HEAD or DELETE that the caller stops sending. The answer is sent in full before the connection closes.
import net from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

let here: World
let key: Key
/** The list, which is larger than the buffers of a connection. */
let whole: string

beforeAll(async () => {
  here = await world({ HERALD_REQUEST_SECONDS: '3' })
  key = await (await here.service({ rate_limit: 10_000 })).key()
  const body = {
    email_address: 'ada@example.org',
    template_id: await emailTemplate(key),
    personalisation: { name: 'x'.repeat(50_000) },
    scheduled_for: inMinutes(60),
  }
  await Promise.all(Array.from({ length: 40 }, () => key.post(EMAIL, body)))
  whole = (await key.get(LIST)).text
  expect(whole.length).toBeGreaterThan(2_000_000)
}, 60_000)

/** Writes the head of a request with a body, and some of the body; nothing is read until `rest` is called. */
function begin(method: string, path: string, body = 'Content-Length: 100000\r\n\r\n{"a":') {
  const { hostname, port } = new URL(here.address)
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.pause()
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key.key}\r\n${body}`)
  return {
    socket,
    /** Everything until Herald ends the connection. */
    rest: () =>
      new Promise<string>((done, fail) => {
        const pieces: Buffer[] = []
        socket.on('data', piece => pieces.push(piece))
        socket.on('end', () => {
          socket.destroy()
          done(Buffer.concat(pieces).toString())
        })
        socket.on('error', fail)
        socket.resume()
      }),
  }
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'

describe.each([
  ['Content-Length', undefined],
  ['chunks', CHUNKED],
])('a body with %s', (_name, body) => {
  test('the caller is silent: a large answer comes in full', async () => {
    expect(answerIn(await begin('GET', LIST, body).rest())).toEqual([200, whole])
  })

  test('the caller closes its side in the body', async () => {
    const { socket, rest } = begin('GET', LIST, body)
    socket.end()
    expect(answerIn(await rest())).toEqual([200, whole])
  })

  test('the caller closes its side while the answer is on its way', async () => {
    const { socket, rest } = begin('GET', LIST, body)
    await begun(socket)
    socket.end()
    expect(answerIn(await rest())).toEqual([200, whole])
  })
})

/** Resolves when the first bytes of the answer are there, without reading more than that. */
async function begun(socket: net.Socket): Promise<void> {
  await new Promise<void>(done => socket.once('readable', done))
}

function answerIn(text: string): [status: number, body: string] {
  const end = text.indexOf('\r\n\r\n')
  return [Number(text.slice(9, 12)), text.slice(end + 4)]
}
