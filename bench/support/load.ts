// The load generator, a process of its own: raw HTTP over kept connections, so that it takes as little of the machine as it can.
// Closed loop by default: each connection asks again as soon as it is answered. With `rate`, requests start at their appointed
// times whatever happens, and are timed from then: a slow answer is not hidden by asking less.
import { fork } from 'node:child_process'
import net from 'node:net'
import { fileURLToPath } from 'node:url'

export type Job = {
  address: string
  /** Whole requests as they go over the line, used in turn. */
  requests: string[]
  connections: number
  seconds: number
  /** Seconds at the start that are not measured. */
  warmUp: number
  rate?: number
}

export type Outcome = {
  perSecond: number
  count: number
  /** Answers by status. */
  statuses: Record<string, number>
  /** Milliseconds. */
  p50: number
  p95: number
  p99: number
}

export function load(job: Job): Promise<Outcome> {
  const child = fork(fileURLToPath(import.meta.url), ['--child'], { execArgv: ['--import', 'tsx'] })
  return new Promise((resolve, reject) => {
    child.once('message', outcome => resolve(outcome as Outcome))
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`the load generator ended with ${code}`)))
    child.send(job)
  })
}

/** A request with everything that HTTP needs around it. */
export function request(method: string, path: string, headers: Record<string, string>, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = {
    host: 'localhost',
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

async function run({ address, requests, connections, seconds, warmUp, rate }: Job): Promise<Outcome> {
  const { hostname, port } = new URL(address)
  const bytes = requests.map(text => Buffer.from(text))
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const from = performance.now() + warmUp * 1000
  const until = from + seconds * 1000
  let next = 0
  const take = () => bytes[next++ % bytes.length] as Buffer
  const note = (status: number, startedAt: number) => {
    const now = performance.now()
    if (now < from || now > until) return
    latencies.push(now - startedAt)
    statuses[status] = (statuses[status] ?? 0) + 1
  }

  const lines = await Promise.all(Array.from({ length: connections }, () => connect(Number(port), hostname)))
  if (rate === undefined)
    await Promise.all(
      lines.map(async line => {
        while (performance.now() < until) {
          const startedAt = performance.now()
          note(await line.ask(take()), startedAt)
        }
      }),
    )
  else await paced(lines, rate, until, take, note)
  for (const line of lines) line.end()

  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return {
    perSecond: latencies.length / seconds,
    count: latencies.length,
    statuses,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  }
}

type Line = { ask(request: Buffer): Promise<number>; end(): void }

async function paced(
  lines: Line[],
  rate: number,
  until: number,
  take: () => Buffer,
  note: (status: number, startedAt: number) => void,
) {
  const free = [...lines]
  const waiting: number[] = []
  const begin = performance.now()
  let appointed = 0
  const serve = async (line: Line, startedAt: number) => {
    note(await line.ask(take()), startedAt)
    const other = waiting.shift()
    if (other === undefined) free.push(line)
    else await serve(line, other)
  }
  const running: Promise<void>[] = []
  while (performance.now() < until) {
    for (; begin + (appointed * 1000) / rate <= performance.now(); appointed++) {
      const line = free.pop()
      const startedAt = begin + (appointed * 1000) / rate
      if (line) running.push(serve(line, startedAt))
      else waiting.push(startedAt)
    }
    // Sleeping between appointments leaves the processor to the one that is measured; a millisecond late is counted as latency.
    await new Promise(resume => setTimeout(resume, 1))
  }
  waiting.length = 0
  await Promise.all(running)
}

const HEAD_END = Buffer.from('\r\n\r\n')

function connect(port: number, host: string): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, host)
    let answer: { resolve(status: number): void; reject(error: Error): void } | undefined
    let held: Buffer = Buffer.alloc(0)
    const fail = (error: Error) => (answer ? answer.reject(error) : reject(error))
    socket.setNoDelay(true)
    socket.on('error', fail)
    socket.on('close', () => answer?.reject(new Error('the connection was closed')))
    socket.on('data', data => {
      held = held.length === 0 ? data : Buffer.concat([held, data])
      const head = held.indexOf(HEAD_END)
      if (head === -1) return
      const text = held.toString('latin1', 0, head)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (held.length < head + 4 + length) return
      held = held.subarray(head + 4 + length)
      const done = answer
      answer = undefined
      done?.resolve(Number(text.slice(9, 12)))
    })
    socket.on('connect', () =>
      resolve({
        ask: request =>
          new Promise((resolve, reject) => {
            answer = { resolve, reject }
            socket.write(request)
          }),
        end: () => socket.destroy(),
      }),
    )
  })
}

if (process.argv[2] === '--child')
  process.once('message', job => {
    run(job as Job).then(
      outcome => process.send?.(outcome, () => process.exit(0)),
      error => {
        console.error(error)
        process.exit(1)
      },
    )
  })
