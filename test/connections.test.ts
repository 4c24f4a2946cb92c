// At the limit of connections: silent ones are closed first, then idle ones, and callers that send requests are served.
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { boundConnections } from '../src/telemetry/descriptors.ts'
import { createLog } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'

const MOST = 4
const REQUEST = 'GET / HTTP/1.1\r\nHost: herald\r\n\r\n'

type Caller = { socket: Socket; text(): string; isClosed(): boolean }
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const answer: RequestListener = (_request, response) => response.end('served')

async function listen(handle: RequestListener = answer, most = MOST) {
  const server = createServer(handle)
  const metrics = createMetrics([])
  const servers = [server, createServer(handle)]
  boundConnections(servers, { metrics, log: createLog('silent', 'tests') }, most)
  const [here, beside] = await Promise.all(servers.map(started))
  const refused = async () => (await metrics.refusedConnections.get()).values[0]?.value
  return { ...(here as Started), beside: beside as Started, refused }
}

type Started = { server: Server; port: number }

async function started(server: Server): Promise<Started> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Resolves when the server has accepted the connection. */
async function call({ server, port }: Started, bytes = ''): Promise<Caller> {
  const accepted = new Promise(resolve => server.once('connection', resolve))
  const socket = connect(port, '127.0.0.1')
  ends.push(() => socket.destroy())
  let text = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.once('close', () => {
    isClosed = true
  })
  socket.setEncoding('utf8').on('data', data => {
    text += data
  })
  if (bytes) socket.write(bytes)
  await accepted
  return { socket, text: () => text, isClosed: () => isClosed }
}

const isServed = ({ text }: Caller) => vi.waitFor(() => expect(text()).toMatch(/served$/))
const areClosed = (...callers: Caller[]) =>
  vi.waitFor(() => expect(callers.map(({ isClosed }) => isClosed())).toEqual(callers.map(() => true)))

test('a caller is served while silent connections fill the limit: the oldest silent one is closed', async () => {
  const here = await listen()
  const silent = [await call(here), await call(here), await call(here, 'GET / HTTP/1.1\r\nHo'), await call(here)]
  for (let count = 1; count <= 3; count++) {
    const caller = await call(here, REQUEST)
    await isServed(caller)
    await areClosed(...silent.slice(0, count))
    expect(silent.slice(count).map(({ isClosed }) => isClosed())).toEqual(silent.slice(count).map(() => false))
  }
  expect(await here.refused()).toBe(3)
})

test('idle connections are closed only when no silent one is left, the longest idle first', async () => {
  const here = await listen()
  const first = await call(here, REQUEST)
  await isServed(first)
  const second = await call(here, REQUEST)
  await isServed(second)
  const silent = await call(here)
  await isServed(await call(here, REQUEST))
  // Used again: the second has now been idle for longer.
  first.socket.write(REQUEST)
  await vi.waitFor(() => expect(first.text().match(/served/g)).toHaveLength(2))
  await isServed(await call(here, REQUEST))
  await areClosed(silent)
  await isServed(await call(here, REQUEST))
  await areClosed(second)
  expect(first.isClosed()).toBe(false)
})

test('requests in progress are never ended: when all are busy, the new connection is answered with 503', async () => {
  const waiting: (() => void)[] = []
  const here = await listen((_request, response) => {
    waiting.push(() => response.end('served'))
  })
  // One of them has sent two requests, and has the first response.
  const busy = await Promise.all([REQUEST, REQUEST, REQUEST].map(bytes => call(here, bytes)))
  const pipelined = await call(here, REQUEST + REQUEST)
  await vi.waitFor(() => expect(waiting).toHaveLength(MOST + 1))
  const late = await call(here, REQUEST)
  await areClosed(late)
  const [head = '', body = ''] = late.text().split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 503 /)
  expect(JSON.parse(body)).toMatchObject({ status_code: 503 })
  expect(waiting, 'its request was not taken').toHaveLength(MOST + 1)
  for (const go of waiting) go()
  for (const caller of busy) await isServed(caller)
  await vi.waitFor(() => expect(pipelined.text().match(/served/g)).toHaveLength(2))
  expect(await here.refused()).toBe(1)
})

test('bursts of silent connections: every caller that sends a request is served', async () => {
  const here = await listen()
  for (let round = 1; round <= 20; round++) {
    for (let count = 0; count < 3 * MOST; count++) await call(here)
    await isServed(await call(here, REQUEST))
  }
})

test('the limit holds for both ports of a process together: a silent connection of one gives way to a caller of the other', async () => {
  const here = await listen()
  const silent = [await call(here), await call(here.beside), await call(here), await call(here)]
  await isServed(await call(here.beside, REQUEST))
  await areClosed(...silent.slice(0, 1))
  await isServed(await call(here, REQUEST))
  await areClosed(...silent.slice(0, 2))
  expect(await here.refused()).toBe(2)
})
