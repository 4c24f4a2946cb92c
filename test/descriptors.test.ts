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
        asked.once('error', reject)
        asked.end(body === undefined ? undefined : JSON.stringify(body))
      })
    expect((await ask('GET', '/health/live')).status).toBe(200)

    let closed = 0
    const sockets: Socket[] = []
    for (let count = 0; count < processes * (LIMIT + 100); count++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.on('close', () => closed++)
      sockets.push(socket)
      // Not all at once: a supervisor has the same limit for connections that it has not passed on yet.
      if (count % 20 === 0) await new Promise(resume => setTimeout(resume, 20))
    }
    ends.push(() => {
      for (const socket of sockets) socket.destroy()
    })
    const most = mostConnections(LIMIT) ?? 0
    await vi.waitFor(() => expect(closed).toBe(sockets.length - (processes * most - 1)), {
      timeout: 30_000,
      interval: 20,
    })

    const line = await vi.waitFor(
      () => {
        const lines = err.split('\n').filter(text => text.includes('connections were refused: too many are open'))
        expect(lines).toHaveLength(processes)
        return JSON.parse(lines[0] ?? '')
      },
      { timeout: 10_000, interval: 20 },
    )
    expect(line).toMatchObject({ level: 50, most })
    const { text } = await ask('GET', '/metrics')
    expect(text).toMatch(new RegExp(`^herald_connections_refused_total ${closed}$`, 'm'))
    const mail = {
      template_id: sample.templates.email.id,
      email_address: 'ada@example.org',
      personalisation: { name: 'Ada' },
    }
    expect((await ask('POST', '/v2/notifications/email', mail)).status).toBe(201)
  },
)
