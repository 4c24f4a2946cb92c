// The environment of a block: the database, the fake providers, Herald's processes, callers, and the checker at the end.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../src/config/index.ts'
import { create as createKey } from '../../src/keys/create.ts'
import type { Store } from '../../src/parts.ts'
import { change } from '../../src/services/change.ts'
import { create as createService } from '../../src/services/create.ts'
import { addOrigin } from '../../src/services/origins.ts'
import { openStore } from '../../src/store.ts'
import { create as createTemplate } from '../../src/templates/create.ts'
import { type Counts, check } from './checker.ts'
import { type Client, createClient, type Sender } from './client.ts'
import { createServer, type Server } from './database.ts'
import { type App, createApp, type Death, type Env, type Machine, tryStart } from './herald.ts'
import type { Random } from './random.ts'
import { type Arrival, createSink, type Sink } from './sink.ts'

export const LEASE_SECONDS = 3
export const RECEIPT_SECRET = 'the secret by which the fake provider signs'
export const CATEGORY = {
  general: '207b293c-2ae5-48e8-836d-fcabd60b2153',
  urgent: 'b6c42a7e-2a26-4a07-802b-123a5c3198a9',
  medium: '55eb1137-6dc6-4094-9031-f61124a279dc',
}
const UNLIMITED = 2_000_000_000

export type Environment = Harness & { database: Server }

/** Everything but the database. */
export type Harness = {
  sink: Sink
  store: Store
  random: Random
  isLong: boolean
  /** Sums over the whole run: the checker's counts of every scenario, and counts that a block adds under a name of its own. */
  totals: Record<string, number>
  /** Whether Herald starts with the settings of a scenario, changed by these. */
  tryStart(env: Env): ReturnType<typeof tryStart>
  /** A scenario with processes, callers and services of its own; at its end it is checked and its processes are ended. */
  scenario<T>(
    wanted: Wanted,
    tell: (scenario: Scenario) => Promise<T>,
  ): Promise<T & { violations: string[]; counts: Counts }>
  stop(): Promise<void>
}

/** `sockets`: how many requests the callers have open to each process at most. */
export type Wanted = { apps: number; only?: 'http' | 'engine'; services?: number; env?: Env; sockets?: number }

/** The app with this number runs on the machine with this number, and starts again at the first. */
export type Ground = { folder: string; url: string; host?: string; machines?: readonly Machine[]; env?: Env }

export type Scenario = {
  apps: App[]
  client: Client
  senders: Sender[]
  /** A further process, e.g. a separate engine. */
  app(options: { only?: 'http' | 'engine'; env?: Env; start?: false }): Promise<App>
  /** Resolves when no message of this scenario is waiting; endpoints may be. */
  drained(seconds?: number): Promise<boolean>
  /** What the checker tolerates. */
  allow: { extra: number; killed: boolean; waiting: boolean; otherCounts: boolean }
  /** Messages that have arrived since the scenario began; SMPP messages have no id and are found by their token. */
  arrivals(): Arrival[]
  arrivalsOf(id: string): number
  /** A further service. One that is `outside` is not checked at the end: it only generates load. */
  sender(options?: Limits & { isOutside?: boolean }): Promise<Sender>
}

type Limits = { email_daily_limit?: number; rate_limit?: number }

/** `given`: a folder that the caller removes, and settings of PostgreSQL. */
export async function createEnvironment(
  random: Random,
  isLong: boolean,
  given?: { folder: string; postgres: Record<string, string> },
): Promise<Environment> {
  const folder = given?.folder ?? mkdtempSync(join(tmpdir(), 'hf-'))
  chmodSync(folder, 0o711)
  const database = await createServer(folder, given?.postgres)
  const harness = await createHarness(random, isLong, { folder, url: database.url })
  const kill = () => {
    harness.totals.kills = (harness.totals.kills ?? 0) + 1
  }
  return {
    ...harness,
    database: {
      ...database,
      async kill() {
        kill()
        await database.kill()
      },
      async abort() {
        kill()
        await database.abort()
      },
    },
    async stop() {
      await harness.stop()
      await database.stop()
      if (!given) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function createHarness(random: Random, isLong: boolean, ground: Ground): Promise<Harness> {
  const { folder, host = '127.0.0.1', machines = [] } = ground
  const sink = await createSink(folder, host)
  const common: Env = {
    DATABASE_URL: ground.url,
    HERALD_DATA: folder,
    HERALD_SECRET: 'the secret that all processes of the harness share',
    HERALD_DATABASE_CONNECTIONS: '6',
    HERALD_LEASE_SECONDS: String(LEASE_SECONDS),
    HERALD_LOG_LEVEL: 'warn',
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SMTP_URL: `smtp://${host}:${sink.smtpPort}`,
    HERALD_SMTP_TLS: 'never',
    HERALD_TEXT_PROVIDERS: 'http',
    HERALD_HTTP_SMS_URL: `http://${host}:${sink.httpPort}/sms`,
    HERALD_HTTP_SMS_BODY: '{"to":"{to}","text":"{text}","id":"{id}"}',
    HERALD_HTTP_SMS_REF_PATH: 'ref',
    HERALD_HTTP_SMS_RECEIPT_SECRET: RECEIPT_SECRET,
    ...ground.env,
  }
  // The checker runs more concurrent requests than any caller.
  const store = await openStore(readConfig({ ...common, HERALD_DATABASE_SECONDS: '60' }), { make: true })
  const totals: Record<string, number> = {}
  const add = (name: string, count: number) => {
    totals[name] = (totals[name] ?? 0) + count
  }
  let made = 0

  async function scenario<T>(wanted: Wanted, tell: (scenario: Scenario) => Promise<T>) {
    const deaths: Death[] = []
    const senders = await Promise.all(Array.from({ length: wanted.services ?? 2 }, () => makeSender(store, {})))
    const services = senders.map(sender => sender.service)
    const sender: Scenario['sender'] = async ({ isOutside, ...limits } = {}) => {
      const one = await makeSender(store, limits)
      if (!isOutside) services.push(one.service)
      senders.push(one)
      return one
    }
    const apps: App[] = []
    let placed = 0
    const app: Scenario['app'] = async ({ only, env = {}, start }) => {
      const machine = machines[placed++ % machines.length]
      const one = await createApp(`app${++made}`, {
        folder,
        deaths,
        env: { ...common, ...wanted.env, ...env },
        ...(only && { only }),
        ...(machine && { machine }),
      })
      apps.push(one)
      if (start !== false) await one.start()
      return one
    }
    const client = createClient(
      () => apps.filter(one => one.isUp() && one.answers).map(one => one.address),
      wanted.sockets ? { sockets: wanted.sockets } : {},
    )
    const allow = { extra: 0, killed: false, waiting: false, otherCounts: false }
    const drained = async (seconds = 60) => {
      for (const until = performance.now() + seconds * 1000; performance.now() < until; await sleep(100))
        if ((await waitingOf(store, services).catch(() => 1)) === 0) return true
      return false
    }
    const first = sink.arrivals().length
    const arrivals = () => {
      const ids = new Map(client.answers.map(answer => [answer.token, answer.id ?? '']))
      return sink
        .arrivals()
        .slice(first)
        .map(one => (one.id === '' ? { ...one, id: ids.get(one.token) ?? '' } : one))
    }
    const arrivalsOf = (id: string) => sink.arrivals().filter(arrival => arrival.id === id).length
    try {
      await Promise.all(Array.from({ length: wanted.apps }, () => app(wanted.only ? { only: wanted.only } : {})))
      const result = await tell({ apps, client, senders, sender, app, drained, allow, arrivals, arrivalsOf })
      const isDrained = allow.waiting || (await drained())
      const checked = await check(store.db.sql, {
        services,
        // Services outside are measured, not checked: the block deletes what they left.
        answers: client.answers.filter(one => services.includes(one.sender.service)),
        jobs: client.jobs,
        refusals: client.refusals,
        arrivals: arrivals(),
        deaths,
        logs: [...apps.map(one => one.log()), ...(await metricsOf(apps))],
        secrets: senders.flatMap(one => [one.key, one.testKey]),
        mostExtra: allow.extra,
        killed: allow.killed,
        drained: !allow.waiting,
        isCounted: !allow.otherCounts,
      })
      for (const [name, count] of Object.entries(checked.counts)) add(name, count)
      add('kills', deaths.filter(death => death.signal === 'SIGKILL').length)
      add('fivexx', client.faults())
      if (!isDrained) checked.violations.push('still waiting after a minute')
      return { ...result, ...checked }
    } finally {
      await Promise.all(apps.map(one => one.end()))
      await sink.set({ smtp: 'ok', http: 'ok', scanner: 'ok', delayMs: 0, rules: [], receipts: null })
    }
  }

  return {
    sink,
    store,
    random,
    isLong,
    totals,
    tryStart: env => tryStart({ ...common, ...env }),
    scenario,
    async stop() {
      await store.stop()
      await sink.stop()
    },
  }
}

async function waitingOf(store: Store, services: readonly string[]): Promise<number> {
  const [row] = await store.db.sql<{ tickets: number }>`
    select count(*)::integer as tickets
    from tickets
    where (service_id = any (${services}::uuid[]) and lane <> 'webhooks') or lane = 'receipt'`
  return row?.tickets ?? 0
}

let names = 0

async function metricsOf(apps: readonly App[]): Promise<string[]> {
  const asked = apps
    .filter(one => one.isUp() && one.answers)
    .map(one => fetch(`${one.address}/metrics`).then(reply => reply.text()))
  return (await Promise.allSettled(asked)).map(one => (one.status === 'fulfilled' ? one.value : ''))
}

export const OPERATOR = { kind: 'operator', name: 'faults' } as const

async function makeSender(store: Store, limits: Limits): Promise<Sender> {
  const name = `Faults ${++names}`
  const { id } = await createService(store, OPERATOR, { name, mode: 'live' })
  const service = await change(store, OPERATOR, id, {
    name,
    email_daily_limit: UNLIMITED,
    sms_daily_limit: UNLIMITED,
    rate_limit: UNLIMITED,
    may_send_files: true,
    ...limits,
  })
  await addOrigin(store, OPERATOR, 'sender', id, { value: '+16135550100', makeDefault: true })
  const key = async (key_type: 'normal' | 'test') =>
    (await createKey(store, OPERATOR, service, { name: key_type, key_type, manage_templates: false })).key
  const template = async (type: 'email' | 'sms', category: string) => {
    const shape = {
      name: `${type} ${category}`,
      template_type: type,
      subject: 'Message ((token))',
      content: 'This is ((token)).',
    }
    return (await createTemplate(store, OPERATOR, service, { ...shape, template_category_id: category })).id
  }
  return {
    service: id,
    key: await key('normal'),
    testKey: await key('test'),
    templates: {
      email: await template('email', CATEGORY.general),
      sms: await template('sms', CATEGORY.general),
      urgent: await template('email', CATEGORY.urgent),
      medium: await template('email', CATEGORY.medium),
    },
  }
}
