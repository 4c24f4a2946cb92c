// S-30: no data of callers is in the logs and the metrics. Canaries are sent through every field of every route and through every
// way to fail, and none may come out. The list of routes is the program's own.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { FORM_TOKEN } from '../../src/console/components/form.tsx'
import { pages } from '../../src/console/routes.ts'
import { digestOf, formTokenOf } from '../../src/people/token.ts'
import { openApi } from '../../src/routes.ts'
import { faultOf } from '../../src/telemetry/fault.ts'
import { type Program, programs, socketOf } from '../support/program.ts'
import { CATEGORY, call } from '../support/world.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

// Every canary except numbers and keys contains this word.
const WORD = 'canary'
const PHONE = '+16135550147'
const FILE = Buffer.from(`${WORD} in a file`).toString('base64')

const sending = {
  reference: `${WORD}-reference`,
  personalisation: { name: `${WORD}-value`, code: `${WORD}-code` },
}
const template = {
  name: `${WORD}-name`,
  content: `${WORD}-content ((name))`,
  template_category_id: CATEGORY.general,
}
const HOOK = `http://127.0.0.1:1024/${WORD}`
/** A valid body for each route; a new route without one fails below. */
const bodies: Record<string, (ids: Ids) => object> = {
  'POST /herald/v1/check/email': ids => ({
    ...sending,
    email_address: `${WORD}@example.org`,
    template_id: ids.email,
  }),
  'POST /herald/v1/check/sms': ids => ({ ...sending, phone_number: PHONE, template_id: ids.sms }),
  'POST /herald/v1/check/bulk': ids => ({
    name: `${WORD}-job`,
    template_id: ids.email,
    rows: [
      ['email address', 'name', `${WORD}-column`],
      [`${WORD}-not-an-address`, `${WORD}-value`, `${WORD}-cell`],
    ],
  }),
  'POST /v2/notifications/email': ids => ({
    ...sending,
    email_address: `${WORD}@example.org`,
    template_id: ids.email,
  }),
  'POST /v2/notifications/sms': ids => ({ ...sending, phone_number: PHONE, template_id: ids.sms }),
  'POST /v2/notifications/bulk': ids => ({
    name: `${WORD}-job`,
    reference: `${WORD}-reference`,
    template_id: ids.email,
    rows: [
      ['email address', 'name', `${WORD}-column`],
      [`${WORD}@example.org`, `${WORD}-value`, `${WORD}-cell`],
    ],
  }),
  'POST /v2/manage-template': () => ({ ...template, template_type: 'email', subject: `${WORD}-subject ((name))` }),
  'PATCH /v2/manage-template/{template_id}': () => ({ name: template.name, content: template.content }),
  'POST /v2/template/{id}/preview': () => ({ personalisation: sending.personalisation }),
  'POST /herald/v1/webhooks': () => ({ url: HOOK, format: 'callback', token: `${WORD}-token` }),
  'PATCH /herald/v1/webhooks/{webhook_id}': () => ({ url: `${HOOK}/${WORD}` }),
  'POST /herald/v1/webhooks/{webhook_id}/rotate-secret': () => ({ overlap_hours: 1 }),
  'POST /herald/v1/webhooks/{webhook_id}/replay': () => ({ failed: true }),
}
/** Invalid bodies, each wrong in another way. */
const wrong: readonly string[] = [
  `{"${WORD}": "${WORD}"`,
  `"${WORD}"`,
  `["${WORD}"]`,
  `{"${WORD}-field": "${WORD}", "name": {"${WORD}": 1}, "content": ["${WORD}"], "template_id": "${WORD}"}`,
  `{"email_address": "${WORD}", "phone_number": "${WORD}", "reference": ["${WORD}"], "personalisation": "${WORD}"}`,
  `{"name": "${WORD}\\u0000", "subject": "${WORD}\\u0000", "reference": "${WORD}\\u0000"}`,
  `{"personalisation": {"name": {"file": "${FILE}", "filename": "${WORD}.exe", "sending_method": "${WORD}"}}}`,
  `{"csv": "${WORD},${WORD}\\n\\"${WORD}", "rows": "${WORD}", "name": 1}`,
  `{"scheduled_for": "${WORD}", "email_reply_to_id": "${WORD}", "parent_folder_id": "${WORD}"}`,
  `{"url": "https://${WORD}@${WORD}.example.org/", "token": "${WORD}\\n", "types": ["${WORD}"], "from": "${WORD}"}`,
  `{"name": "${`${WORD}-`.repeat(60)}", "content": "${`${WORD}-`.repeat(9_000)}"}`,
]

type Ids = Record<
  'email' | 'sms' | 'doomed' | 'message' | 'job' | 'captured' | 'doomedCaptured' | 'webhook' | 'doomedWebhook',
  string
>
/** Removals last, those of one thing before those of all. */
const rank = ({ method, path }: { method: string; path: string }) => (method === 'DELETE' ? 1_000 - path.length : 0)
const routes = Object.entries(openApi().paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  .sort((one, other) => rank(one) - rank(other))

const { newData, start, sample } = programs()
let program: Program
let data: string
let ids: Ids
let keys: string[]
let asked = 0
let service: string
/** Of somebody who may do everything in the console. */
const SESSION = `${WORD}-session-`.padEnd(43, 'x')
const BROWSER = `${WORD}-browser-`.padEnd(43, 'x')
const statuses = new Map<string, Set<number>>()

beforeAll(async () => {
  data = newData()
  program = await start({
    HERALD_DATA: data,
    HERALD_LOG_LEVEL: 'trace',
    HERALD_WEBHOOK_ALLOW: '127.0.0.1',
    HERALD_WEBHOOK_SCHEMES: 'http',
    HERALD_WEBHOOK_PORTS: '1024',
  })
  const made = await sample({ HERALD_DATA: data })
  keys = [made.keys.test, made.keys.team, made.keys.live]
  const [email, sms] = [made.templates.email.id, made.templates.sms.id]
  service = made.service.id
  await signIn()
  const idOf = async (path: string, body: object) => {
    const headers = { authorization: `ApiKey-v1 ${keys[0]}` }
    const reply = await call(program.address, 'POST', path, { body, headers })
    return String(reply.body.id ?? reply.body.data.id)
  }
  const later = { scheduled_for: new Date(Date.now() + 3_600_000).toISOString() }
  ids = {
    email,
    sms,
    doomed: await idOf('/v2/manage-template', { ...template, template_type: 'sms' }),
    message: await idOf('/v2/notifications/sms', { ...sending, phone_number: PHONE, template_id: sms, ...later }),
    job: await idOf('/v2/notifications/bulk', {
      name: `${WORD}-job`,
      template_id: sms,
      csv: `phone number,name\n${PHONE},${WORD}-value`,
      ...later,
    }),
    captured: await captured(idOf, sms),
    doomedCaptured: await captured(idOf, sms),
    webhook: await idOf('/herald/v1/webhooks', { url: HOOK }),
    doomedWebhook: await idOf('/herald/v1/webhooks', { url: HOOK }),
  }
})

/** A message in the inbox. */
async function captured(idOf: (path: string, body: object) => Promise<string>, template_id: string): Promise<string> {
  const id = await idOf('/v2/notifications/sms', { ...sending, phone_number: PHONE, template_id })
  const headers = { authorization: `ApiKey-v1 ${keys[0]}` }
  const inInbox = async () => (await call(program.address, 'GET', `/herald/v1/inbox/${id}`, { headers })).status
  await vi.waitFor(async () => expect(await inInbox()).toBe(200), { timeout: 20_000, interval: 50 })
  return id
}

async function ask(method: string, path: string, raw: string | undefined, headers: Record<string, string>) {
  asked++
  return call(program.address, method, path, {
    ...(raw !== undefined && method !== 'GET' && method !== 'HEAD' && { raw }),
    headers: { 'user-agent': `${WORD}-agent`, 'x-request-id': `${WORD}@request`, 'x-canary': WORD, ...headers },
  })
}

const databaseOf = () => new pg.Client({ host: socketOf(data), port: 5432, user: 'herald', database: 'postgres' })

async function signIn() {
  const client = databaseOf()
  await client.connect()
  const { rows } = await client.query<{ id: string }>(
    `insert into people (id, email_address, name, is_operator)
     values (gen_random_uuid(), '${WORD}@people.example.org', '${WORD} person', true) returning id`,
  )
  const person = rows[0]?.id
  await client.query(
    `insert into users (id, service_id, name, email_address, role, person_id)
     values (gen_random_uuid(), $1, '${WORD}', '${WORD}@people.example.org', 'manager', $2)`,
    [service, person],
  )
  await client.query(
    `insert into sessions (id, person_id, token_digest, method, device) values (gen_random_uuid(), $1, $2, 'link', $3)`,
    [person, digestOf(SESSION), `${WORD} device`],
  )
  await client.end()
}

/** Names of fields of the console's forms. */
const FIELDS = ['email', 'name', 'q', 'subject', 'body', 'content', 'reason', 'role', 'folder', 'return', 'time_zone']

/** Every page of the console, with canaries in its path, query, cookies and fields: signed in, not signed in, with a wrong token. */
async function askConsole() {
  const cookie = `herald-console=${SESSION}; herald-browser=${BROWSER}; ${WORD}=${WORD}`
  const fields = FIELDS.map((name): [string, string] => [name, `${WORD}@example.org`])
  const known = new URLSearchParams([[FORM_TOKEN, formTokenOf(SESSION)], ...fields])
  const unknown = new URLSearchParams([[FORM_TOKEN, WORD], ...fields])
  for (const [method, path] of pages) {
    // Signing out would end it.
    if (path === '/sign-out') continue
    const at = path
      .replace(':service', service)
      .replaceAll(/:\w+/g, path.includes('/templates/') ? ids.email : ids.message)
    const bad = path.replaceAll(/:\w+/g, `${WORD}-part`)
    for (const [url, form, headers] of [
      [at, known, { cookie }],
      [at, unknown, { cookie }],
      [at, known, {}],
      [bad, known, { cookie }],
      [at, known, { cookie, origin: `https://${WORD}.example` }],
    ] as const)
      await visit(method, `/console${url}?q=${WORD}&return=/${WORD}&since=${WORD}`, form, headers)
  }
  await visit('GET', `/console/${WORD}?${WORD}`, known, { cookie })
  // Too large: the connection may end while it is sent.
  await visit('POST', '/console/sign-in', new URLSearchParams(WORD.repeat(200_000)), { cookie }).catch(() => {})
}

async function visit(method: string, path: string, form: URLSearchParams, headers: Record<string, string>) {
  const response = await fetch(program.address + path, {
    method,
    redirect: 'manual',
    headers: {
      origin: program.address,
      referer: `${program.address}/console/${WORD}`,
      'user-agent': `${WORD}-agent`,
      ...headers,
    },
    ...(method === 'POST' && { body: form }),
  })
  if (response.headers.get('content-type') === 'text/event-stream') return void (await response.body?.cancel())
  // A download breaks off when the database fails.
  await response.text().catch(() => {})
  asked++
  if (response.status === 500) brokenPages.push(`${method} ${path.split('?', 1)[0]}`)
}
const brokenPages: string[] = []

/** Every route with every body. */
async function askEverything() {
  const authorization = `ApiKey-v1 ${keys[0]}`
  for (const { method, path, operation } of routes) {
    const name = `${method} ${path}`
    const seen = statuses.get(name) ?? new Set()
    statuses.set(name, seen)
    const tell = async (...given: Parameters<typeof ask>) => seen.add((await ask(...given)).status)

    const good = path
      .replace('{notification_id}', ids.message)
      .replace('{job_id}', ids.job)
      .replace('{message_id}', method === 'DELETE' ? ids.doomedCaptured : ids.captured)
      .replace('{webhook_id}', method === 'DELETE' ? ids.doomedWebhook : ids.webhook)
      .replace(/\{(template_)?id\}/, name.startsWith('DELETE') ? ids.doomed : ids.email)
      .replace('{version}', '1')
    const bad = path.replaceAll(/\{\w+\}/g, `${WORD}-id`)
    const body = operation.requestBody && JSON.stringify(bodies[name]?.(ids))
    await tell(method, good, body, { authorization, 'idempotency-key': `${WORD}-idempotency` })
    await tell(method, good, body, { authorization, 'idempotency-key': `${WORD}\u00e9` })
    await tell(method, good, body, { authorization: `ApiKey-v1 ${keys[2]}` }) // a live key: the message is really handed over
    await tell(method, `${good}?type=${WORD}&status=${WORD}&older_than=${WORD}&${WORD}=1`, body, { authorization })
    await tell(method, bad, body, { authorization })
    await tell('PUT', good, body, { authorization })
    for (const header of [`ApiKey-v1 ${WORD}`, `ApiKey-v1 ${keys[1]}${WORD}`, `Bearer ${WORD}.${WORD}.${WORD}`, WORD])
      await tell(method, good, body, { authorization: header })
    if (!body) continue
    for (const raw of wrong) await tell(method, good, raw, { authorization })
    await tell(method, good, `${WORD}=1`, { authorization, 'content-type': `application/${WORD}` })
  }
  await askConsole()
  await ask('GET', `/${WORD}/path?${WORD}=1`, undefined, { authorization })
  await ask('GET', `/v2/${WORD}%zz`, undefined, { authorization })
  await ask('POST', `/v2/notifications/${WORD}`, `{"${WORD}": 1}`, { authorization })
  await broken(`GET /${WORD} HTTP/1.1\r\nHost: x\r\n${WORD} without a colon\r\n\r\n`)
  await broken(`GET /${WORD} HTTP/1.1\r\nHost: x\r\nX-Long: ${WORD.repeat(5_000)}\r\n\r\n`)
}

/** A malformed HTTP request. */
const broken = (text: string) =>
  new Promise<void>((resolve, reject) => {
    const { hostname, port } = new URL(program.address)
    const socket = net.connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', () => {})
    socket.once('close', () => resolve())
    socket.once('error', reject)
  })

/** From now on every change fails with a message that quotes the row, and reads find nothing. */
async function breakDatabase() {
  const client = databaseOf()
  await client.connect()
  await client.query(`
    create function quote_the_row() returns trigger language plpgsql as $$
    begin
      raise exception '${WORD} in a message: %', new using detail = '${WORD} in a detail', hint = '${WORD} in a hint';
    end $$`)
  const { rows } = await client.query<{ name: string }>(
    `select format('%I', relname) as name from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and not relispartition`,
  )
  for (const { name } of rows)
    await client.query(
      `create trigger quote before insert or update on ${name} for each row execute function quote_the_row()`,
    )
  return {
    async takeAway() {
      for (const { name } of rows) await client.query(`alter table ${name} rename to ${name}_away`)
      await client.end()
    },
  }
}

/** Every encoding of a canary. */
const canaries = () => [WORD, FILE.slice(0, 12), '5550147', ...keys.map(key => key.slice(-36))]
const findIn = (text: string) =>
  canaries().flatMap(canary => {
    const at = text.toLowerCase().indexOf(canary.toLowerCase())
    return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 100)]
  })

describe('S-30', () => {
  test('every route that takes a body has its canary', () => {
    const taking = routes
      .filter(({ operation }) => operation.requestBody)
      .map(({ method, path }) => `${method} ${path}`)
    expect(Object.keys(bodies).sort()).toEqual(taking.sort())
  })

  test('no canary appears in the logs or the metrics, whatever happens to its request', async () => {
    await askEverything()
    for (const [route, seen] of statuses) {
      expect(
        [...seen].some(status => status < 300),
        `${route} succeeds once, but answered ${[...seen]}`,
      ).toBe(true)
      expect([...seen], route).not.toContain(500)
      expect([...seen], route).toEqual(expect.arrayContaining([401, 403, 405]))
    }

    expect(brokenPages).toEqual([])

    statuses.clear()
    const database = await breakDatabase()
    await askEverything()
    await database.takeAway()
    await askEverything()
    for (const [route, seen] of statuses) expect([...seen], route).toContain(500)

    const metrics = await call(program.address, 'GET', '/metrics')
    expect(metrics.text).toContain('herald_http_request_seconds_count')
    expect(findIn(metrics.text)).toEqual([])

    const { headers } = await call(program.address, 'GET', '/health/live', { headers: { 'x-request-id': 'trace.42' } })
    expect(headers.get('x-request-id')).toBe('trace.42')

    const { err } = await program.end('SIGTERM')
    expect(err).toMatch(/"request":"trace\.42".*"route":"\/health\/live","status":200/)
    expect(err.match(/"msg":"answered"/g)?.length).toBeGreaterThanOrEqual(asked)
    expect(err).toContain('"msg":"request failed"')
    expect(findIn(err)).toEqual([])
    for (const line of err.trimEnd().split('\n')) expect(() => JSON.parse(line), line).not.toThrow()
    expect(findIn(readFileSync(join(data, 'postgres', 'postgres.log'), 'utf8'))).toEqual([])
  })

  test('of an error only our own text is logged: errors of the JavaScript engine quote the input', () => {
    const errors = [
      () => JSON.parse(`{"a": ${WORD}}`),
      () => BigInt(WORD),
      () => new URL(WORD),
      () => decodeURI(`%${WORD}`),
    ]
    for (const fails of errors) {
      try {
        fails()
        expect.unreachable()
      } catch (error) {
        expect(findIn(JSON.stringify(faultOf(error)))).toEqual([])
      }
    }
    expect(faultOf(new Error('the scanner is away'))).toMatchObject({ name: 'Error', message: 'the scanner is away' })
    expect(faultOf(`${WORD} thrown as it is`)).toEqual({ name: 'string' })
  })
})
