// HERALD_HEALTH_PORT: probes are answered by a thread of their own, whatever the process does.
import { once } from 'node:events'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { freePort } from './support/port.ts'
import { programs } from './support/program.ts'
import { relayed } from './support/relayed.ts'
import { call, world } from './support/world.ts'

const { newDatabase, start } = programs()
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const at = (port: number | null) => `http://127.0.0.1:${port}`
const probe = (port: number | null, path = '/health/ready') => call(at(port), 'GET', path)
const status = (port: number | null, path?: string) =>
  probe(port, path).then(reply => [reply.status, reply.body.status])

test('it says what the public port says, and nothing else is there', async () => {
  const here = await world({ HERALD_HEALTH_PORT: '0' })
  const { healthPort } = here.running
  for (const path of ['/health/live', '/health/ready']) {
    const [one, other] = [await probe(healthPort, path), await here.call('GET', path)]
    expect([one.status, one.body]).toEqual([200, other.body])
    expect(one.headers.get('content-type')).toBe('application/json')
  }
  for (const path of ['/', '/metrics', '/health', '/console', '/v2/templates', '/health/live?a=1'])
    expect((await probe(healthPort, path)).status, path).toBe(404)
  expect((await call(at(healthPort), 'POST', '/health/live', { body: {} })).status).toBe(404)
})

test('without the setting there is no such port, and a port in use is refused', async () => {
  expect((await world()).running.healthPort).toBe(null)
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  ends.push(() => taken.close())
  const port = String((taken.address() as net.AddressInfo).port)
  await expect(world({ HERALD_HEALTH_PORT: port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

/** Asks in a thread, because the event loop of the test is that of Herald. Sets the flag when all questions have their answer. */
const ASKER = `
  const { workerData: { address, questions, flag }, parentPort } = require('node:worker_threads')
  const ask = async ([path, wanted]) => {
    for (;;) {
      const { status } = await fetch(address + path)
      if (status === wanted) return status
      await new Promise(resume => setTimeout(resume, 100))
    }
  }
  ;(async () => {
    for (const question of questions) await ask(question)
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
  })()`

/** Blocks the event loop of Herald until all questions are answered as wanted. */
async function blockedUntil(port: number | null, questions: readonly (readonly [path: string, wanted: number])[]) {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const asker = new Worker(ASKER, { eval: true, workerData: { address: at(port), questions, flag } })
  ends.push(() => asker.terminate())
  await once(asker, 'online')
  return Atomics.wait(flag, 0, 0, 60_000)
}

test('probes are answered while the event loop of the process stands still', async () => {
  const { running } = await world({ HERALD_HEALTH_PORT: '0' })
  const questions = [
    ['/health/ready', 200],
    ['/health/live', 200],
  ] as const
  expect(await blockedUntil(running.healthPort, questions)).not.toBe('timed-out')
}, 120_000)

test('a process that does not respond any more is not ready, and is ready when it responds again', async () => {
  const { running } = await world({ HERALD_HEALTH_PORT: '0' })
  const questions = [
    ['/health/ready', 503],
    ['/health/live', 200],
  ] as const
  expect(await blockedUntil(running.healthPort, questions)).not.toBe('timed-out')
  await expect.poll(() => status(running.healthPort), { timeout: 30_000 }).toEqual([200, 'ok'])
}, 120_000)

test('without a database and during a stop it is not ready, and still alive', async () => {
  const { relay, url } = await relayed()
  const urlOf = (database: string) => url.replace(/\/postgres$/, `/${database}`)
  const { running } = await world({ HERALD_HEALTH_PORT: '0', HERALD_NOTICE_SECONDS: '3' }, { urlOf })
  await relay.stop()
  await expect.poll(() => status(running.healthPort), { timeout: 60_000 }).toEqual([503, 'waiting for the database'])
  expect(await status(running.healthPort, '/health/live')).toEqual([200, 'ok'])
  const stopped = running.stop()
  const seen = new Set<string>()
  const watch = async () => {
    for (;;) seen.add(String((await status(running.healthPort))[1]))
  }
  await watch().catch(() => {}) // until the port is closed
  await stopped
  expect(seen).toContain('stopping')
}, 120_000)

test('silent connections do not keep probes out', async () => {
  const { running } = await world({ HERALD_HEALTH_PORT: '0' })
  const silent = Array.from({ length: 200 }, () =>
    net.connect(running.healthPort ?? 0, '127.0.0.1').on('error', () => {}),
  )
  ends.push(() => silent.forEach(socket => void socket.destroy()))
  await Promise.all(silent.map(socket => (socket.connecting ? once(socket, 'connect') : null)))
  expect((await probe(running.healthPort)).status).toBe(200)
})

test('several processes have one port for probes, and are ready as long as one of them is', async () => {
  const { name: _, ...settings } = await newDatabase()
  const port = await freePort()
  const env = { ...settings, HERALD_CAPTURE: '1', HERALD_PROCESSES: '2', HERALD_HEALTH_PORT: String(port) }
  const program = await start(env)
  await expect.poll(() => status(port), { timeout: 30_000 }).toEqual([200, 'ok'])
  expect((await probe(port)).body).toEqual((await call(program.address, 'GET', '/health/ready')).body)
  expect(await status(port, '/health/live')).toEqual([200, 'ok'])
  await program.end('SIGTERM')
  await expect(probe(port)).rejects.toThrow()
}, 120_000)
