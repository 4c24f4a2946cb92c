// Mail servers to deliver to, each in a process of its own: smtp-sink of Postfix, which costs the least and only counts, and a
// small one of ours, which also records arrival times. Where smtp-sink is not available, ours does both, and says so.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endWithUs, forkModule } from './child.ts'
import { now } from './clock.ts'
import { until } from './wait.ts'

export type Mail = {
  port: number
  name: string
  /** Resets the count. */
  reset(): void
  /** The time (`now`) at which this many messages had arrived. */
  received(count: number): Promise<number>
  stop(): void
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const POSTFIX = join(ROOT, 'node_modules/.cache/postfix')
const LIBRARIES = { ...process.env, LD_LIBRARY_PATH: join(POSTFIX, 'usr/lib/postfix') }
const TELL_MS = 5
const LOOPBACK = '127.0.0.1'

function toolOf(name: 'smtp-sink' | 'smtp-source'): string | undefined {
  return ['/usr/sbin', join(POSTFIX, 'usr/sbin')].map(folder => join(folder, name)).find(existsSync)
}

export async function startMail(host = LOOPBACK): Promise<Mail> {
  const tool = findTool()
  if (tool) return startPostfixSink(tool, host)
  console.log('smtp-sink is not here (scripts/install-bench-tools.sh): a mail server of our own stands in for it.')
  return startOwnMail(host)
}

function findTool(): string | undefined {
  if (!toolOf('smtp-sink')) spawnSync('bash', ['scripts/install-bench-tools.sh'], { cwd: ROOT, stdio: 'ignore' })
  return toolOf('smtp-sink')
}

/** It prints its counters repeatedly; the last line counts. */
async function startPostfixSink(tool: string, host: string): Promise<Mail> {
  const port = await freePort(host)
  const folder = mkdtempSync(join(tmpdir(), 'herald-sink-'))
  const counters = openSync(join(folder, 'counters'), 'w+')
  rmSync(folder, { recursive: true }) // the open file stays readable
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(tool, [...user, '-c', `${host}:${port}`, '1000'], {
    env: LIBRARIES,
    stdio: ['ignore', counters, 'ignore'],
  })
  endWithUs(child)
  await until('smtp-sink', () => answers(host, port))
  const tail = Buffer.alloc(200)
  const count = () => {
    const { size } = fstatSync(counters)
    const length = readSync(counters, tail, 0, tail.length, Math.max(0, size - tail.length))
    return Number([...tail.toString('latin1', 0, length).matchAll(/mesg=(\d+)\r/g)].at(-1)?.[1] ?? 0)
  }
  let before = 0
  return {
    port,
    name: 'smtp-sink',
    reset: () => (before = count()),
    async received(wanted) {
      await until(`${wanted} messages at smtp-sink`, () => count() - before >= wanted)
      return now()
    },
    stop() {
      child.kill()
      closeSync(counters)
    },
  }
}

const freePort = (host: string) =>
  new Promise<number>(resolve => {
    const server = net.createServer().listen(0, host, () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })

function answers(host: string, port: number): Promise<boolean> {
  const socket = net.connect(port, host)
  return new Promise<boolean>(resolve => {
    socket.once('data', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

export type OwnMail = Mail & {
  /** The arrival times of messages to code.<n>@…, by n. */
  codes: Map<string, number>
}

/** `chunking`: it offers CHUNKING (RFC 3030), as Postfix and Exim do, and smtp-sink does not. */
export function startOwnMail(host = LOOPBACK, { chunking = false } = {}): Promise<OwnMail> {
  const child = forkModule(import.meta.url, [host, chunking ? 'chunking' : ''])
  const codes = new Map<string, number>()
  let count = 0
  let before = 0
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the mail server ended with ${code}`)))
    child.on('message', (result: { port?: number; messages?: number; codes?: [string, number][] }) => {
      count = result.messages ?? count
      for (const [code, at] of result.codes ?? []) codes.set(code, at)
      if (result.port === undefined) return
      resolve({
        port: result.port,
        name: 'a mail server of our own',
        codes,
        reset: () => (before = count),
        async received(wanted) {
          await until(`${wanted} messages at the mail server`, () => count - before >= wanted)
          return now()
        },
        stop: () => child.kill(),
      })
    })
  })
}

// A minimal SMTP server (RFC 5321, with PIPELINING of RFC 2920 and CHUNKING of RFC 3030).
function serve(host: string, chunking: boolean) {
  let messages = 0
  let codes: [string, number][] = []
  let result = 0
  setInterval(() => {
    if (messages === result) return
    process.send?.({ messages, codes })
    result = messages
    codes = []
  }, TELL_MS)
  process.on('disconnect', () => process.exit())
  const server = net.createServer(socket => {
    let rest: Buffer = Buffer.alloc(0)
    let inData = false
    /** Octets that are still to come after BDAT; null: none. */
    let chunk: number | null = null
    let code: string | undefined
    const taken = () => {
      messages++
      if (code) codes.push([code, now()])
      code = undefined
    }
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.write('220 sink ESMTP\r\n')
    socket.on('data', data => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data])
      let answer = ''
      for (;;) {
        if (chunk !== null) {
          if (rest.length < chunk) break
          rest = rest.subarray(chunk)
          chunk = null
          taken()
          answer += '250 OK\r\n'
        }
        const end = rest.indexOf(inData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) break
        const line = inData ? '' : rest.toString('latin1', 0, end)
        rest = rest.subarray(end + (inData ? 5 : 2))
        if (inData) {
          inData = false
          taken()
          answer += '250 OK\r\n'
        } else if (line.startsWith('RCPT')) {
          code = /<code\.([^@]+)@/.exec(line)?.[1]
          answer += '250 OK\r\n'
        } else if (line === 'DATA') {
          inData = true
          answer += '354 go on\r\n'
        } else if (line.startsWith('BDAT ')) chunk = Number.parseInt(line.slice(5), 10)
        else if (line.startsWith('EHLO'))
          answer += `250-sink\r\n250-PIPELINING\r\n${chunking ? '250-CHUNKING\r\n' : ''}250 8BITMIME\r\n`
        else answer += line === 'QUIT' ? '221 bye\r\n' : '250 OK\r\n'
      }
      if (answer !== '') socket.write(answer)
    })
  })
  server.listen(0, host, () => process.send?.({ port: (server.address() as net.AddressInfo).port }))
}

const SENDERS = 16
/** About the size of the bench's e-mail with its headers, text and HTML. */
const LETTER_BYTES = 4_000

export const source = () => (toolOf('smtp-source') ? 'smtp-source' : 'a bare client of our own')

/**
 * Messages per second from smtp-source, Postfix's own load generator, to this mail server; without it, from a minimal client of
 * ours.
 */
export async function mailYardstick(mail: Mail, messages: number): Promise<number> {
  const tool = toolOf('smtp-source')
  mail.reset()
  const from = now()
  if (tool) {
    const args = ['-d', '-s', SENDERS, '-m', messages, '-l', LETTER_BYTES, `127.0.0.1:${mail.port}`]
    const child = spawn(tool, args.map(String), { env: LIBRARIES, stdio: ['ignore', 'ignore', 'inherit'] })
    await new Promise(resolve => child.once('exit', resolve))
  } else await Promise.all(Array.from({ length: SENDERS }, () => sendBare(mail.port, Math.ceil(messages / SENDERS))))
  return (messages / ((await mail.received(messages)) - from)) * 1000
}

/** Envelope and message in turn; every reply except those to the four commands of a message ends one. */
function sendBare(port: number, messages: number): Promise<void> {
  const letter = `${'x'.repeat(70)}\r\n`.repeat(LETTER_BYTES / 72)
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1').setEncoding('latin1')
    let left = messages
    socket.on('data', text => {
      if (String(text).includes('354')) socket.write(`${letter}.\r\n`)
      else if (left-- > 0) socket.write('MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n')
      else socket.end('QUIT\r\n', resolve)
    })
    socket.on('error', reject)
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === '--child')
  serve(process.argv[3] ?? LOOPBACK, process.argv[4] === 'chunking')
