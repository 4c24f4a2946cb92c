// Builds every part once, in order, passes it down, and stops in reverse.

import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { type AddressInfo, createServer as createProbe } from 'node:net'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from './address.ts'
import { createBulkThread } from './bulk/thread.ts'
import { channelNames } from './channels/index.ts'
import { envFilePlaces } from './config/env-file.ts'
import { captureProblems, channelsOff, providersInUse } from './config/in-use.ts'
import { type Config, ConfigProblems } from './config/index.ts'
import { type Clock, createClock } from './core/clock.ts'
import { createIds } from './core/id.ts'
import { createSeal } from './core/seal.ts'
import { followDatabase } from './db/clock.ts'
import { type Connection, connect, type Database } from './db/connect.ts'
import { startEmbedded } from './db/embedded.ts'
import { choosePlace } from './db/embedded-place.ts'
import { createListener } from './db/listen.ts'
import { isMigrated, migrate, serverVersion, unsafeSettings } from './db/migrate.ts'
import { checkSeal, secretFile, secretIn } from './db/seal.ts'
import { createDispatcher, createFilePlace, createProviders, startDelivery } from './delivery.ts'
import { measureQueue } from './figures.ts'
import { answerOf, refusalOf } from './http/errors.ts'
import { createLinks } from './http/links.ts'
import { createServer } from './http/server.ts'
import { createInbox } from './inbox/inbox.ts'
import { createAuthenticate } from './keys/authenticate.ts'
import { serviceOf } from './keys/hook.ts'
import { resealKeys } from './keys/reseal.ts'
import { createReads } from './limits/reads.ts'
import { dropFutureRequests } from './limits/sql/rates.ts'
import { createAccept, type Dispatcher } from './notifications/accept.ts'
import { makePartitions } from './notifications/partitions.ts'
import { currentOperator } from './operator.ts'
import type { Parts, Store } from './parts.ts'
import { HOLD_CHANNEL, instanceOf, recogniseCopy, watchHold } from './queue/hold.ts'
import { createWaker, WAKE_CHANNEL } from './queue/wake.ts'
import { createAcceptReceipts } from './receipts/accept.ts'
import { homePlan } from './recipients/plans.ts'
import { createRenderThread } from './rendering/thread.ts'
import { createReplays } from './replays/replay.ts'
import { addRoutes } from './routes.ts'
import { createLifetime, type Lifetime, stopAll } from './runtime/lifetime.ts'
import { within } from './runtime/within.ts'
import { makeFirstSample, type Sample, type SampleKeys } from './sample.ts'
import { HELD_LANES, IDENTITY_TABLES } from './sending.ts'
import { loggable } from './sentences.ts'
import { createServices } from './services/load.ts'
import { createSimulated } from './services/simulated.ts'
import { armCrashPoints } from './telemetry/crash.ts'
import { boundConnections } from './telemetry/descriptors.ts'
import { faultOf } from './telemetry/fault.ts'
import { createLog, createRequestLog, type Log } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { type About, createReadiness } from './telemetry/routes.ts'
import { createWatch } from './telemetry/watch.ts'
import { createTemplates } from './templates/cache.ts'

/** `address` is the public one; `port` is where it listens; `sample` is the sample service that this start created. */
export type Running = { address: string; port: number; parts: Parts; sample: Sample | null; stop(): Promise<void> }

type Say = (line: string) => void

/**
 * Only a start creates a database and its secret. A command that finds none was most likely run without the settings of the
 * service.
 */
export class NothingHere extends Error {
  constructor(what: string, { envFile }: Config) {
    const files = envFile
      ? `the environment and ${envFile}`
      : `the environment; there is no ${envFilePlaces().join(' or ')}`
    super(
      [
        what,
        `Only herald start makes one. Settings were looked for in ${files}.`,
        'Run the command with the settings of the service: DATABASE_URL or HERALD_DATA, and HERALD_SECRET where it is set, or a settings file (HERALD_ENV_FILE).',
      ].join('\n'),
    )
    this.name = 'NothingHere'
  }
}

type Opening = { say?: Say; clock?: Clock; log?: Log; signal?: AbortSignal; make?: boolean }
type Opened = { db: Database; revive(): Promise<void> } & Pick<Lifetime, 'stop' | 'fail'>

/** Opens the database and checks its durability. `make`: creates an embedded database that does not exist. */
export async function openDatabase(
  config: Config,
  { say = () => {}, clock = createClock(), log, signal, make = false }: Opening = {},
): Promise<Opened> {
  if (!make && !config.databaseUrl) {
    const place = choosePlace(join(config.dataFolder, 'postgres'), () => {})
    if (!existsSync(join(place, 'data')))
      throw new NothingHere(
        `There is no database in ${place}, where HERALD_DATA and its default ./data lead to.`,
        config,
      )
  }
  const embedded = config.databaseUrl ? null : await startOwn(config, say, signal)
  const servers = embedded ? [embedded] : []
  const connection: Connection = config.databaseUrl
    ? { url: config.databaseUrl }
    : (embedded as NonNullable<typeof embedded>)
  const db = connect(connection, {
    size: config.databaseConnections,
    name: 'herald',
    statementSeconds: config.databaseSeconds,
    onIdleError: error => log?.warn({ error: faultOf(error) }, 'an idle database connection was lost'),
  })
  const lifetime = createLifetime()
  lifetime.add(() => stopAll(servers.map(server => server.stop)))
  lifetime.add(() => within(DATABASE_STOP_MS, db.stop(), 'A statement in the database did not end in time.'))
  try {
    await checkDatabase(config, db)
    await followDatabase(db.sql, clock)
  } catch (error) {
    return await lifetime.fail(error)
  }
  const revive = async () => {
    if (!embedded) return
    const server = await startOwn(config, say)
    // The database was only slow: it must be registered as used once, not twice.
    if (servers.some(known => known.pid === server.pid)) await server.stop()
    else servers.push(server)
  }
  return { db, revive, stop: lifetime.stop, fail: lifetime.fail }
}

/** Opens the database, checks its durability and its sealing secret, and migrates it. */
export async function openStore(
  config: Config,
  { migrate: wanted = true, ...opening }: Opening & { migrate?: boolean } = {},
): Promise<Store> {
  const { say = () => {}, clock = createClock(), signal, make = false } = opening
  const { db, revive, stop, fail } = await openDatabase(config, { ...opening, clock })
  // Statements in progress fail when the embedded database stops; in an external database they end by their timeout.
  const abort = () => void stop().catch(() => {}) // reported by the stop that follows
  signal?.addEventListener('abort', abort)
  try {
    signal?.throwIfAborted()
    if (!make) await checkMade(config, db)
    if (wanted) for (const step of await migrate(db)) say(`migrated: ${step}`)
    const secrets = [config.sealSecret ?? secretIn(config.dataFolder), ...config.oldSealSecrets]
    const seal = createSeal(secrets)
    if (wanted) {
      await checkSeal(db.sql, seal)
      await recogniseCopy(db.sql, IDENTITY_TABLES)
      await makePartitions(db, clock)
      await resealKeys({ sql: db.sql, seal })
    }
    signal?.throwIfAborted()
    return { config, db, clock, ids: createIds(clock), seal, secrets, revive, stop }
  } catch (error) {
    return await fail(error)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

async function checkMade(config: Config, db: Database) {
  const secret = secretFile(config.dataFolder)
  if (config.sealSecret === null && !existsSync(secret))
    throw new NothingHere(`There is no sealing secret: HERALD_SECRET is not set, and ${secret} is not there.`, config)
  if (!(await isMigrated(db.sql)))
    throw new NothingHere(
      `The database ${config.databaseUrl ? 'that DATABASE_URL names' : `in ${config.dataFolder}`} is empty: no Herald has started on it.`,
      config,
    )
}

const DATABASE_STOP_MS = 3_000

function startOwn(config: Config, say: Say, signal?: AbortSignal) {
  // Others may traverse the folder but not list it: as root, the database below belongs to another user.
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o711 })
  return startEmbedded(join(config.dataFolder, 'postgres'), { say, ...(signal && { signal }) })
}

const OLDEST_POSTGRES = 15

async function checkDatabase(config: Config, db: Database) {
  const version = await serverVersion(db.sql)
  if (version < OLDEST_POSTGRES)
    throw new Error(`This is PostgreSQL ${version}; Herald needs ${OLDEST_POSTGRES} or newer.`)
  const unsafe = await unsafeSettings(db.sql)
  if (unsafe.length > 0 && !config.allowUnsafeDatabase)
    throw new Error(
      `This database may lose messages after it has accepted them: ${unsafe.join(', ')} ${unsafe.length === 1 ? 'is' : 'are'} off. Switch on, or set HERALD_ALLOW_UNSAFE_DATABASE=true for a test.`,
    )
}

/**
 * Runs the service: HTTP and the engine in one process, or one of them. A failed start has run every stop step. When the signal
 * aborts a start, it ends at its next step in the same way.
 */
export async function start(
  config: Config,
  {
    only,
    say = () => {},
    clock = createClock(),
    sampleKeys = 'test',
    signal,
  }: { only?: 'http' | 'engine'; say?: Say; clock?: Clock; sampleKeys?: SampleKeys; signal?: AbortSignal } = {},
): Promise<Running> {
  const problems = captureProblems(config, only ?? 'all')
  if (problems.length > 0) throw new ConfigProblems(problems)
  const log = createLog(config.logLevel)
  armCrashPoints(config.crashPoints)
  if (config.crashPoints.length > 0) log.warn('crash points are armed: this process is meant to end')
  // Before the database: a start that cannot listen changes nothing.
  const port = only === 'engine' ? config.metricsPort : config.port
  if (port) await checkPort(config.host, port)
  const lifetime = createLifetime(signal)
  const { stop } = lifetime
  const store = await openStore(config, { say, clock, log, make: true, signal: lifetime.signal })
  try {
    lifetime.add(store.stop)
    const { db, seal } = store
    const onFault = (error: unknown) => log.warn({ error: faultOf(error) }, 'a side task failed')
    const services = createServices(db.sql, clock, { ...config, off: channelsOff(config) })
    const authenticate = createAuthenticate({
      sql: db.sql,
      clock,
      seal,
      services,
      keyPrefix: config.keyPrefix,
      onFault,
    })
    const templates = createTemplates(db.sql, clock)
    const forget = () => {
      services.clear()
      authenticate.clear()
      templates.clear()
    }
    const listener = await createListener(db, { onDown: forget, onUp: forget })
    lifetime.add(() => listener.stop())
    await listener.on('herald_changes', service => {
      services.drop(service)
      authenticate.drop(service)
      templates.drop(service)
    })

    const metrics = createMetrics(channelNames)
    metrics.gauge('herald_database_connections', 'Connections to the database.', () => db.load().total)
    metrics.gauge('herald_database_waiting', 'Statements waiting for a connection.', () => db.load().waiting)
    const follower = createFollower(db, clock, log, metrics)
    // An embedded database that was killed is restarted by the first process that notices.
    const readiness = createReadiness(() =>
      follower.follow().catch(async error => {
        await store.revive()
        throw error
      }),
    )
    lifetime.add(() => readiness.stop())
    metrics.gauge('herald_database_up', 'Whether the database answers.', () => (readiness.isReady() ? 1 : 0))
    measureQueue(metrics, db.sql)

    const hold = await watchHold(db.sql, HELD_LANES, onFault)
    lifetime.add(() => hold.stop())
    await listener.on(HOLD_CHANNEL, () => void hold.look().catch(onFault))
    metrics.gauge('herald_held', '1 while sending is paused until an operator releases it.', () =>
      hold.isHeld() ? 1 : 0,
    )
    if (hold.isHeld()) {
      log.warn('sending is held until an operator releases it')
      say(HELD)
    }

    const renderThread = createRenderThread()
    lifetime.add(() => renderThread.stop())
    const { sendingDomain } = config
    const inbox = createInbox({ sql: db.sql, seal, services, templates, renderThread, sendingDomain })
    const files = createFilePlace(store, log)
    lifetime.add(() => files.stop())
    const given = { services, templates, inbox, files, renderThread, hold, metrics, log }
    // Receipts may arrive as soon as a provider is connected; they wait until their consumer is ready.
    let dispatcher: Dispatcher | null = null
    const hearReceipts = createAcceptReceipts({
      sql: db.sql,
      ids: store.ids,
      seal: store.seal,
      dispatcher: () => dispatcher,
      onFault: (error, sentence) => log.error({ error: faultOf(error) }, sentence),
    })
    const providers = createProviders(store, given, { sends: only !== 'http', accept: hearReceipts, now: clock.now })
    lifetime.add(() => providers.stop())
    const engine = only === 'http' ? null : startDelivery(store, given, providers, lifetime)
    dispatcher = createDispatcher(engine, config.leaseSeconds, createWaker(db.sql, onFault))
    if (engine) await listener.on(WAKE_CHANNEL, lane => engine.wake(lane))

    const bulkThread = createBulkThread()
    lifetime.add(() => bulkThread.stop())
    const reads = createReads({ sql: db.sql, connections: config.databaseConnections, limit: config.readLimit })
    metrics.gauge('herald_reads_waiting', 'Reads waiting for admission.', reads.waiting)
    let draining = false
    const parts: Parts = {
      ...store,
      log,
      metrics,
      services,
      authenticate,
      templates,
      inbox,
      webhookEndpoints: [...providers.email, ...providers.sms].flatMap(provider => provider.webhook ?? []),
      hearReceipts,
      replays: createReplays({ sql: db.sql, seal }),
      reads,
      simulated: createSimulated(config.sendingDomain, config.simulatedRecipients, homePlan(config.homeCountry)),
      dispatcher,
      bulkThread,
      renderThread,
      files,
      accept: createAccept({
        db,
        clock,
        dispatcher,
        patienceSeconds: config.databaseSeconds - 0.5,
        followClock: follower.follow,
      }),
      links: createLinks(config.baseUrl),
      sendingDomain: config.sendingDomain,
      readiness,
      about: aboutOf(config, await instanceOf(db.sql)),
      isDraining: () => draining,
    }
    if (only === 'engine') {
      if (config.metricsPort !== null) {
        const watch = await createWatch({ host: config.host, port: config.metricsPort }, parts)
        lifetime.add(() => watch.stop())
      }
      return { address: '', port: 0, parts, sample: null, stop }
    }

    const server = createServer({
      ...config,
      log,
      answered: answeredBy(parts),
      ownerOf: serviceOf,
    })
    boundConnections(server.app.server, parts)
    addRoutes(server.app, parts)
    lifetime.add(async () => {
      draining = true
      await server.drain()
    })
    await server.app.listen({ host: config.host, port: config.port })
    const { port } = server.app.server.address() as AddressInfo
    const address = addressOf({ ...config, port })
    // An external database gets no sample service.
    const sample = config.databaseUrl ? null : await makeFirstSample(store, currentOperator(), sampleKeys)
    signal?.throwIfAborted()
    return { address, port, parts, sample, stop }
  } catch (error) {
    return await lifetime.fail(error)
  }
}

/** Rejects when the service cannot listen on the port. */
async function checkPort(host: string, port: number): Promise<void> {
  const probe = createProbe()
  probe.listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

const HELD =
  'Nothing is sent: this database is held, as a restored copy is at first. See what waits with herald held, then decide with' +
  ' herald release (docs/running.md, Backups).'

function aboutOf(config: Config, instance: string | null): About {
  const channels = providersInUse(config)
  return {
    instance: instance ?? '',
    providers: Object.fromEntries(channels.map(({ channel, providers }) => [channel, providers])),
    details: channels.map(({ sentence }) => sentence),
  }
}

// After a step of the database clock: partitions for the new time are created, then the process clock follows, and requests that
// were counted in the future are removed from the rate limits.
function createFollower(db: Database, clock: Clock, log: Log, metrics: Metrics) {
  let steps = 0
  let isSettled = true
  metrics.gauge('herald_clock_steps', 'How often the clock of the database was set by more than 2 s.', () => steps)
  return {
    async follow() {
      const step = await followDatabase(db.sql, clock, there => makePartitions(db, { micros: () => there * 1000 }))
      if (step !== 0) {
        steps++
        isSettled = false
        log.warn({ seconds: Math.round(step / 100) / 10 }, 'the clock of the database was set: ours follows it')
      }
      if (isSettled) return
      await dropFutureRequests(db.sql)
      isSettled = true
    },
  }
}

// The request log and its metric: route, caller, status and duration. No address, no value, no key.
function answeredBy({ log, metrics }: Pick<Parts, 'log' | 'metrics'>) {
  const requestLog = createRequestLog(log)
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { id, method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    const route = routeOptions.url ?? 'unknown'
    const refusal = refusalOf(reply)
    const limit = LIMITS[refusal?.kind ?? '']
    if (limit) metrics.limited.inc({ limit })
    metrics.requests.observe({ method, route, status }, elapsedTime / 1000)
    requestLog({
      request: id,
      method,
      route,
      status,
      ms: Math.round(elapsedTime * 10) / 10,
      service: serviceOf(request),
      made: request.made,
      error: refusal && answerOf(refusal.kind)[1],
      reason: refusal ? loggable(refusal.messages) : null,
    })
  }
}

const LIMITS: Readonly<Record<string, string>> = { RateLimitError: 'rate', TooManyRequestsError: 'daily' }
