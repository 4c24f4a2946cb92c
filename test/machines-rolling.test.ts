// HTTP machines leave and come one after the other behind a load balancer, under load with connections that are kept alive: no request
// fails, and requests that wait do not hold a stop.
import http from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { asSession, CONSOLE, request, SESSION_COOKIE } from './console/support/session.ts'
import { type Balancer, balancer } from './support/balancer.ts'
import { createClient } from './support/processes.ts'
import { type Env, type Program, programs } from './support/program.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const { newDatabase, herald, start } = programs()
const NOTICE_SECONDS = 2

let env: Env
let web: Program[]
let round: Balancer
let service: string
let key: string

async function command<T>(...argv: string[]): Promise<T> {
  const { code, out, err } = await herald([...argv, '--json'], env)
  expect(code, err).toBe(0)
  return JSON.parse(out) as T
}

beforeAll(async () => {
  const { name: _, ...settings } = await newDatabase()
  env = {
    ...settings,
    HERALD_CAPTURE: '1',
    HERALD_DATABASE_CONNECTIONS: '5',
    HERALD_NOTICE_SECONDS: String(NOTICE_SECONDS),
  }
  web = await Promise.all([1, 2, 3].map(() => start(env, '--only', 'http')))
  round = await balancer(
    web.map(({ address }) => address),
    { healthMs: 200 },
  )
  service = (await command<{ id: string }>('service', 'create', 'Rolling', '--live')).id
  await command('service', 'set', service, '--rate-limit', '1000000', '--email-daily-limit', '1000000')
  key = (
    await command<{ key: string }>(
      ...['key', 'create', service, '--name', 'load', '--type', 'test', '--manage-templates'],
    )
  ).key
})

afterAll(() => round?.stop())

test('each of three processes is restarted under load, and no request fails', async () => {
  const template = await emailTemplate(callerWith(round.address, key))
  const client = createClient(16)
  const failed: string[] = []
  let answered = 0
  let isLoading = true
  const note = (what: string, status: number) => {
    answered++
    if (status >= 400) failed.push(`${what}: ${status}`)
  }

  async function load(n: number) {
    for (let turn = 0; isLoading; turn++) {
      const body = {
        email_address: `a${n}-${turn}@example.org`,
        template_id: template,
        personalisation: { name: 'Ada' },
      }
      try {
        const sent = await client(round.address, 'POST', EMAIL, { key, body })
        note('send', sent.status)
        const read = await client(round.address, 'GET', `/v2/notifications/${sent.body.id}`, { key })
        note('read', read.status)
      } catch (error) {
        failed.push(String(error))
      }
      await new Promise(resume => setTimeout(resume, 10))
    }
  }
  /** Long polls, each on some process: there is nothing to wait for. */
  async function waitForEvents() {
    const agent = createClient(8)
    while (isLoading)
      try {
        note(
          'wait',
          (await agent(round.address, 'GET', '/herald/v1/inbox?to=nobody@example.org&wait=25', { key })).status,
        )
      } catch (error) {
        failed.push(String(error))
      }
  }

  const loads = [0, 1, 2, 3, 4, 5].map(load)
  const polls = [0, 1, 2].map(waitForEvents)
  const stops: number[] = []
  for (let n = 0; n < web.length; n++) {
    await new Promise(resume => setTimeout(resume, 1_000))
    const before = web[n] as Program
    const { code, seconds, err } = await before.end('SIGTERM')
    expect(code, err).toBe(0)
    stops.push(seconds)
    web[n] = await start(env, '--only', 'http')
    round.set(web.map(({ address }) => address))
    await expect.poll(round.readyCount, { timeout: 20_000 }).toBe(3)
  }
  const before = answered
  await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThan(before + 20)
  isLoading = false
  await Promise.all(loads)
  // The last long polls wait for nothing but a stop.
  for (const one of web) void one.end('SIGTERM')
  await Promise.all(polls)
  expect(failed).toEqual([])
  expect(round.broken).toEqual([])
  expect(answered).toBeGreaterThan(100)
  for (const seconds of stops) expect(seconds).toBeLessThan(NOTICE_SECONDS + 6)
})

test('a stop reports not ready at once, answers on open connections with Connection: close, and ends what waits', async () => {
  const one = await start({ ...env, HERALD_NOTICE_SECONDS: '3' }, '--only', 'http')
  await command('operator', 'add', 'grace@example.org', '--name', 'Grace Hale')
  await command(
    'user',
    'add',
    service,
    ...['--email', 'grace@example.org', '--name', 'Grace Hale', '--role', 'manager'],
  )
  const { link } = await command<{ link: string }>('user', 'sign-in-link', 'grace@example.org')
  const signedIn = await request(one.address, null, new URL(link).pathname.slice(CONSOLE.length), {
    form: { time_zone: 'UTC' },
  })
  const cookie = signedIn.headers.getSetCookie().find(text => text.startsWith(`${SESSION_COOKIE}=`)) ?? ''
  const grace = asSession(/=([^;]+)/.exec(cookie)?.[1] ?? '')
  expect((await request(one.address, grace, '/account')).status).toBe(200)

  const caller = callerWith(one.address, key)
  const template = await emailTemplate(caller)
  const inOneHour = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)
  const rows = [
    ['email address', 'name'],
    ['ada@example.org', 'Ada'],
  ]
  const job = await caller.post('/v2/notifications/bulk', {
    name: 'A job',
    template_id: template,
    rows,
    scheduled_for: inOneHour,
  })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) =>
      http
        .get(one.address + path, { agent, headers: { authorization: `ApiKey-v1 ${key}` } }, answer =>
          resolve(answer.resume()),
        )
        .on('error', reject),
    )
  const before = await ask('/v2/notifications')
  expect([before.statusCode, before.headers.connection]).toEqual([200, 'keep-alive'])

  const since = performance.now()
  const took = () => performance.now() - since
  const waiting = [
    caller.get('/herald/v1/events?after=now&wait=25'),
    caller.get('/herald/v1/inbox?to=nobody@example.org&wait=25'),
    fetch(`${one.address}${CONSOLE}/s/${service}/jobs/${job.body.data.id}/events`, {
      headers: { cookie: `${grace.cookie.name}=${grace.cookie.value}` },
    }),
  ].map(async reply => {
    const { status } = await reply.then(async answer => {
      if (answer instanceof Response) await answer.text()
      return answer
    })
    return { status, ms: took() }
  })
  await new Promise(resume => setTimeout(resume, 500))
  const stopped = one.end('SIGTERM')
  await expect.poll(async () => (await ask('/health/ready')).statusCode, { timeout: 2_000, interval: 50 }).toBe(503)
  // New connections are still accepted, and every answer closes its own.
  const during = await ask('/v2/notifications')
  expect([during.statusCode, during.headers.connection]).toEqual([200, 'close'])
  for (const { status, ms } of await Promise.all(waiting)) {
    expect(status).toBe(200)
    expect(ms).toBeLessThan(3_000)
  }
  const { code, seconds } = await stopped
  expect(code).toBe(0)
  expect(seconds).toBeGreaterThanOrEqual(3)
  expect(seconds).toBeLessThan(8)
})
