// Receivers of webhooks, in one process of their own: one endpoint per path, good ones and hostile ones. Signatures are verified by
// an independent library. A request is logged BEFORE it is answered, so that the log contains everything a sender may believe
// delivered. Behaviour is set through a control port.
import { openSync, writeSync } from 'node:fs'
import http from 'node:http'
import type net from 'node:net'
import { Webhook } from 'standardwebhooks'
import { ALLOWED, type Delivery, FORBIDDEN, type Manner } from './receiver.ts'

const log = openSync(process.argv[2] ?? '', 'a')
const write = (line: unknown) => writeSync(log, `${JSON.stringify(line)}\n`)

type Endpoint = { manner: Manner; secret: string; refused: Map<string, number> }
const endpoints = new Map<string, Endpoint>()
let most = 0

const SLOW_MS = 2_000
const REDIRECTED = 'redirected'

const hooks = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('error', () => {}) // senders may disconnect at any time
  response.on('error', () => {})
  request.on('end', () => receive(request, response, Buffer.concat(chunks)))
})

function receive(request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) {
  const name = (request.url ?? '').slice(1)
  if (name === REDIRECTED) write({ trespass: 'a redirect was followed' })
  const endpoint = endpoints.get(name)
  if (!endpoint) return void response.writeHead(404).end()
  const events = eventsOf(body)
  const answer = statusOf(endpoint, events)
  write({
    endpoint: name,
    at: Date.now(),
    webhookId: String(request.headers['webhook-id'] ?? ''),
    isSigned: isSigned(endpoint.secret, request.headers, body),
    answer,
    events,
  } satisfies Delivery)
  respond(endpoint.manner, answer, response)
}

function respond(manner: Manner, answer: number, response: http.ServerResponse) {
  const { socket } = response
  if (manner === 'hang') return
  if (manner === 'reset') return void (socket as net.Socket | null)?.resetAndDestroy()
  if (manner === 'redirect') response.setHeader('location', `http://${ALLOWED}:${portOf(hooks)}/${REDIRECTED}`)
  if (manner === 'endless') return endless(response.writeHead(200))
  if (manner === 'drip') return drip(socket)
  if (manner === 'headers')
    return void socket?.end(`HTTP/1.1 200 OK\r\n${`X: ${'x'.repeat(1_000)}\r\n`.repeat(16_000)}\r\n`)
  const end = () => response.writeHead(answer, { 'content-type': 'text/plain' }).end(answer < 300 ? 'ok' : 'no')
  if (manner === 'slow') setTimeout(end, SLOW_MS)
  else end()
}

/** 0: no answer. */
function statusOf(endpoint: Endpoint, events: Delivery['events']): number {
  const fixed: Partial<Record<Manner, number>> = {
    '500': 500,
    '404': 404,
    '410': 410,
    redirect: 302,
    hang: 0,
    reset: 0,
  }
  const { manner, refused } = endpoint
  if (manner !== 'picky') return fixed[manner] ?? 200
  const [first] = events.filter(event => event.about.endsWith('7'))
  if (!first || (refused.get(first.id) ?? 0) >= 1) return 200
  refused.set(first.id, (refused.get(first.id) ?? 0) + 1)
  return 500
}

function endless(response: http.ServerResponse) {
  const piece = Buffer.alloc(65_536, 'x')
  let written = 0
  const more = () => {
    while (!response.destroyed) {
      written += piece.length
      most = Math.max(most, written)
      if (!response.write(piece)) return void response.once('drain', more)
    }
  }
  more()
}

function drip(socket: net.Socket | null) {
  if (!socket) return
  const text = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(60)}`
  let at = 0
  const timer = setInterval(() => (at < text.length ? socket.write(text[at++] ?? '') : undefined), 1_000)
  socket.on('close', () => clearInterval(timer))
}

type Sent = { id: string; type?: string; timestamp?: string; data?: { notification_id?: string; job_id?: string } }
type Callback = { id: string; status: string; completed_at: string | null }

/** One event, a list of events, or a message in the other format. */
function eventsOf(body: Buffer): Delivery['events'] {
  const sent = JSON.parse(body.toString()) as Sent | { events: Sent[] } | Callback
  if ('events' in sent) return sent.events.map(one => eventOf(one))
  if ('status' in sent)
    return [{ id: '', type: `notification.${sent.status}`, about: sent.id, timestamp: sent.completed_at ?? '' }]
  return [eventOf(sent as Sent)]
}

const eventOf = ({ id, type = '', timestamp = '', data }: Sent) => ({
  id,
  type,
  about: data?.notification_id ?? data?.job_id ?? '',
  timestamp,
})

function isSigned(secret: string, headers: http.IncomingHttpHeaders, body: Buffer): boolean {
  if (!secret.startsWith('whsec_')) return headers.authorization === `Bearer ${secret}`
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false // the test run reports it
  }
}

// --- an address that is not allowed

const forbidden = http.createServer((_request, response) => void response.end())
forbidden.on('connection', () => write({ trespass: `${FORBIDDEN} was connected` }))

// --- control

type Command = { endpoint?: string; manner?: Manner; secret?: string }

const control = http.createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    const { endpoint: name, ...how } = JSON.parse(body) as Command
    if (name !== undefined) {
      const before = endpoints.get(name) ?? { manner: 'ok' as const, secret: '', refused: new Map<string, number>() }
      endpoints.set(name, { ...before, ...how })
    }
    response.end(JSON.stringify({ most }))
  })
})

const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port
const listen = (server: net.Server, port: number, host: string) =>
  new Promise<void>(done => server.listen(port, host, done))

await listen(hooks, 0, ALLOWED)
await listen(forbidden, portOf(hooks), FORBIDDEN)
await listen(control, 0, ALLOWED)
console.log(JSON.stringify({ port: portOf(hooks), control: portOf(control) }))
