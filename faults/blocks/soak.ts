// Minutes of mixed load with a new fault every few seconds. Memory and open handles of one process must stay bounded.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, newKey, type Sender } from '../support/client.ts'
import { type Environment, RECEIPT_SECRET, type Scenario } from '../support/environment.ts'
import type { App } from '../support/herald.ts'
import { type Block, skipped, verdict } from '../support/promise.ts'
import type { Random } from '../support/random.ts'
import { createRelay, type Relay } from '../support/relay.ts'

const PROMISE = [
  'C5',
  'minutes of mixed load while things break',
  '≤ 1 MB a minute, handles and queue flat, lost 0',
] as const
const GAUGE = new URL('../support/gauge.mjs', import.meta.url).href
/** -- --soak MINUTES; the promise is about half an hour, which is a separate run. */
const at = process.argv.indexOf('--soak')
const MINUTES = at === -1 ? 8 : Number(process.argv[at + 1])
const PER_SECOND = 25
/** The maximum of sends in progress and results not yet on disk when a process or a connection ends. */
const IN_FLIGHT = 128

export const soak: Block = {
  name: 'soak',
  async run(environment) {
    if (!environment.isLong) return [skipped(...PROMISE, `takes ${MINUTES} minutes: only with --long`)]
    const folder = mkdtempSync(join(tmpdir(), 'hg-'))
    const [database, mail] = [
      await createRelay({ path: environment.database.socket }),
      await createRelay({ port: environment.sink.smtpPort }),
    ]
    const env = {
      HERALD_LEASE_SECONDS: '30',
      HERALD_SMTP_REPLY_SECONDS: '8',
      DATABASE_URL: `postgresql://herald@127.0.0.1:${database.port}/postgres`,
      HERALD_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    }
    try {
      const result = await environment.scenario({ apps: 0, services: 3, env }, async scenario => {
        const { app, client, senders, allow, drained } = scenario
        const gauge = join(folder, 'gauge')
        const watched = await app({ env: { NODE_OPTIONS: `--import ${GAUGE}`, FAULTS_GAUGE: gauge } })
        const other = await app({})
        await environment.sink.set({ receipts: receiptsTo([watched, other]) })
        allow.killed = true
        const until = Date.now() + MINUTES * 60_000
        const [asked, broken] = await Promise.all([
          callers(client, senders, environment.random, until),
          nemesis({ environment, watched, other, database, mail, allow, until }),
        ])
        const isDrained = await drained(300)
        await sleep(6_000) // one more reading, without load
        return { asked, broken, isDrained, readings: readGauge(gauge) }
      })
      const { counts, readings } = result
      const perMinute = slope(readings)
      const resources = readings.map(reading => reading.resources)
      const [early, late] = [highest(firstThird(resources)), highest(lastThird(resources))]
      return [
        verdict(
          PROMISE[0],
          `${MINUTES} minutes of mixed load while things break`,
          PROMISE[2],
          `${counts.accepted} accepted, ${counts.jobs} jobs, ${result.asked} other requests, ${result.broken.length} faults (${summary(result.broken)}), ${counts.lost} lost, ${counts.extra} extra, ${perMinute.toFixed(2)} MB a minute, at most ${early} → ${late} handles`,
          {
            'memory is flat': perMinute <= 1,
            'handles are flat': late <= early * 1.5 + 20,
            'everything left': result.isDrained,
            'none lost': counts.lost === 0,
          },
          result.violations,
        ),
      ]
    } finally {
      await database.stop()
      await mail.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const receiptsTo = (apps: readonly App[]) => ({
  mode: 'late' as const,
  twice: true,
  secret: RECEIPT_SECRET,
  urls: apps.map(app => `${app.address}/receipts/http`),
})

/** A mix of requests at a steady rate, whether answers come or not; returns how many were not sends. */
async function callers(client: Client, senders: readonly Sender[], random: Random, until: number): Promise<number> {
  const under = new Set<Promise<unknown>>()
  let others = 0
  for (let n = 0; Date.now() < until; n++) {
    const sender = random.pick(senders)
    const named = random.next() < 0.5 ? newKey() : null
    const ask = (method: string, path: string, body?: unknown) => {
      others++
      return client.ask(method, path, { key: sender.key, ...(body !== undefined && { body }) })
    }
    const one = (): Promise<unknown> => {
      if (n % (PER_SECOND * 15) === 7)
        return client.bulk({ sender, count: random.between(50, 300), idempotencyKey: newKey() })
      const dice = random.next()
      if (dice < 0.55) return client.send({ sender, idempotencyKey: named, isUrgent: dice < 0.1, isTest: dice > 0.5 })
      if (dice < 0.75)
        return client.send({
          sender,
          idempotencyKey: named,
          channel: 'sms',
          to: `+1613555${String(random.between(1_000, 9_999))}`,
        })
      if (dice < 0.8) return cancelled(client, sender, ask)
      if (dice < 0.9)
        return ask('GET', `/v2/notifications?template_type=email&status=${random.pick(['sending', 'delivered'])}`)
      if (dice < 0.95) return ask('GET', `/v2/notifications/${client.answers.at(-1)?.id ?? newKey()}`)
      return ask('POST', '/v2/notifications/email', random.pick<unknown>([null, [], 'x', { email_address: 7 }, {}]))
    }
    const work = one().finally(() => under.delete(work))
    under.add(work)
    await sleep(1000 / PER_SECOND)
  }
  await Promise.all(under)
  return others
}

/** A scheduled message that is cancelled. */
async function cancelled(client: Client, sender: Sender, ask: (method: string, path: string) => Promise<unknown>) {
  const scheduledFor = new Date(Date.now() + 20_000).toISOString()
  const { id } = await client.send({ sender, scheduledFor, idempotencyKey: newKey() })
  await ask('DELETE', `/v2/notifications/${id}`)
}

type Fate = {
  environment: Environment
  watched: App
  other: App
  database: Relay
  mail: Relay
  allow: Scenario['allow']
  until: number
}

/** Injects a fault every few seconds and ends it a moment later. Returns the faults in order. */
async function nemesis({ environment, watched, other, database, mail, allow, until }: Fate): Promise<string[]> {
  const { random, sink } = environment
  const moment = () => sleep(random.between(500, 2_500))
  const during = async (begin: () => unknown, end: () => unknown) => {
    await begin()
    await moment()
    await end()
  }
  const uncertain = (work: () => unknown) => () => {
    allow.extra += IN_FLIGHT
    return work()
  }
  const faults: Record<string, () => unknown> = {
    'process killed': uncertain(() => other.kill()),
    'process frozen': () => during(other.freeze, other.thaw),
    'watched process frozen': () => during(watched.freeze, watched.thaw),
    'mail refused': () =>
      during(
        () => sink.set({ smtp: 'refuse' }),
        () => sink.set({ smtp: 'ok' }),
      ),
    'provider slow': () =>
      during(
        () => sink.set({ delayMs: 300 }),
        () => sink.set({ delayMs: 0 }),
      ),
    'texts 503': () =>
      during(
        () => sink.set({ http: '503' }),
        () => sink.set({ http: 'ok' }),
      ),
    'database connections reset': () => database.reset(),
    'database slow': () =>
      during(
        () => database.set({ latencyMs: 20 }),
        () => database.set({ latencyMs: 0 }),
      ),
    'database silent': () =>
      during(
        () => database.set({ isSilent: true }),
        () => database.set({ isSilent: false }),
      ),
    'mail connections reset': uncertain(() => mail.reset()),
    'mail silent': () =>
      during(
        () => mail.set({ isSilent: true }),
        () => mail.set({ isSilent: false }),
      ),
  }
  const broken: string[] = []
  for (await sleep(5_000); Date.now() < until - 10_000; await sleep(random.between(2_000, 8_000))) {
    const name = random.pick(Object.keys(faults))
    broken.push(name)
    await faults[name]?.()
    await other.up()
  }
  return broken
}

function summary(names: readonly string[]): string {
  const times = new Map<string, number>()
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1)
  return [...times].map(([name, count]) => `${count} × ${name}`).join(', ')
}

type Reading = { at: number; megabytes: number; resources: number }

const readGauge = (file: string): Reading[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Reading)

const firstThird = <T>(list: readonly T[]) => list.slice(0, Math.ceil(list.length / 3))
const lastThird = <T>(list: readonly T[]) => list.slice(-Math.ceil(list.length / 3))
const highest = (list: readonly number[]) => Math.max(0, ...list)

/**
 * Growth in megabytes a minute after the warm-up (the first third): the median slope of all pairs (Theil–Sen), which is robust
 * against single peaks.
 */
function slope(readings: readonly Reading[]): number {
  const warm = readings.slice(Math.ceil(readings.length / 3))
  const slopes = warm.flatMap((from, n) =>
    warm.slice(n + 1).map(to => ((to.megabytes - from.megabytes) / (to.at - from.at)) * 60_000),
  )
  slopes.sort((a, b) => a - b)
  return slopes[Math.floor(slopes.length / 2)] ?? 0
}
