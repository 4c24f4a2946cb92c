// C1: a hundred parallel e-mails with 6 MB of files, accepted, scanned, stored and handed to a mail server; how much memory the
// whole program takes at its peak, and how long others wait meanwhile.
// npm run bench -- files [--messages 100] [--budget 128]
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { SMTPServer } from 'smtp-server'
import { change } from '../src/services/change.ts'
import { createHouse, type House } from './support/house.ts'
import { figure, median, print, table } from './support/report.ts'

const BOUND_MB = 600
const FILE_BYTES = 6_290_000

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { messages: { type: 'string', default: '100' }, budget: { type: 'string', default: '128' } },
})
const messages = Number(values.messages)
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const house = await createHouse()
const sink = await createSink()
try {
  await change(house.store, house.service, { may_send_files: true })
  await bench()
} finally {
  await house.stop()
  await sink.stop()
}

async function bench() {
  const child = spawn(process.execPath, ['bin/herald.js', 'start', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH ?? '',
      HERALD_DATA: house.store.config.dataFolder,
      HERALD_PORT: '0',
      HERALD_EMAIL_PROVIDERS: 'smtp',
      HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      HERALD_BODY_BUDGET: values.budget,
    },
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  try {
    const address = await addressOf(child)
    const before = peakMegabytes(child)
    const { statuses, seconds, waits } = await load(address)
    const accepted = peakMegabytes(child)
    const started = performance.now()
    await sink.arrived(messages)
    const drained = (performance.now() - started) / 1000
    const peak = peakMegabytes(child)
    table(
      [`${messages} × ${FILE_BYTES} bytes`, 'value'],
      [
        ['answers', JSON.stringify(statuses)],
        ['seconds until all were accepted', seconds],
        ['further seconds until all were handed over', drained],
        ['peak MB before', before],
        ['peak MB when all were accepted', accepted],
        ['peak MB at the end', peak],
        ['small e-mails meanwhile, p50 ms', median(waits)],
        ['small e-mails meanwhile, max ms', Math.max(...waits)],
      ],
    )
    print([
      figure('files_peak_memory', peak, 'MB', BOUND_MB),
      figure('files_accepted', messages / seconds, '/s', messages / seconds),
      figure('files_meanwhile_p50', median(waits), 'ms', 250),
    ])
    if (statuses['201'] !== messages || peak > BOUND_MB) process.exitCode = 1
  } finally {
    child.kill('SIGTERM')
    await gone
  }
}

/** All at once, and beside them small messages one after the other. */
async function load(address: string) {
  const large = bodyOf(house, randomBytes(FILE_BYTES).toString('base64'))
  const statuses: Record<string, number> = {}
  const waits: number[] = []
  const begin = performance.now()
  let busy = true
  const small = (async () => {
    while (busy) {
      const start = performance.now()
      await post(address, bodyOf(house, null))
      waits.push(performance.now() - start)
      await new Promise(resume => setTimeout(resume, 50))
    }
  })()
  await Promise.all(
    Array.from({ length: messages }, async () => {
      const status = await post(address, large)
      statuses[status] = (statuses[status] ?? 0) + 1
    }),
  )
  const seconds = (performance.now() - begin) / 1000
  busy = false
  await small
  return { statuses, seconds, waits }
}

function bodyOf({ templates }: House, file: string | null): Buffer {
  return Buffer.from(
    JSON.stringify({
      email_address: 'person@example.org',
      template_id: templates.email,
      personalisation: {
        name: 'Ada',
        date: '15 June',
        reference: 'A-1',
        ...(file && { document: { file, filename: 'letter.txt', sending_method: 'attach' } }),
      },
    }),
  )
}

function post(address: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${address}/v2/notifications/email`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `ApiKey-v1 ${house.key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    })
    request.on('error', reject)
    request.on('response', response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    request.end(body)
  })
}

/** The most memory the process has had so far, as the kernel counts it. */
function peakMegabytes({ pid }: ChildProcess): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1000
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`Herald ended with ${code} while starting`)))
    if (!child.stdout) return reject(new Error('no output to read the address from'))
    createInterface(child.stdout).on('line', line => {
      const address = /"address":\s*"([^"]+)"/.exec(line)?.[1]
      if (address) resolve(address)
    })
  })
}

/** A mail server that counts large messages and forgets them. */
async function createSink() {
  let arrived = 0
  let told = () => {}
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, _session, done) {
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      stream.on('end', () => {
        if (bytes > FILE_BYTES) arrived += 1
        told()
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    arrived: (count: number) =>
      new Promise<void>(resolve => {
        told = () => {
          if (arrived >= count) resolve()
        }
        told()
      }),
    stop: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}
