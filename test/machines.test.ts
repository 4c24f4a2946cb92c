// Several machines on one database: two processes for HTTP, two engines, and requests that go round robin. Each step is done on one
// process and seen on the other.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { asSession, CONSOLE, request, SESSION_COOKIE, type SignedInAs } from './console/support/session.ts'
import { type Balancer, balancer } from './support/balancer.ts'
import { type Env, type Program, programs } from './support/program.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { smtpServer } from './support/smtp-server.ts'
import { call, callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const { newDatabase, herald, start, begin } = programs()
type Engine = ReturnType<typeof begin>

let env: Env
let web: Program[]
let engines: Engine[]
let round: Balancer
let sink: Awaited<ReturnType<typeof smtpServer>>
let receiver: Receiver
let service: string
let key: ReturnType<typeof callerWith>
let template: string

async function command<T>(...argv: string[]): Promise<T> {
  const { code, out, err } = await herald([...argv, '--json'], env)
  expect(code, err).toBe(0)
  return JSON.parse(out) as T
}

async function startEngine(name: string): Promise<Engine> {
  const engine = begin({ ...env, HERALD_PROCESS_NAME: name }, '--only', 'engine')
  await Promise.race([
    engine.hasSaid('The delivery engine runs'),
    engine.closed.then(({ err }) => Promise.reject(new Error(err))),
  ])
  return engine
}

/** The key as it calls one of the processes, or all in turn. */
const on = (address: string) => callerWith(address, key.key)
const poll = <T>(read: () => T | Promise<T>, timeout = 30_000) => expect.poll(read, { timeout, interval: 50 })
const lettersTo = (address: string) => sink.letters.filter(({ to }) => to.includes(address)).length

async function send(to: string, caller = key): Promise<string> {
  const body = { email_address: to, template_id: template, personalisation: { name: 'Ada' } }
  const reply = await caller.post(EMAIL, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.body.id
}

beforeAll(async () => {
  sink = await smtpServer()
  receiver = await startReceiver()
  const { name: _, ...settings } = await newDatabase()
  env = {
    ...settings,
    HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    HERALD_SMTP_TLS: 'opportunistic',
    HERALD_CAPTURE: '1',
    HERALD_LEASE_SECONDS: '4',
    HERALD_DATABASE_CONNECTIONS: '5',
    HERALD_WEBHOOK_ALLOW: '127.0.0.1',
    HERALD_WEBHOOK_SCHEMES: 'http',
    HERALD_WEBHOOK_PORTS: '1-65535',
  }
  // The first start at the same time on all machines.
  ;[web, engines] = await Promise.all([
    Promise.all(['web-1', 'web-2'].map(one => start({ ...env, HERALD_PROCESS_NAME: one }, '--only', 'http'))),
    Promise.all(['engine-1', 'engine-2'].map(startEngine)),
  ])
  round = await balancer(web.map(({ address }) => address))
  service = (await command<{ id: string }>('service', 'create', 'Machines', '--live')).id
  const made = await command<{ key: string }>(
    ...['key', 'create', service, '--name', 'walk', '--type', 'live', '--manage-templates'],
  )
  key = callerWith(round.address, made.key)
  template = await emailTemplate(key)
})

afterAll(async () => {
  await round?.stop()
  await sink?.stop()
  await receiver?.stop()
})

const [first, second] = [() => web[0]?.address ?? '', () => web[1]?.address ?? '']

test('the four processes have names, and one of the engines leads', async () => {
  const { checks } = JSON.parse((await herald(['doctor', '--json'], env)).out) as {
    checks: { name: string; data: { name: string; leads_since: string | null }[] }[]
  }
  const processes = checks.find(({ name }) => name === 'Processes')?.data ?? []
  expect(processes.map(({ name }) => name.replace(/:\d+$/, '')).sort()).toEqual([
    ...['engine-1', 'engine-2', 'web-1', 'web-2'],
  ])
  const names = new Set<string>()
  for (let n = 0; n < 4; n++) {
    const { text } = await call(round.address, 'GET', '/metrics')
    names.add(/herald_process_info\{name="([^"]+)"/.exec(text)?.[1] ?? '')
  }
  expect([...names].sort()).toEqual(['web-1', 'web-2'])
})

test('a message sent on one is read on the other at once, and delivered once', async () => {
  for (let n = 0; n < 10; n++) {
    const [here, there] = n % 2 === 0 ? [first(), second()] : [second(), first()]
    const id = await send(`round${n}@example.org`, on(here))
    expect((await on(there).get(`/v2/notifications/${id}`)).body.id).toBe(id)
  }
  for (let n = 0; n < 10; n++) await poll(() => lettersTo(`round${n}@example.org`)).toBe(1)
})

test('an idle system takes a message at once', async () => {
  const took: number[] = []
  for (let n = 0; n < 5; n++) {
    await new Promise(resume => setTimeout(resume, 300))
    const since = performance.now()
    await send(`idle${n}@example.org`)
    await poll(() => lettersTo(`idle${n}@example.org`)).toBe(1)
    took.push(performance.now() - since)
  }
  // Without the notification an engine would look after half a second, on average.
  expect(took.toSorted((a, b) => a - b)[1]).toBeLessThan(450)
})

test('an idempotency key is one for all processes', async () => {
  const body = { email_address: 'once@example.org', template_id: template, personalisation: { name: 'Ada' } }
  const headers = { 'idempotency-key': 'the same request' }
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => on(n % 2 ? first() : second()).post(EMAIL, body, headers)),
  )
  const ids = new Set(replies.filter(({ status }) => status === 201).map(reply => reply.body.id))
  expect(ids.size).toBe(1)
  expect((await key.post(EMAIL, body, headers)).body.id).toBe([...ids][0])
})

test('a template changed on one is used on the other', async () => {
  for (let n = 0; n < 6; n++) {
    const [here, there] = n % 2 === 0 ? [first(), second()] : [second(), first()]
    // The other one has the old version in its cache.
    await on(there).get(`/v2/template/${template}`)
    const changed = await on(here).patch(`/v2/manage-template/${template}`, { content: `Version ${n} for ((name))` })
    expect(changed.status, changed.text).toBe(200)
    await poll(async () => (await on(there).get(`/v2/template/${template}`)).body.body, 1_000).toBe(
      `Version ${n} for ((name))`,
    )
    const id = await send('version@example.org', on(there))
    expect((await on(here).get(`/v2/notifications/${id}`)).body.body).toBe(`Version ${n} for Ada`)
  }
})

test('a key revoked on the command line is refused by all within a second', async () => {
  const made = await command<{ id: string; key: string }>(
    ...['key', 'create', service, '--name', 'short', '--type', 'live'],
  )
  const callers = [first(), second()].map(address => callerWith(address, made.key))
  for (const caller of callers) expect((await caller.get('/v2/notifications')).status).toBe(200)
  await command('key', 'revoke', made.id)
  for (const caller of callers) await poll(async () => (await caller.get('/v2/notifications')).status, 1_000).toBe(403)
})

test('a request that waits for events on one is answered when the message was sent on the other', async () => {
  const since = performance.now()
  const waiting = on(first()).get('/herald/v1/events?after=now&wait=20')
  await new Promise(resume => setTimeout(resume, 300))
  await send('events@example.org', on(second()))
  const reply = await waiting
  expect(reply.status, reply.text).toBe(200)
  expect(reply.text).toContain('"notification_id"')
  expect(performance.now() - since).toBeLessThan(10_000)
})

test('a request that waits for a message in the inbox on one is answered when it was sent on the other', async () => {
  const { key: text } = await command<{ key: string }>('key', 'create', service, '--name', 'try', '--type', 'test')
  const waiting = callerWith(first(), text).get('/herald/v1/inbox?to=inbox@example.org&wait=20')
  await new Promise(resume => setTimeout(resume, 300))
  const since = performance.now()
  await send('inbox@example.org', callerWith(second(), text))
  const reply = await waiting
  expect(reply.body.messages?.length ?? reply.text).toBe(1)
  expect(performance.now() - since).toBeLessThan(5_000)
})

/** Signs in as a browser does, each request on the next process. */
async function signIn(): Promise<SignedInAs> {
  await command('operator', 'add', 'grace@example.org', '--name', 'Grace Hale')
  await command(
    'user',
    'add',
    service,
    ...['--email', 'grace@example.org', '--name', 'Grace Hale', '--role', 'manager'],
  )
  const { link } = await command<{ link: string }>('user', 'sign-in-link', 'grace@example.org')
  const path = new URL(link).pathname.slice(CONSOLE.length)
  const page = await request(round.address, null, path)
  expect(page.status, page.text).toBe(200)
  const answer = await request(round.address, null, path, { form: { time_zone: 'UTC' } })
  expect(answer.status, answer.text).toBe(303)
  const cookie = answer.headers.getSetCookie().find(one => one.startsWith(`${SESSION_COOKIE}=`)) ?? ''
  return asSession(/=([^;]+)/.exec(cookie)?.[1] ?? '')
}

test('signed in on one, a person is signed in on all, follows a job live over the other, and signs out everywhere', async () => {
  const grace = await signIn()
  for (const address of [first(), second()]) expect((await request(address, grace, '/account')).status).toBe(200)

  await command('hold')
  const rows = [['email address', 'name'], ...Array.from({ length: 60 }, (_, n) => [`job${n}@example.org`, 'Ada'])]
  const sent = await on(first()).post('/v2/notifications/bulk', { name: 'A job', template_id: template, rows })
  expect(sent.status, sent.text).toBe(201)
  const { id } = sent.body.data
  const stream = await fetch(`${second()}${CONSOLE}/s/${service}/jobs/${id}/events`, {
    headers: { cookie: `${grace.cookie.name}=${grace.cookie.value}` },
    signal: AbortSignal.timeout(60_000),
  })
  expect(stream.headers.get('content-type')).toContain('text/event-stream')
  const text = stream.text()
  await new Promise(resume => setTimeout(resume, 1_500))
  expect(sink.letters.some(({ to }) => to[0]?.startsWith('job'))).toBe(false)
  await command('release', '--all')
  const values = [...(await text).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  expect(values[0]).toMatchObject({ isOver: false })
  expect(values.at(-1)).toMatchObject({ isOver: true })
  for (let n = 0; n < 60; n++) expect(lettersTo(`job${n}@example.org`)).toBe(1)

  const out = await request(first(), grace, '/sign-out', { form: {} })
  expect(out.status).toBe(303)
  for (const address of [first(), second()]) expect((await request(address, grace, '/account')).status).toBe(303)
})

test('an event goes to a webhook once, whichever process accepted or sent the message', async () => {
  await command('webhook', 'add', service, receiver.url, '--types', 'notification.sent,notification.delivered')
  const ids: string[] = []
  for (let n = 0; n < 20; n++) ids.push(await send(`hook${n}@example.org`))
  const seen = () =>
    receiver.hooks.map(({ body }) => JSON.parse(body).data.notification_id as string).filter(id => ids.includes(id))
  await poll(() => new Set(seen()).size).toBe(20)
  await new Promise(resume => setTimeout(resume, 1_500))
  expect(seen().length).toBe(20)
})

test('the work of an engine that was killed is taken over, and so is the lead', async () => {
  let go = () => {}
  const gate = new Promise<void>(resolve => {
    go = resolve
  })
  sink.state.onData = () => gate
  try {
    await Promise.all(Array.from({ length: 30 }, (_, n) => send(`killed${n}@example.org`)))
    // Both engines have some in hand.
    await new Promise(resume => setTimeout(resume, 500))
    await engines[0]?.end('SIGKILL')
  } finally {
    delete sink.state.onData
    go()
  }
  const since = performance.now()
  for (let n = 0; n < 30; n++) await poll(() => lettersTo(`killed${n}@example.org`)).toBeGreaterThan(0)
  // Four seconds of lease, three until a process frees them, and what the machine needs.
  expect(performance.now() - since).toBeLessThan(15_000)
  await poll(async () => {
    const { out } = await herald(['doctor', '--json'], env)
    return out.includes('a process leads and runs maintenance')
  }).toBe(true)
})
