// One POST to an endpoint that may be slow, broken or hostile.
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createAddresses, type Resolve } from '../../src/webhooks/address.ts'
import { createPoster, type PosterOptions } from '../../src/webhooks/post.ts'
import { selfSigned } from '../support/certificates.ts'
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts'

const settings = {
  webhookAllow: ['127.0.0.1'],
  webhookPorts: [{ from: 1, to: 65_535 }],
  webhookSchemes: ['http', 'https'] as ('http' | 'https')[],
}
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function receive(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...given)
  stops.push(receiver.stop)
  return receiver
}

function posterWith(options: Omit<PosterOptions, 'addresses'> & { allow?: string[]; resolve?: Resolve } = {}) {
  const { allow = ['127.0.0.1'], resolve, ...others } = options
  const poster = createPoster({ addresses: createAddresses({ ...settings, webhookAllow: allow }, resolve), ...others })
  stops.push(poster.stop)
  return (url: string, body = '{}', headers: Record<string, string> = {}) =>
    poster.post('one', { url: new URL(url), headers, body })
}

/** A server that speaks bytes. */
async function bytesServer(onData: (socket: Socket) => void) {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => onData(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

test('a POST with its headers, and the beginning of the answer', async () => {
  const receiver = await receive(status(202, {}, 'thank you'))
  const posted = await posterWith()(receiver.url, '{"a":"ü"}', { 'webhook-id': 'x' })
  expect(posted).toMatchObject({ kind: 'answered', status: 202, error: null, answer: 'thank you' })
  expect(receiver.hooks[0]).toMatchObject({
    url: '/hooks',
    body: '{"a":"ü"}',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'x',
      'user-agent': 'Herald',
      'accept-encoding': 'identity',
    },
  })
})

test('connections are used again, and at most 16 are open', async () => {
  const receiver = await receive((_hook, response) => setTimeout(() => response.end(), 5))
  const post = posterWith()
  await Promise.all(Array.from({ length: 100 }, () => post(receiver.url)))
  expect(receiver.hooks).toHaveLength(100)
  expect(receiver.connections()).toBeLessThanOrEqual(16)
})

test('a connection that the endpoint closed while it was idle is replaced', async () => {
  const receiver = await receive()
  const post = posterWith()
  for (let round = 0; round < 5; round++) {
    expect((await post(receiver.url)).status).toBe(204)
    receiver.closeIdle()
  }
})

describe('an endpoint that misbehaves', () => {
  test('no answer in time', async () => {
    const receiver = await receive(() => {})
    expect(await posterWith({ timeoutMs: 200 })(receiver.url)).toMatchObject({
      kind: 'unanswered',
      status: null,
      error: 'no answer in 0.2 s',
    })
  })

  test('an answer that comes byte by byte does not extend the time', async () => {
    const url = await bytesServer(socket => {
      const drip = () => {
        if (socket.destroyed) return
        socket.write('H')
        setTimeout(drip, 20)
      }
      socket.write('HTTP/1.1 200 OK\r\nx-a: ')
      drip()
    })
    const since = performance.now()
    expect(await posterWith({ timeoutMs: 300 })(url)).toMatchObject({ kind: 'unanswered', error: 'no answer in 0.3 s' })
    expect(performance.now() - since).toBeLessThan(10_000)
  })

  test('redirects are not followed', async () => {
    const other = await receive()
    const receiver = await receive(status(307, { location: other.url }))
    expect(await posterWith()(receiver.url)).toMatchObject({ kind: 'answered', status: 307 })
    expect(other.hooks).toEqual([])
  })

  test('an endless body is cut, and its first kilobyte is kept', async () => {
    let written = 0
    let isClosed = false
    const receiver = await receive((_hook, response) => {
      response.writeHead(200)
      response.on('close', () => {
        isClosed = true
      })
      const pour = () => {
        while (!isClosed && response.write('x'.repeat(4_096))) written += 4_096
        response.once('drain', pour)
      }
      pour()
    })
    const posted = await posterWith()(receiver.url)
    expect(posted).toMatchObject({ kind: 'answered', status: 200, answer: 'x'.repeat(1_024) })
    await expect.poll(() => isClosed).toBe(true)
    // What the buffers of the sockets take, not more.
    expect(written).toBeLessThan(32 * 1024 * 1024)
  })

  test('a body that stalls does not keep its slot', async () => {
    const receiver = await receive((_hook, response) =>
      response.writeHead(200, { 'content-length': '10' }).write('abc'),
    )
    const since = performance.now()
    expect(await posterWith()(receiver.url)).toMatchObject({ kind: 'answered', status: 200, answer: 'abc' })
    expect(performance.now() - since).toBeLessThan(10_000)
  })

  test('a compressed body is not expanded', async () => {
    const receiver = await receive(status(200, { 'content-encoding': 'gzip' }, 'not gzip'))
    expect((await posterWith()(receiver.url)).answer).toBe('not gzip')
  })

  test.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy(), 'connection was closed before the answer'],
    ['close', (socket: Socket) => socket.end(), 'connection was closed before the answer'],
    ['garbage', (socket: Socket) => socket.end('\x00\x01 not HTTP\r\n\r\n'), 'answer is not HTTP'],
    [
      'a large head',
      (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`),
      'head of the answer is too large',
    ],
  ])('%s', async (_name, misbehave, error) => {
    const url = await bytesServer(misbehave)
    expect(await posterWith({ timeoutMs: 3_000 })(url)).toMatchObject({ kind: 'unanswered', status: null, error })
  })

  test('an upgrade', async () => {
    const url = await bytesServer(socket =>
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    )
    expect(await posterWith()(url)).toMatchObject({ kind: 'answered', status: 101 })
  })

  test('connection refused', async () => {
    const receiver = await receive()
    await receiver.stop()
    expect(await posterWith()(receiver.url)).toMatchObject({ kind: 'unreachable', error: 'connection refused' })
  })

  test.each([
    ['120', 120],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 0],
    ['-1', 0],
    ['9999999999', 0],
  ])('Retry-After: %s', async (wait, seconds) => {
    const receiver = await receive(status(429, { 'retry-after': wait }))
    expect(await posterWith()(receiver.url)).toMatchObject({ status: 429, retryAfterSeconds: seconds })
  })
})

describe('addresses that are not allowed', () => {
  test('a literal address', async () => {
    const receiver = await receive()
    const post = posterWith({ allow: [] })
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])
      expect(await post(`http://${host}:${receiver.port}/`)).toMatchObject({
        kind: 'unreachable',
        error: 'address is not allowed',
      })
    expect(receiver.connections()).toBe(0)
  })

  test('a name that leads inside', async () => {
    const receiver = await receive()
    const post = posterWith({ allow: [], resolve: async () => ['127.0.0.1'] })
    expect(await post(`http://example.org:${receiver.port}/`)).toMatchObject({ error: 'address is not allowed' })
    expect(receiver.connections()).toBe(0)
  })

  test('a name that changes after the first connection (DNS rebinding)', async () => {
    const receiver = await receive((_hook, response) => response.writeHead(204, { connection: 'close' }).end())
    const answers = ['127.0.0.1', '127.0.0.2']
    const asked: string[] = []
    const post = posterWith({
      resolve: async host => {
        asked.push(host)
        return [answers.shift() ?? '127.0.0.2']
      },
    })
    const url = `http://example.org:${receiver.port}/`
    expect(await post(url)).toMatchObject({ status: 204 })
    expect(await post(url)).toMatchObject({ kind: 'unreachable', error: 'address is not allowed' })
    expect(receiver.hooks).toHaveLength(1)
    expect(receiver.hooks[0]?.headers.host).toBe(`example.org:${receiver.port}`)
    expect(asked).toEqual(['example.org', 'example.org'])
  })

  test('of several addresses only the allowed ones are used', async () => {
    const receiver = await receive()
    const post = posterWith({ resolve: async () => ['127.0.0.2', '10.0.0.1', '127.0.0.1'] })
    expect(await post(`http://example.org:${receiver.port}/`)).toMatchObject({ status: 204 })
  })

  test('a name that is not known', async () => {
    const post = posterWith({ resolve: async () => [] })
    expect(await post('http://example.invalid/')).toMatchObject({
      kind: 'unreachable',
      error: 'host name is not known',
    })
  })
})

describe('TLS', () => {
  const certificate = selfSigned('hooks.example')

  test.skipIf(!certificate)('a certificate must be valid for the name', async () => {
    if (!certificate) return
    const receiver = await receive(ok, certificate)
    const resolve = async () => ['127.0.0.1']
    const trusting = posterWith({ ca: certificate.certificate, resolve })
    expect(await trusting(`https://hooks.example:${receiver.port}/`)).toMatchObject({ status: 204 })
    expect(await trusting(`https://other.example:${receiver.port}/`)).toMatchObject({
      kind: 'unreachable',
      error: 'TLS certificate is not valid',
    })
    expect(await posterWith({ resolve })(`https://hooks.example:${receiver.port}/`)).toMatchObject({
      kind: 'unreachable',
      error: 'TLS certificate is not valid',
    })
    expect(receiver.hooks).toHaveLength(1)
  })

  test('a server without TLS', async () => {
    const receiver = await receive()
    expect(await posterWith()(receiver.url.replace('http', 'https'))).toMatchObject({
      kind: 'unreachable',
      error: 'TLS connection failed',
    })
  })
})

test('a stop interrupts requests in flight after a moment', async () => {
  const receiver = await receive(() => {})
  const poster = createPoster({ addresses: createAddresses(settings), lastMomentMs: 100 })
  const posting = poster.post('one', { url: new URL(receiver.url), headers: {}, body: '{}' })
  await expect.poll(() => receiver.hooks.length).toBe(1)
  poster.stop()
  expect(poster.isStopping()).toBe(true)
  expect(await posting).toMatchObject({ kind: 'interrupted' })
})
