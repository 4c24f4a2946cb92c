// A receiver of webhooks in a process of its own: it reads and parses every body, answers 200 and counts the events. Also the yardstick
// of webhooks: how many events a bare client posts to it.
import http from 'node:http'
import type net from 'node:net'
import { fileURLToPath } from 'node:url'
import { endWithUs, forkModule, keepChild, serveParent } from './child.ts'
import { now } from './clock.ts'
import { until } from './wait.ts'

export type Receiver = {
  port: number
  /** Takes everything. */
  address: string
  /** Takes requests and never answers. */
  dead: string
  /** Requests to the dead one so far. */
  unanswered(): number
  /** Resets the counts. */
  reset(): void
  /** The time (`now`) at which this many events had arrived. */
  received(count: number): Promise<number>
  stop(): void
}

const TELL_MS = 5

type Counts = { events: number; unanswered: number }

export function startReceiver(): Promise<Receiver> {
  const child = forkModule(import.meta.url, ['--receive'])
  endWithUs(child)
  let counts: Counts = { events: 0, unanswered: 0 }
  let before = counts
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the receiver ended with ${code}`)))
    child.on('message', (told: Counts | { port: number }) => {
      if (!('port' in told)) {
        counts = told
        return
      }
      const { port } = told
      resolve({
        port,
        address: `http://127.0.0.1:${port}/live`,
        dead: `http://127.0.0.1:${port}/dead`,
        unanswered: () => counts.unanswered - before.unanswered,
        reset: () => (before = counts),
        async received(wanted) {
          await until(`${wanted} events at the receiver`, () => counts.events - before.events >= wanted)
          return now()
        },
        stop: () => child.kill(),
      })
    })
  })
}

function receive() {
  const counts: Counts = { events: 0, unanswered: 0 }
  let told = ''
  setInterval(() => {
    const text = JSON.stringify(counts)
    if (text !== told) process.send?.(counts)
    told = text
  }, TELL_MS)
  process.on('disconnect', () => process.exit())
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('error', () => {}) // the sender gives up at its timeout
    request.on('end', () => {
      if (request.url === '/dead') {
        counts.unanswered++
        return
      }
      const { events } = JSON.parse(Buffer.concat(chunks).toString()) as { events?: unknown[] }
      counts.events += events?.length ?? 1
      response.end()
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }))
}

type Posting = { address: string; body: string; events: number; posts: number; atOnce: number }

/** Events per second from a bare client: the same body again and again, several requests at a time. */
export const postYardstick = keepChild<Posting, number>(import.meta.url)

async function postAll({ address, body, events, posts, atOnce }: Posting): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const request = http.request(address, { method: 'POST', agent, headers }, response =>
        response.resume().on('end', resolve),
      )
      request.on('error', reject)
      request.end(body)
    })
  let left = posts
  const began = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await post()
    }),
  )
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  return (posts * events) / seconds
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[3] === '--receive') receive()
else serveParent(import.meta.url, postAll)
