// A hostile tenant in a process of its own, so that it does not slow the measured callers. It repeats one attack as fast as it
// can until it is ended. Its settings are one line of JSON; it prints one line when it has begun and then, every second, the
// statuses of its answers.
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './hostile.ts'

const attack = JSON.parse(process.argv[2] ?? '') as Attack
const { address, key, template } = attack
const statuses: Record<string, number> = {}
const count = (status: number) => {
  statuses[status] = (statuses[status] ?? 0) + 1
}
const agent = new http.Agent({ keepAlive: true, maxSockets: attack.connections })
const headers =
  attack.what === 'pages'
    ? { ...(attack.cookie && { cookie: attack.cookie }) }
    : { authorization: `ApiKey-v1 ${key}`, 'content-type': 'application/json' }

/** Resolves with the status; 0: no answer. The body is discarded. */
function ask(method: string, path: string, body?: Buffer): Promise<number> {
  return new Promise(resolve => {
    const length = body ? { 'content-length': String(body.length) } : {}
    const request = http.request(address + path, { method, agent, headers: { ...headers, ...length } }, response => {
      response.resume()
      response.on('close', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}

/** Announces a large body and sends one byte a second, for ever. */
function drip(): Promise<never> {
  const { hostname, port } = new URL(address)
  const connect = () => {
    const socket = net.connect(Number(port), hostname)
    const head = `POST /v2/notifications/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key}\r\nContent-Type: application/json\r\nContent-Length: 67000000\r\n\r\n{`
    socket.on('connect', () => socket.write(head))
    const timer = setInterval(() => socket.write(' '), 1_000)
    socket.once('data', data => count(Number(String(data).slice(9, 12))))
    socket.on('error', () => count(0))
    socket.on('close', () => {
      clearInterval(timer)
      setTimeout(connect, 100)
    })
  }
  for (let n = 0; n < attack.connections; n++) connect()
  return new Promise(() => {})
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const single = (personalisation: object) =>
  json({ email_address: 'a@example.org', template_id: template, personalisation })
const bulk = (more: object) => json({ name: 'Hostile', template_id: template, ...more })
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '1']))

/** Phone numbers that are slow to parse. */
const oddPhones = (count: number) =>
  Array.from({ length: count }, (_, n) => [
    [
      `+${'1-'.repeat(600)}${n}`,
      `${'(6'.repeat(500)}${n}`,
      `+1 613 ${'x1 '.repeat(400)}${n}`,
      `${'0'.repeat(1_500)}${n}`,
    ][n % 4] ?? '',
    'x',
  ])

/** Each attack: the requests that its connections send in turn, repeatedly. */
const BODIES: Record<Exclude<Attack['what'], 'drip'>, () => [method: string, path: string, body?: Buffer][]> = {
  list: () => [
    ['GET', '/v2/notifications?include_jobs=true'],
    ['GET', '/v2/notifications?include_jobs=true&status=delivered'],
    ['GET', '/v2/templates'],
    ['GET', '/v2/notifications/bulk'],
  ],
  pages: () => (attack.paths ?? []).map(path => ['GET', path]),
  keys: () => [
    ['POST', '/v2/notifications/email', single(names(200_000))],
    ['POST', '/v2/notifications/email', single(names(1_500_000))],
  ],
  rendered: () => [['POST', '/v2/notifications/email', single({ a: 'x'.repeat(50_000) })]],
  phones: () => [['POST', '/v2/notifications/bulk', bulk({ rows: [['phone number', 'token'], ...oddPhones(4_000)] })]],
  bulk: () => [
    [
      'POST',
      '/v2/notifications/bulk',
      bulk({ rows: [['email address', 'token'], ...Array.from({ length: 2_500_000 }, () => ['a@example.org', '1'])] }),
    ],
    ['POST', '/v2/notifications/bulk', bulk({ csv: `email address${',c'.repeat(25_000_000)}\na@example.org` })],
  ],
}

async function repeat() {
  const requests = attack.what === 'drip' ? [] : BODIES[attack.what]()
  console.log('begun')
  await Promise.all(
    Array.from({ length: attack.connections }, async (_, at) => {
      for (let n = at; ; n++) {
        const [method, path, body] = requests[n % requests.length] as [string, string, Buffer?]
        const status = await ask(method, path, body)
        count(status)
        if (status === 0) await sleep(50)
      }
    }),
  )
}

setInterval(() => console.log(JSON.stringify(statuses)), 250)
if (attack.what === 'drip') {
  console.log('begun')
  await drip()
} else await repeat()
