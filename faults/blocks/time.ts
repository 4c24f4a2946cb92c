// Processes whose clock is wrong, is set while they run, or passes a daylight-saving change in a zone far from UTC. Only the
// database clock may have an effect.
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Id, microsOf } from '../../src/core/id.ts'
import { type Answer, type Client, createClient, type Sender } from '../support/client.ts'
import type { Environment, Scenario } from '../support/environment.ts'
import { fakeDatabaseClock } from '../support/fake-database-clock.ts'
import type { App, Env } from '../support/herald.ts'
import { type Block, verdict } from '../support/promise.ts'

const PRELOAD = new URL('../support/fake-clock.mjs', import.meta.url).href
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Ids are within a second of the database's time; the test and the database run on the same machine. */
const NEAR_MS = 1_000
/** The tolerance for a scheduled message: two seconds, plus what a busy machine adds. */
const LATE_MS = 5_000

export const wrongClock: Block = {
  name: 'wrong clocks',
  async run(environment) {
    const result = await underClocks(environment, async ({ scenario, faker, senders }) => {
      const [ahead, behind, set] = [faker('ahead', 2 * HOUR), faker('behind', -26 * HOUR), faker('set', 0)]
      const apps = await Promise.all([ahead, behind, set].map(({ env }) => scenario.app({ env })))
      const driving = apps.map((app, at) => drive(app, at, senders[at % senders.length] as Sender, 4_500))
      await sleep(1_500)
      set.set(-10 * MINUTE)
      await sleep(1_500)
      set.set(2 * HOUR)
      return Promise.all(driving)
    })
    return [
      verdict(
        'T1',
        'clocks 2 h ahead, 26 h behind, and set by −10 min and +2 h while running',
        'ids within 1 s of the database and never backwards, nobody refused, nothing early, lost 0, extra 0',
        measured(result),
        conditions(result),
        result.violations,
      ),
    ]
  },
}

/**
 * How far ids may be from the database's time once a process has had time to notice a step: it reads the clock every two seconds.
 */
const SETTLED_MS = 2_000
const NOTICE_MS = 4_000

export const databaseClock: Block = {
  name: 'the database clock is set',
  async run(environment) {
    const steps = [-600, 600] // back by ten minutes, forward by twenty, and back to where it was
    const result = await environment.scenario(
      { apps: 0, env: { HERALD_LEASE_SECONDS: '15' } },
      async ({ app, client, senders }) => {
        const apps = [await app({}), await app({})]
        const clock = await fakeDatabaseClock(environment.store.db)
        const tokens: number[] = []
        const off: number[] = []
        try {
          await settle(apps, client, senders)
          for (const seconds of [...steps, 0]) {
            await clock.set(seconds)
            const since = Date.now()
            for (let n = 0; Date.now() < since + 8_000; n++) {
              const answer = await client.send({ sender: senders[n % 2] as Sender })
              const there = Date.now() + seconds * 1000
              if (Date.now() < since + NOTICE_MS) continue
              off.push(Math.abs(millisOf(answer) - there))
              if (n % 10 === 0) tokens.push(await showToken(apps[n % 2] as App, senders[0] as Sender, there))
              await sleep(20)
            }
          }
        } finally {
          await clock.reset()
        }
        await settle(apps, client, senders)
        return { tokens, off: Math.max(...off), failed: client.answers.filter(answer => answer.status !== 201).length }
      },
    )
    const { counts, tokens, failed } = result
    return [
      verdict(
        'T1 database',
        `the database's clock is set back by 10 min, forward by 20 and back by 10 while running`,
        'followed within 4 s: ids within 2 s of it, tokens taken; no request fails, lost 0, extra 0',
        `${counts.accepted} accepted, ${failed} failed, ids off by ${result.off.toFixed(0)} ms at most, ${tokens.filter(status => status === 200).length} of ${tokens.length} tokens taken, ${counts.lost} lost, ${counts.extra} extra`,
        {
          'ids follow': result.off <= SETTLED_MS,
          'tokens are taken': tokens.length > 0 && tokens.every(status => status === 200),
          'no request failed': failed === 0,
          'none lost': counts.lost === 0,
          'no extra': counts.extra === 0,
        },
        result.violations,
      ),
    ]
  },
}

/** Waits until both processes have connections that see the new clock. */
async function settle(apps: readonly App[], client: Client, senders: readonly Sender[]) {
  for (const { address } of apps)
    for (const until = performance.now() + 20_000; ; await sleep(100)) {
      const reply = await client.ask('GET', '/v2/notifications', { address, key: (senders[0] as Sender).key })
      if (reply.status === 200) break
      if (performance.now() > until) throw new Error('not ready again')
    }
}

/** Time zones, and the moments their clocks change: forward, back, and back by half an hour. */
const CHANGES: readonly [zone: string, at: string][] = [
  ['Pacific/Auckland', '2026-09-26T14:00:00Z'],
  ['America/St_Johns', '2026-11-01T04:30:00Z'],
]
const ODD_ZONE = 'Australia/Lord_Howe'

export const summerTime: Block = {
  name: 'time zones and daylight saving time',
  async run(environment) {
    await environment.store.db.script(`alter role herald set timezone = '${ODD_ZONE}'`)
    const since = utcDay(Date.now())
    try {
      const result = await underClocks(environment, async ({ scenario, faker, senders }) => {
        const drivings = CHANGES.map(async ([zone, at], n) => {
          const clock = faker(zone.replace('/', '-'), Date.parse(at) - Date.now() - 10_000)
          const app = await scenario.app({ env: { ...clock.env, TZ: zone } })
          clock.set(Date.parse(at) - Date.now() - 1_500) // the change happens in the middle of the run
          return drive(app, n, senders[n % senders.length] as Sender, 3_000)
        })
        return Promise.all(drivings)
      })
      const days = await environment.store.db.sql<{ day: string }>`
        select distinct day::text as day from usage where service_id = any (${result.services}::uuid[])`
      const right = new Set([since, utcDay(Date.now())])
      return [
        verdict(
          'T2',
          'a zone far from UTC, and a daylight-saving change while running',
          'no effect on ids, schedules, days of the daily limit',
          `${measured(result)}, counted on ${days.map(row => row.day).join(', ')}`,
          { ...conditions(result), 'counted on the day of UTC': days.every(row => right.has(row.day)) },
          result.violations,
        ),
      ]
    } finally {
      await environment.store.db.script('alter role herald reset timezone')
    }
  },
}

const utcDay = (millis: number) => new Date(millis).toISOString().slice(0, 10)

type Faker = (name: string, offset: number) => { env: Env; set(offset: number): void }
type Driven = { answers: Answer[]; tokens: number[] }
type Drive = (given: { scenario: Scenario; senders: Sender[]; faker: Faker }) => Promise<Driven[]>

/** A scenario with processes that have clocks of their own. */
async function underClocks(environment: Environment, tell: Drive) {
  const folder = mkdtempSync(join(tmpdir(), 'hc-'))
  const faker: Faker = (name, offset) => {
    const file = join(folder, name)
    const set = (millis: number) => writeFileSync(file, String(millis))
    set(offset)
    return { env: { NODE_OPTIONS: `--import ${PRELOAD}`, FAULTS_CLOCK: file }, set }
  }
  try {
    return await environment.scenario({ apps: 0, env: { HERALD_LEASE_SECONDS: '15' } }, async scenario => {
      const driven = await tell({ scenario, senders: scenario.senders, faker })
      scenario.client.answers.push(...driven.flatMap(one => one.answers))
      await scenario.drained()
      return { driven, late: lateness(environment, driven), services: scenario.senders.map(sender => sender.service) }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One request after the other, so that their order is known; every fifth is scheduled, and a signed token is used too. */
async function drive(app: App, at: number, sender: Sender, millis: number): Promise<Driven> {
  const client = createClient(() => [app.address])
  const tokens: number[] = []
  const until = Date.now() + millis
  for (let n = 0; Date.now() < until; n++) {
    const scheduledFor = n % 5 === 0 ? new Date(Date.now() + 1_500).toISOString() : null
    await client.send({ sender, scheduledFor, token: `tk${at}x${n}k`, to: `ok-${at}-${n}@example.org` })
    if (n % 10 === 0) tokens.push(await showToken(app, sender))
    await sleep(30)
  }
  return { answers: client.answers, tokens }
}

/** Signed now, or at the given time, by a caller with a correct clock. */
async function showToken(app: App, sender: Sender, now = Date.now()): Promise<number> {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: sender.service, iat: Math.floor(now / 1000) })}`
  const signature = createHmac('sha256', sender.key.slice(-36)).update(signed).digest('base64url')
  const headers = { authorization: `Bearer ${signed}.${signature}`, connection: 'close' }
  const reply = await fetch(`${app.address}/v2/notifications`, { headers })
  await reply.arrayBuffer()
  return reply.status
}

/** Milliseconds between the scheduled time of a message and its arrival, for scheduled messages. */
function lateness(environment: Environment, driven: readonly Driven[]): number[] {
  const arrived = new Map(environment.sink.arrivals().map(arrival => [arrival.id, arrival.at]))
  return driven.flatMap(one =>
    one.answers.flatMap(({ id, scheduledFor }) =>
      scheduledFor === null ? [] : [(arrived.get(id ?? '') ?? Number.POSITIVE_INFINITY) - Date.parse(scheduledFor)],
    ),
  )
}

type Told = Awaited<ReturnType<typeof underClocks>>

const millisOf = ({ id }: Answer) => microsOf((id ?? '') as Id) / 1000
const idsOf = ({ answers }: Driven) => answers.flatMap(({ id }) => id ?? [])
const isOrdered = (ids: readonly string[]) => ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? ''))
const all = (result: Told) => result.driven.flatMap(one => one.answers)
/** How far an id's time is outside the interval between request and answer. */
const off = (answer: Answer) => Math.max(0, answer.sentAt - millisOf(answer), millisOf(answer) - answer.answeredAt)

function measured(result: Told): string {
  const worst = Math.max(...all(result).flatMap(answer => (answer.id ? off(answer) : [])))
  const tokens = result.driven.flatMap(one => one.tokens)
  const { counts } = result
  return `${counts.accepted} accepted, ${counts.refused} refused, ids off by ${worst.toFixed(0)} ms at most, ${tokens.filter(status => status === 200).length} of ${tokens.length} tokens taken, ${result.late.length} scheduled up to ${Math.max(...result.late)} ms late, ${counts.lost} lost, ${counts.extra} extra`
}

const conditions = (result: Told) => ({
  'nobody was refused': all(result).every(answer => answer.status === 201),
  'tokens of now are taken': result.driven.every(
    one => one.tokens.length > 0 && one.tokens.every(status => status === 200),
  ),
  'ids show the time of the database': all(result).every(answer => answer.id !== null && off(answer) <= NEAR_MS),
  'ids never go back': result.driven.every(one => isOrdered(idsOf(one))),
  'scheduled messages are on time':
    result.late.length > 0 && result.late.every(millis => millis >= -5 && millis <= LATE_MS),
  'none lost': result.counts.lost === 0,
  'no extra': result.counts.extra === 0,
})
