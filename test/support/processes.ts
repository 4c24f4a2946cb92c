// Herald as real processes on the database of a world, for promises that hold across processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { atEnd } from './ends.ts'

export type Process = {
  pid: number
  /** Empty: an engine. */
  address: string
  /** kill -9: nothing is finished, nothing is logged. Resolves when the process has ended. */
  kill(): Promise<void>
  /** SIGTERM: an orderly stop. */
  stop(): Promise<void>
}

type Started = { child: ChildProcess; gone: Promise<void> }

async function end({ child, gone }: Started, signal: NodeJS.Signals = 'SIGKILL') {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  await gone
}

/** Starts `count` processes, of HTTP unless given; each is ended, by its own id, with the test file. */
export function processes(
  count: number,
  { databaseUrl, secret }: { databaseUrl: string; secret: string },
  { only = 'http', env: more = {} }: { only?: 'http' | 'engine'; env?: Record<string, string> } = {},
): Promise<Process[]> {
  const data = mkdtempSync(join(tmpdir(), 'herald-processes-'))
  atEnd(() => rmSync(data, { recursive: true, force: true }))
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    HERALD_SECRET: secret,
    HERALD_DATA: data,
    HERALD_PORT: '0',
    HERALD_PROCESSES: '1',
    HERALD_LOG_LEVEL: 'error',
    HERALD_DATABASE_CONNECTIONS: '4',
    ...more,
  }
  const args = ['bin/herald.js', 'start', '--only', only, '--json']
  return Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
      const one = { child, gone: new Promise<void>(resolve => child.once('exit', () => resolve())) }
      atEnd(() => end(one))
      return {
        pid: child.pid ?? 0,
        address: await addressOf(child),
        kill: () => end(one),
        stop: () => end(one, 'SIGTERM'),
      }
    }),
  )
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', text => {
      said += text
    })
    child.once('exit', code => reject(new Error(`Herald ended with ${code} while starting:\n${said}`)))
    if (!child.stdout) return reject(new Error('no output to read the address from'))
    createInterface(child.stdout).on('line', line => {
      const [found, address = ''] = /"address":\s*(?:"([^"]+)"|null)/.exec(line) ?? []
      if (found) resolve(address)
    })
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
export type Answer = { status: number; body: any; headers: http.IncomingHttpHeaders }

/** A request without a response by then has failed. */
const SILENT_MS = 30_000

/** Keeps connections alive: thousands of requests at once must not become thousands of sockets. */
export function createClient(connectionsEach = 32) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connectionsEach })
  return (
    address: string,
    method: string,
    path: string,
    { key, body, headers = {} }: { key: string; body?: unknown; headers?: Record<string, string> },
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const request = http.request(address + path, {
        method,
        agent,
        headers: {
          authorization: `ApiKey-v1 ${key}`,
          ...(payload !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
          ...headers,
        },
      })
      request.on('error', reject)
      request.setTimeout(SILENT_MS, () => request.destroy(new Error('no answer')))
      request.on('response', response => {
        let text = ''
        response.setEncoding('utf8').on('data', data => {
          text += data
        })
        response.on('error', reject)
        response.on('aborted', () => reject(new Error('the answer was cut')))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text && JSON.parse(text), headers: response.headers }),
        )
      })
      request.end(payload)
    })
}
