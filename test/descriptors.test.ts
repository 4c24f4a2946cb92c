// Callers beyond the limit of open files are refused, with a log line and a metric, while all others are served.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, expect, test, vi } from 'vitest'
import { mostConnections } from '../src/telemetry/descriptors.ts'
import { programs } from './support/program.ts'

vi.setConfig({ testTimeout: 120_000 })

const LIMIT = 300
const { newDatabase, herald } = programs()
const ends: (() => void)[] = []
afterAll(() => {
  for (const end of ends) end()
})

test('file descriptors are reserved for the database, the providers and files', () => {
  expect([null, 64, 256, 1_024, 524_288].map(mostConnections)).toEqual([null, 16, 128, 768, 523_264])
})

test.skipIf(!existsSync('/proc/self/limits')).for([1, 2])(
  'under ulimit -n, %i processes: refused callers are logged and counted, and others are served',
  async processes => {
    const { name: _, ...env } = await newDatabase()
    const sample = JSON.parse((await herald(['sample', '--json'], env)).out)
    const child = spawn('sh', ['-c', `ulimit -n ${LIMIT}; exec ${process.execPath} bin/herald.js start`], {
      env: {
        PATH: process.env.PATH ?? '',
        HERALD_PORT: '0',
        HERALD_LOG_LEVEL: 'warn',
        HERALD_PROCESSES: String(processes),
        HERALD_KEEP_ALIVE_SECONDS: '3600',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    ends.push(() => child.kill('SIGKILL'))
    let out = ''
    let err = ''
    child.stdout.on('data', text => {
      out += String(text)
    })
    child.stderr.on('data', text => {
      err += String(text)
    })
    await vi.waitFor(() => expect(out).toMatch(/Herald listens on/), { timeout: 60_000, interval: 20 })
    const port = Number(/Herald listens on \S+:(\d+)/.exec(out)?.[1])

    // One caller was connected before the others.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    ends.push(() => agent.destroy())
    let closed = 0
    const counted = new WeakSet<Socket>()
    const count = (socket: Socket) => {
      if (counted.has(socket)) return
      counted.add(socket)
      socket.once('close', () => closed++)
    }
    const ask = (method: string, path: string, body?: unknown) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const headers = { authorization: `ApiKey-v1 ${sample.keys.test}`, 'content-type': 'application/json' }
        const asked = request({ agent, host: '127.0.0.1', port, method, path, headers }, reply => {
          let text = ''
          reply.on('data', chunk => {
            text += String(chunk)
          })
          reply.once('end', () => resolve({ status: reply.statusCode, text }))
        })
        asked.once('socket', count)
        asked.once('error', reject)
        asked.end(body === undefined ? undefined : JSON.stringify(body))
      })
    expect((await ask('GET', '/health/live')).status).toBe(200)

    // Each is answered and then kept open, or refused, before the next ones: a supervisor has the same limit for connections that it
    // has not passed on yet.
    const sockets: Socket[] = []
    ends.push(() => {
      for (const socket of sockets) socket.destroy()
    })
    const answeredOrRefused = () =>
      new Promise<void>(resolve => {
        const socket = connect(port, '127.0.0.1')
        sockets.push(socket)
        count(socket)
        socket.on('error', () => {})
        socket.once('data', () => resolve())
        socket.once('close', () => resolve())
        socket.write('GET /health/live HTTP/1.1\r\nHost: herald.test\r\n\r\n')
      })
    const all = processes * (LIMIT + 100)
    while (sockets.length < all) await Promise.all(Array.from({ length: 20 }, answeredOrRefused))
    const most = mostConnections(LIMIT) ?? 0
    // For each connection beyond the limit one is closed: first that of the first caller, which has been idle for the longest.
    await vi.waitFor(() => expect(closed).toBe(all + 1 - processes * most), { timeout: 30_000, interval: 20 })

    const lines = await vi.waitFor(
      () => {
        const lines = err.split('\n').filter(text => text.includes('connections were refused: too many are open'))
        const logged = lines.map(text => JSON.parse(text))
        expect(new Set(logged.map(line => line.pid)).size).toBe(processes)
        return logged
      },
      { timeout: 10_000, interval: 20 },
    )
    for (const line of lines) expect(line).toMatchObject({ level: 50, most })
    const { text } = await ask('GET', '/metrics')
    const refused = Number(/^herald_connections_refused_total (\d+)$/m.exec(text)?.[1])
    await vi.waitFor(() => expect(closed).toBe(refused), { timeout: 30_000, interval: 20 })
    const mail = {
      template_id: sample.templates.email.id,
      email_address: 'ada@example.org',
      personalisation: { name: 'Ada' },
    }
    expect((await ask('POST', '/v2/notifications/email', mail)).status).toBe(201)
  },
)
