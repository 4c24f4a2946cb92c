// The load generator, a process of its own. It shares the machine with what it measures, so it is cheap: prepared requests, raw
// HTTP over kept connections, and only status and length of an answer are read. Closed loop by default: each connection sends its
// next request as soon as it is answered. With `rate` it is an open loop: requests start at scheduled times and are timed from
// then, so that a slow answer is not hidden by sending less.
import { once } from 'node:events'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { keepChild, serveParent } from './child.ts'
import { now } from './clock.ts'

export type Job = {
  /** Connections use them in turn. */
  addresses: string[]
  /** Whole requests as bytes, used in turn. */
  requests: string[]
  connections: number
  /** Ends after this time; with `once`, when each request has been answered once. */
  seconds: number
  once?: boolean
  /** Seconds at the start that are not measured. */
  warmUp: number
  rate?: number
}

export type Outcome = {
  /** The start of the first request on the clock that all processes share (`now`): a new process needs time to start. */
  began: number
  perSecond: number
  /** All answers, including the warm-up. */
  answered: number
  /** Answers by status, including the warm-up. */
  statuses: Record<string, number>
  /** Milliseconds. */
  p50: number
  p95: number
  p99: number
  /** CPU time of the generator itself, per answer. */
  clientMicros: number
}

/** One process for all loads: starting one takes half a second. */
export const load = keepChild<Job, Outcome>(import.meta.url)

/** A request with its HTTP request line and headers. */
export function request(method: string, path: string, headers: Record<string, string>, body?: string): string {
  const all = {
    host: 'localhost',
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** The quantile of the values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

type Line = { ask(request: Buffer, done: (status: number) => void): void; end(): void }

async function run({ addresses, requests, connections, seconds, once, warmUp, rate }: Job): Promise<Outcome> {
  const bytes = requests.map(text => Buffer.from(text))
  const lines = await Promise.all(
    Array.from({ length: connections }, (_, n) => connect(new URL(addresses[n % addresses.length] ?? ''))),
  )
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const began = now()
  const from = performance.now() + warmUp * 1000
  const until = once ? Number.POSITIVE_INFINITY : from + seconds * 1000
  const cpu = process.cpuUsage()
  let asked = 0
  let answered = 0

  const isOver = () => performance.now() >= until || (once && asked >= bytes.length)
  const ask = (line: Line, startedAt: number, then: () => void) =>
    line.ask(bytes[asked++ % bytes.length] as Buffer, status => {
      const at = performance.now()
      answered++
      statuses[status] = (statuses[status] ?? 0) + 1
      if (at >= from && at < until) latencies.push(at - startedAt)
      then()
    })

  await (rate === undefined ? closed(lines, ask, isOver) : paced(lines, ask, isOver, rate, addresses.length > 1))
  const used = process.cpuUsage(cpu)
  const measured = (Math.min(performance.now(), until) - from) / 1000
  for (const line of lines) line.end()
  return {
    began,
    perSecond: latencies.length / measured,
    answered,
    statuses,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    clientMicros: (used.user + used.system) / answered,
  }
}

type Ask = (line: Line, startedAt: number, then: () => void) => void

async function closed(lines: Line[], ask: Ask, isOver: () => boolean | undefined) {
  await Promise.all(
    lines.map(
      line =>
        new Promise<void>(resolve => {
          const next = () => (isOver() ? resolve() : ask(line, performance.now(), next))
          next()
        }),
    ),
  )
}

/** `inTurn`: the connection that was idle longest is next, so that all addresses get the same; else the one used last. */
async function paced(lines: Line[], ask: Ask, isOver: () => boolean | undefined, rate: number, inTurn: boolean) {
  const free = [...lines]
  const waiting: number[] = []
  const pacer = await startPacer(rate)
  const begin = performance.now() + LEAD_MS
  const serve = (line: Line, startedAt: number) =>
    ask(line, startedAt, () => {
      const other = waiting.shift()
      if (other === undefined) free.push(line)
      else serve(line, other)
    })
  let appointed = 0
  // A late start is counted as latency.
  await pacer.run(() => {
    for (; !isOver() && begin + (appointed * 1000) / rate <= performance.now(); appointed++) {
      const startedAt = begin + (appointed * 1000) / rate
      const line = inTurn ? free.shift() : free.pop()
      if (line) serve(line, startedAt)
      else waiting.push(startedAt)
    }
    return !isOver()
  })
  waiting.length = 0
  while (free.length < lines.length) await new Promise(resume => setTimeout(resume, 1))
}

// Sleeping between requests leaves the CPU to the measured process. A timer of Node sleeps for whole milliseconds, so that requests were
// half a millisecond late and came in pairs; a thread that waits for a futex is late by less than a tenth of it.
const PACER = `
const { parentPort, workerData: { ended, everyMs } } = require('node:worker_threads')
const now = () => Number(process.hrtime.bigint()) / 1e6
parentPort.once('message', begin => {
  for (let next = begin; Atomics.wait(ended, 0, 0, Math.max(0, next - now())) === 'timed-out'; ) {
    next = begin + (Math.floor((now() - begin) / everyMs) + 1) * everyMs
    parentPort.postMessage('due')
  }
})
parentPort.postMessage('ready')`

/** From the start of the thread's work to its first request. */
const LEAD_MS = 20

type Pacer = { run(due: () => boolean): Promise<void> }

/** Calls `due` at the given rate, from LEAD_MS on, until it returns false. */
async function startPacer(rate: number): Promise<Pacer> {
  const ended = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(PACER, { eval: true, workerData: { ended, everyMs: 1000 / rate } })
  const gone = once(thread, 'exit')
  await once(thread, 'message')
  return {
    async run(due) {
      thread.on('message', () => {
        if (due()) return
        Atomics.store(ended, 0, 1)
        Atomics.notify(ended, 0)
        thread.removeAllListeners('message')
      })
      thread.postMessage(now() + LEAD_MS)
      await gone
    },
  }
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('\r\ncontent-length: ')
/** The largest answer: a page of 250. */
const LARGEST = 4 * 1024 * 1024

function connect({ hostname, port }: URL): Promise<Line> {
  return new Promise((resolve, reject) => {
    let answer: ((status: number) => void) | undefined
    let held = 0
    let buffer = Buffer.allocUnsafe(64 * 1024)
    // All input is appended; one request is in flight at a time, so an answer always begins at the start.
    const read = (chunk: Uint8Array, length: number) => {
      while (held + length > buffer.length && buffer.length < LARGEST) {
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, held)
        buffer = larger
      }
      buffer.set(chunk.subarray(0, length), held)
      held += length
      const head = buffer.subarray(0, held).indexOf(HEAD_END)
      if (head === -1) return
      const at = buffer.subarray(0, head).indexOf(LENGTH)
      if (at === -1) throw new Error('an answer without content-length')
      if (held < head + 4 + numberAt(buffer, at + LENGTH.length)) return
      held = 0
      const done = answer
      answer = undefined
      done?.(numberAt(buffer, 9))
    }
    const socket = net.connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      // One buffer for all reads, instead of a new one and a stream event for each.
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback: (length, chunk) => {
          read(chunk, length)
          return true
        },
      },
    })
    socket.once('connect', () =>
      resolve({
        ask(request, done) {
          answer = done
          socket.write(request)
        },
        end: () => socket.destroy(),
      }),
    )
    socket.on('error', reject)
    socket.on('close', () => {
      if (answer) throw new Error('the connection was closed')
    })
  })
}

function numberAt(buffer: Buffer, at: number): number {
  let value = 0
  for (; (buffer[at] ?? 0) >= 48 && (buffer[at] ?? 0) <= 57; at++) value = value * 10 + (buffer[at] ?? 0) - 48
  return value
}

serveParent(import.meta.url, run)
