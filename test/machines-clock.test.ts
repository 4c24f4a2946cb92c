// Three machines whose clocks are five minutes behind, right and five minutes ahead: everything is as by the clock of the database.
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Id, microsOf } from '../src/core/id.ts'
import { asSession, CONSOLE, request, SESSION_COOKIE } from './console/support/session.ts'
import { type Env, type Program, programs } from './support/program.ts'
import { EMAIL, emailTemplate, LIST } from './support/sends.ts'
import { smtpServer } from './support/smtp-server.ts'
import { call, callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 120_000 })

const { newDatabase, herald, start } = programs()
const PRELOAD = pathToFileURL(resolve('faults/support/fake-clock.mjs')).href
const OFFSETS_MS = [-300_000, 0, 300_000]
const LEASE_SECONDS = 4
/** What a busy machine adds to a time that is read on another process. */
const NEAR_MS = 1_500

const folder = mkdtempSync(join(tmpdir(), 'herald-clocks-'))
let env: Env
let machines: Program[]
let sink: Awaited<ReturnType<typeof smtpServer>>
let database: pg.Client
let service: string
let key: string
let template: string

/** The settings of a machine whose clock is wrong by so many milliseconds. */
function clockOf(ms: number): Env {
  const file = join(folder, `clock${ms}`)
  writeFileSync(file, String(ms))
  return { FAULTS_CLOCK: file, NODE_OPTIONS: `--import=${PRELOAD}` }
}

async function command<T>(clockMs: number, ...argv: string[]): Promise<T> {
  const { code, out, err } = await herald([...argv, '--json'], { ...env, ...clockOf(clockMs) })
  expect(code, err).toBe(0)
  return JSON.parse(out) as T
}

async function databaseMs(): Promise<number> {
  const { rows } = await database.query('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms')
  return rows[0].ms
}

const callers = () => machines.map(({ address }) => callerWith(address, key))
const lettersTo = (address: string) => sink.letters.filter(({ to }) => to.includes(address))
const poll = <T>(read: () => T | Promise<T>, timeout = 30_000) => expect.poll(read, { timeout, interval: 50 })
const mail = (to: string, more: object = {}) => ({ email_address: to, template_id: template, ...more })

beforeAll(async () => {
  sink = await smtpServer()
  const { name: _, ...settings } = await newDatabase()
  env = {
    ...settings,
    HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    HERALD_SMTP_TLS: 'opportunistic',
    HERALD_CAPTURE: '1',
    HERALD_LOG_LEVEL: 'info',
    HERALD_LEASE_SECONDS: String(LEASE_SECONDS),
    HERALD_DATABASE_CONNECTIONS: '5',
  }
  database = new pg.Client({ connectionString: settings.DATABASE_URL })
  await database.connect()
  machines = await Promise.all(OFFSETS_MS.map(ms => start({ ...env, ...clockOf(ms) })))
  service = (await command<{ id: string }>(0, 'service', 'create', 'Clocks', '--live')).id
  key = (
    await command<{ key: string }>(
      300_000,
      ...['key', 'create', service, '--name', 'clocks', '--type', 'live', '--manage-templates'],
    )
  ).key
  template = await emailTemplate(callerWith(machines[0]?.address ?? '', key), 'Hello', 'News')
}, 120_000)

afterAll(async () => {
  await database?.end()
  await sink?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('the clocks of the three processes are wrong by five minutes, as their logs show', async () => {
  for (const [at, { address, err }] of machines.entries()) {
    await call(address, 'GET', '/v2/templates')
    const offset = () => {
      const times = [...err().matchAll(/"time":"([^"]+)".*"\/v2\/templates"/g)].map(([, time = '']) => Date.parse(time))
      return Math.round(((times.at(-1) ?? 0) - Date.now()) / 60_000) || 0 // never -0
    }
    await poll(offset, 10_000).toBe((OFFSETS_MS[at] ?? 0) / 60_000)
  }
})

test('ids and created_at are near the time of the database, and never go back in a process', async () => {
  const last = [0, 0, 0]
  for (let n = 0; n < 30; n++) {
    const at = n % 3
    const before = await databaseMs()
    const reply = await callers()[at]?.post(EMAIL, mail(`order${n}@example.org`))
    const after = await databaseMs()
    expect(reply?.status, reply?.text).toBe(201)
    const id = reply?.body.id as Id
    const shown = (await callers()[(at + 1) % 3]?.get(`${LIST}/${id}`))?.body
    for (const ms of [microsOf(id) / 1000, Date.parse(shown.created_at)]) {
      expect(ms).toBeGreaterThan(before - NEAR_MS)
      expect(ms).toBeLessThan(after + NEAR_MS)
    }
    expect(microsOf(id)).toBeGreaterThan(last[at] ?? 0)
    last[at] = microsOf(id)
  }
})

test('a message accepted by one machine and sent by another has its times in order', async () => {
  const ids: string[] = []
  for (let n = 0; n < 9; n++)
    ids.push((await callers()[n % 3]?.post(EMAIL, mail(`status${n}@example.org`)))?.body.id as string)
  for (const [n, id] of ids.entries()) {
    const read = async () => (await callers()[(n + 2) % 3]?.get(`${LIST}/${id}`))?.body
    await poll(async () => (await read()).status).toMatch(/^(delivered|sent|sending)$/)
    const { created_at, sent_at } = await read()
    expect(Date.parse(sent_at)).toBeGreaterThan(Date.parse(created_at) - NEAR_MS)
    expect(Date.parse(sent_at)).toBeLessThan((await databaseMs()) + NEAR_MS)
  }
})

test('a scheduled message is due by the clock of the database, on every machine', async () => {
  const due = Math.ceil((await databaseMs()) / 1000) * 1000 + 4_000
  const scheduled_for = new Date(due).toISOString().slice(0, 19)
  for (const [at, caller] of callers().entries()) {
    const reply = await caller.post(EMAIL, mail(`due${at}@example.org`, { scheduled_for }))
    expect(reply.status, reply.text).toBe(201)
  }
  while ((await databaseMs()) < due - 300) {
    for (const at of OFFSETS_MS.keys()) expect(lettersTo(`due${at}@example.org`)).toEqual([])
    await sleep(100)
  }
  for (const at of OFFSETS_MS.keys()) await poll(() => lettersTo(`due${at}@example.org`).length, 15_000).toBe(1)
  expect((await databaseMs()) - due).toBeLessThan(15_000)
  const past = new Date((await databaseMs()) - 60_000).toISOString().slice(0, 19)
  for (const caller of callers())
    expect((await caller.post(EMAIL, mail('x@example.org', { scheduled_for: past }))).status).toBe(400)
})

test('a lease that is renewed is not taken by others: what takes three leases is sent once', async () => {
  let go = () => {}
  const gate = new Promise<void>(resolve => {
    go = resolve
  })
  sink.state.onData = () => gate
  try {
    for (let n = 0; n < 6; n++) await callers()[n % 3]?.post(EMAIL, mail(`leased${n}@example.org`))
    await sleep(LEASE_SECONDS * 3_000)
  } finally {
    delete sink.state.onData
    go()
  }
  for (let n = 0; n < 6; n++) await poll(() => lettersTo(`leased${n}@example.org`).length).toBeGreaterThan(0)
  await sleep(2_000)
  for (let n = 0; n < 6; n++) expect(lettersTo(`leased${n}@example.org`).length).toBe(1)
})

function tokenOf(iat: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ typ: 'JWT', alg: 'HS256' })}.${part({ iss: key.slice(-73, -37), iat })}`
  return `${signed}.${createHmac('sha256', key.slice(-36)).update(signed).digest('base64url')}`
}

test('a signed token may be 30 seconds off by the clock of the database, on every machine', async () => {
  for (const { address } of machines)
    for (const [seconds, wanted] of [
      [0, 200],
      [-25, 200],
      [25, 200],
      [-36, 403],
      [36, 403],
      [300, 403],
      [-300, 403],
    ] as const) {
      const iat = Math.floor((await databaseMs()) / 1000) + seconds
      const reply = await call(address, 'GET', LIST, { headers: { authorization: `Bearer ${tokenOf(iat)}` } })
      expect([seconds, reply.status]).toEqual([seconds, wanted])
    }
})

test('an idempotency key lives for 24 hours by the clock of the database, on every machine', async () => {
  const headers = { 'idempotency-key': 'a day' }
  const first = (await callers()[0]?.post(EMAIL, mail('day@example.org'), headers))?.body.id
  const age = (minutes: number) =>
    database.query(`update replays set created_at = now() - interval '24 hours' + interval '${minutes} minutes'`)
  await age(2)
  for (const caller of callers())
    expect((await caller.post(EMAIL, mail('day@example.org'), headers)).body.id).toBe(first)
  const seen = new Set([first])
  for (const caller of callers()) {
    await age(-2)
    const { id } = (await caller.post(EMAIL, mail('day@example.org'), headers)).body
    expect(seen.has(id)).toBe(false)
    seen.add(id)
  }
})

test('a sign-in link made on one machine works on another, and so does the session', async () => {
  await command(300_000, 'operator', 'add', 'grace@example.org', '--name', 'Grace Hale')
  for (const [made, used] of [
    [300_000, 0],
    [-300_000, 2],
  ] as const) {
    const { link } = await command<{ link: string }>(made, 'user', 'sign-in-link', 'grace@example.org')
    const path = new URL(link).pathname.slice(CONSOLE.length)
    const answer = await request(machines[used]?.address ?? '', null, path, { form: { time_zone: 'UTC' } })
    expect(answer.status, answer.text).toBe(303)
    const cookie = answer.headers.getSetCookie().find(one => one.startsWith(`${SESSION_COOKIE}=`)) ?? ''
    const grace = asSession(/=([^;]+)/.exec(cookie)?.[1] ?? '')
    for (const { address } of machines) expect((await request(address, grace, '/account')).status).toBe(200)
  }
})
