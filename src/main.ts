// Builds every part once, in order, passes it down, and stops in reverse.
import { once } from 'node:events'
import { type AddressInfo, createServer as createProbe } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { addressOf } from './address.ts'
import { createBulkThread } from './bulk/thread.ts'
import { channelNames } from './channels/plain.ts'
import { captureProblems, channelsOff, providersInUse } from './config/in-use.ts'
import { type Config, ConfigProblems } from './config/index.ts'
import { addConsole } from './console/serve/index.ts'
import { type Clock, createClock } from './core/clock.ts'
import type { Id } from './core/id.ts'
import { createFollower } from './database-clock.ts'
import { createListener } from './db/listen.ts'
import { createPatient } from './db/patience.ts'
import { unmetReplication } from './db/replication.ts'
import { createDispatcher, createFilePlace, createProviders, type Delivery, startDelivery } from './delivery.ts'
import { createEventHints } from './events/hints.ts'
import { measureHorizon } from './events/measure.ts'
import { EVENTS_CHANNEL } from './events/sql.ts'
import { createWaits } from './feed/waits.ts'
import { measureBackups, measureQueue, measureReplication } from './figures.ts'
import { createLinks } from './http/links.ts'
import { createServer } from './http/server.ts'
import { createInbox } from './inbox/inbox.ts'
import { createInboxWaits } from './inbox/waits.ts'
import { type Heartbeat, startHeartbeat } from './installation/heartbeat.ts'
import { checkFileStore } from './installation/installation.ts'
import { TESTS_CHANNEL } from './installation/sql/tests.ts'
import { createTestTaker } from './installation/take-tests.ts'
import { createAuthenticate } from './keys/authenticate.ts'
import { serviceOf } from './keys/hook.ts'
import { createReads } from './limits/reads.ts'
import { createAccept, type Dispatcher } from './notifications/accept.ts'
import { currentOperator } from './operator.ts'
import type { Parts, Store } from './parts.ts'
import { createOidcClient } from './people/oidc.ts'
import type { Link } from './processes/link.ts'
import { HOLD_CHANNEL, instanceOf, watchHold } from './queue/hold.ts'
import { createWaker, WAKE_CHANNEL } from './queue/wake.ts'
import { createAcceptReceipts } from './receipts/accept.ts'
import { homePlan } from './recipients/plans.ts'
import { createRenderThread } from './rendering/thread.ts'
import { createReplays } from './replays/replay.ts'
import { answeredBy } from './request-log.ts'
import { createRequestBuffer } from './requests/buffer.ts'
import { addPlain, addRoutes } from './routes.ts'
import { createLifetime, stopTogether } from './runtime/lifetime.ts'
import { makeFirstSample, type Sample, type SampleKeys } from './sample.ts'
import { HELD_LANES } from './sending.ts'
import { createServices } from './services/load.ts'
import { createSimulated } from './services/simulated.ts'
import { createSheetReading } from './sheets/reading.ts'
import { openStore, type Say } from './store.ts'
import { openTelemetry } from './telemetry/collector.ts'
import { armCrashPoints } from './telemetry/crash.ts'
import { boundConnections, mostWaiting } from './telemetry/descriptors.ts'
import { faultOf } from './telemetry/fault.ts'
import { type HealthListener, startHealth, TELL_EVERY_MS } from './telemetry/health.ts'
import { createLog, createNote, type Log } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'
import {
  type About,
  createMetricsPage,
  createReadiness,
  DATABASE_MISSING,
  NotReady,
  readyAnswer,
} from './telemetry/routes.ts'
import { createWatch } from './telemetry/watch.ts'
import { createTemplates } from './templates/cache.ts'
import { createReportThread } from './timeline/thread.ts'
import { heraldVersion } from './version.ts'
import { createTest } from './webhooks/test.ts'

/**
 * `address` is the public one; `port` is where it listens; `console` is the address of the console, null when it is switched off;
 * `sample` is the sample service that this start created.
 */
export type Running = {
  address: string
  port: number
  console: string | null
  consolePort: number
  /** Null: no HERALD_HEALTH_PORT, or the supervisor listens on it. */
  healthPort: number | null
  parts: Parts
  sample: Sample | null
  stop(): Promise<void>
}

/** What a start prints about, also one of several processes. */
export type Started = Pick<Running, 'address' | 'port' | 'console' | 'sample' | 'stop'> & {
  parts: Omit<Store, 'stop' | 'revive'>
}

/**
 * Runs the service: HTTP and the engine in one process, or one of them. A failed start has run every stop step. When the signal
 * aborts a start, it ends at its next step in the same way. `supervised`: one of several processes on one port (supervisor.ts), which
 * has checked the port, prepared the database and makes the sample.
 */
export async function start(
  config: Config,
  {
    only,
    say = () => {},
    clock = createClock(),
    sampleKeys = 'test',
    signal,
    supervised,
  }: {
    only?: 'http' | 'engine'
    say?: Say
    clock?: Clock
    sampleKeys?: SampleKeys
    signal?: AbortSignal
    supervised?: Pick<Link, 'metricsOfAll' | 'tellHealth'>
  } = {},
): Promise<Running> {
  refuseContradictions(config, only)
  const name = config.processName ?? hostname()
  const log = createLog(config.logLevel, name)
  armCrashPoints(config.crashPoints)
  if (config.crashPoints.length > 0) log.warn('crash points are armed: this process is meant to end')
  // Before the database: a start that cannot listen changes nothing.
  if (!supervised) await checkPorts(config, only)
  const lifetime = createLifetime(signal)
  const { stop } = lifetime
  const store = await openStore(config, { say, clock, log, make: true, migrate: !supervised, signal: lifetime.signal })
  try {
    lifetime.add(store.stop)
    const { db, seal } = store
    // For requests. The engine repeats its own work.
    const patient = createPatient(db, config.databaseSeconds - 0.5)
    const onFault = (error: unknown) => log.warn({ error: faultOf(error) }, 'a side task failed')
    const services = createServices(patient.sql, clock, { ...config, off: channelsOff(config) })
    const authenticate = createAuthenticate({
      sql: patient.sql,
      clock,
      seal,
      services,
      keyPrefix: config.keyPrefix,
      onFault,
    })
    const templates = createTemplates(patient.sql, clock)
    const forget = () => {
      services.clear()
      authenticate.clear()
      templates.clear()
    }
    let heartbeat: Heartbeat | null = null
    let engine: Delivery | null = null
    const onUp = () => {
      forget()
      // After an outage the last one may be so old that this process seems not to run.
      void heartbeat?.beat().catch(onFault)
      void engine?.serviceChanged().catch(onFault)
    }
    const listener = await createListener(db, { onDown: forget, onUp })
    lifetime.add(() => listener.stop())
    await listener.on('herald_changes', service => {
      services.drop(service)
      authenticate.drop(service)
      templates.drop(service)
      void engine?.serviceChanged(service as Id).catch(onFault)
    })

    const own = createMetrics(channelNames, supervised && name)
    const metrics = supervised ? { ...own, text: () => supervised.metricsOfAll(own.text) } : own
    const { trace, ...collector } = await openTelemetry(config, { metrics: own, name, version: heraldVersion(), log })
    lifetime.add(collector.stop)
    metrics.gauge('herald_database_connections', 'Connections to the database.', () => db.load().total)
    metrics.gauge('herald_database_waiting', 'Statements waiting for a connection.', () => db.load().waiting)
    const follower = createFollower(db, clock, log, metrics)
    // An embedded database that was killed is restarted by the first process that notices.
    const readiness = createReadiness(async () => {
      await follower.follow().catch(async error => {
        await store.revive()
        throw error
      })
      const unmet = await unmetReplication(db.sql, config.replication)
      if (unmet) throw new NotReady(`not replicated: ${unmet.found}`)
    })
    lifetime.add(() => readiness.stop())
    metrics.gauge(
      'herald_database_up',
      'Whether the database answers.',
      () => (readiness.missing() === DATABASE_MISSING ? 0 : 1),
      'min',
    )
    measureQueue(metrics, db.sql)
    measureReplication(metrics, db.sql, config)
    measureBackups(metrics, config, clock)
    measureHorizon(metrics, db.sql)

    const hold = await watchHold(db.sql, HELD_LANES, onFault)
    lifetime.add(() => hold.stop())
    await listener.on(HOLD_CHANNEL, () => void hold.look().catch(onFault))
    metrics.gauge(
      'herald_held',
      '1 while sending is paused until an operator releases it.',
      () => (hold.isHeld() ? 1 : 0),
      'max',
    )
    if (hold.isHeld()) {
      log.warn('sending is held until an operator releases it')
      say(HELD)
    }

    // Stopped last but the database: a process that stops is shown until nothing of it is in flight.
    const self = aboutProcess(store.ids.next(), name, only)
    metrics.gauges('herald_process_info', 'Name and version of this process, and what it runs: always 1.', INFO, () => [
      [{ name, version: self.version, runs: self.runs.join(' ') }, 1],
    ])
    const ownHeartbeat = startHeartbeat({ sql: db.sql, clock, onFault }, self, () => engine)
    heartbeat = ownHeartbeat
    lifetime.add(ownHeartbeat.stop)

    const hints = createEventHints(db.sql, onFault)
    await listener.on(EVENTS_CHANNEL, hints.hear)

    const renderThread = createRenderThread()
    lifetime.add(() => renderThread.stop())
    const { sendingDomain } = config
    const inbox = createInbox({ sql: patient.sql, seal, services, templates, renderThread, sendingDomain })
    const files = createFilePlace(store, log)
    lifetime.add(() => files.stop())
    await checkFileStore(db, files.store, error =>
      log.warn({ error: faultOf(error) }, 'the file store could not be compared with that of other machines'),
    )
    const note = createNote(log)
    const given = { services, templates, inbox, files, renderThread, hold, hints, metrics, log, trace, note }
    // Receipts may arrive as soon as a provider is connected; they wait until their consumer is ready.
    let dispatcher: Dispatcher | null = null
    const hearReceipts = createAcceptReceipts({
      sql: patient.sql,
      ids: store.ids,
      seal: store.seal,
      dispatcher: () => dispatcher,
      onFault: (error, sentence) => log.error({ error: faultOf(error) }, sentence),
    })
    const providers = await createProviders(store, given, {
      sends: only !== 'http',
      accept: hearReceipts,
      now: clock.now,
    })
    lifetime.add(() => providers.stop())
    const delivery = only === 'http' ? null : startDelivery(store, given, providers, self.id, lifetime)
    engine = delivery
    const waker = createWaker(db.sql, onFault)
    dispatcher = createDispatcher(delivery, config.leaseSeconds, waker.wake)
    await listener.on(WAKE_CHANNEL, delivery ? delivery.wake : waker.hear)
    if (delivery) {
      const { groups } = delivery
      const tests = createTestTaker({ sql: db.sql, seal, sendingDomain, hold, groups, process: self.name, onFault })
      lifetime.add(tests.stop)
      await listener.on(TESTS_CHANNEL, tests.look)
      // A provider can be tested as soon as the start says that it is done.
      await ownHeartbeat.beat().catch(onFault)
    }

    const bulkThread = createBulkThread()
    lifetime.add(() => bulkThread.stop())
    const sheets = createSheetReading({
      ...store,
      onFault: (error, sentence) => log.error({ error: faultOf(error) }, sentence),
    })
    lifetime.add(() => sheets.stop())
    const reportThread = createReportThread(store.secrets)
    lifetime.add(() => reportThread.stop())
    const reads = createReads({ sql: patient.sql, connections: config.databaseConnections, limit: config.readLimit })
    metrics.gauge('herald_reads_waiting', 'Reads waiting for admission.', reads.waiting)
    const waits = createWaits({ sql: db.sql, hints, onFault, most: mostWaiting() })
    metrics.gauge('herald_events_waiting', 'Requests waiting for events.', waits.waiting)
    const inboxWaits = createInboxWaits({ sql: db.sql, hints, onFault, most: mostWaiting() })
    metrics.gauge('herald_inbox_waiting', 'Requests waiting for a message in the inbox.', inboxWaits.waiting)
    // Stopped after the servers: their last requests are written.
    const requests = createRequestBuffer({
      ...{ sql: db.sql, ids: store.ids, onFault },
      onDropped: count => metrics.requestsDropped.inc(count),
    })
    lifetime.add(() => requests.stop())
    let draining = false
    const parts: Parts = {
      ...store,
      db: patient,
      log,
      metrics,
      figures: createMetricsPage(metrics, config.metricsToken),
      trace,
      note,
      hints,
      hold,
      services,
      authenticate,
      templates,
      inbox,
      inboxWaits,
      webhookEndpoints: [...providers.email, ...providers.sms].flatMap(provider => provider.webhook ?? []),
      hearReceipts,
      replays: createReplays({ sql: patient.sql, seal }),
      requests,
      reads,
      waits,
      simulated: createSimulated(config.sendingDomain, config.simulatedRecipients, homePlan(config.homeCountry)),
      testWebhook: createTest(store),
      dispatcher,
      bulkThread,
      sheets,
      reportThread,
      renderThread,
      files,
      accept: createAccept({
        db,
        trace,
        clock,
        dispatcher,
        timeoutSeconds: config.databaseSeconds - 0.5,
        mustReplicate: config.replication === 'required',
        followClock: follower.follow,
      }),
      links: createLinks(config.baseUrl),
      sendingDomain: config.sendingDomain,
      oidc: createOidcClient(config, clock),
      readiness,
      heartbeat: ownHeartbeat,
      about: aboutOf(config, await instanceOf(db.sql)),
      isDraining: () => draining,
    }
    let isOpen = only === 'engine'
    const health = await startProbes(config, parts, supervised, () => isOpen)
    if (health) lifetime.add(health.stop)
    if (only === 'engine') {
      if (config.metricsPort !== null) {
        const watch = await createWatch({ host: config.host, port: config.metricsPort }, parts)
        lifetime.add(() => watch.stop())
      }
      return {
        address: '',
        port: 0,
        console: null,
        consolePort: 0,
        healthPort: health?.port ?? null,
        parts,
        sample: null,
        stop,
      }
    }

    const serverOptions = { ...config, log, answered: answeredBy(parts), ownerOf: serviceOf }
    const server = createServer(serverOptions)
    // The console is on the same port, unless it has one of its own.
    const consoleServer = config.console && config.consolePort !== null ? createServer(serverOptions) : null
    const pages = config.console ? addConsole((consoleServer ?? server).app, parts) : null
    addRoutes(server.app, parts)
    addPlain(server.app, parts, pages && !consoleServer ? pages.path : '/docs')
    if (consoleServer && pages) addPlain(consoleServer.app, parts, pages.path)
    boundConnections(consoleServer ? [server.app.server, consoleServer.app.server] : [server.app.server], parts)
    lifetime.add(async () => {
      draining = true
      health?.tell()
      waits.stop()
      inboxWaits.stop()
      pages?.endStreams()
      await stopTogether([server.drain(), ...(consoleServer ? [consoleServer.drain()] : [])])
    })
    const port = await listen(server.app, config.host, config.port)
    const consolePort = consoleServer ? await listen(consoleServer.app, config.host, config.consolePort ?? 0) : port
    isOpen = true
    health?.tell()
    const address = addressOf({ ...config, port })
    const consoleAddress = pages ? addressOf({ ...config, port: consolePort }) + config.consolePath : null
    // An external database gets no sample service.
    const sample = config.databaseUrl || supervised ? null : await makeFirstSample(store, currentOperator(), sampleKeys)
    signal?.throwIfAborted()
    const healthPort = health?.port ?? null
    return { address, port, console: consoleAddress, consolePort, healthPort, parts, sample, stop }
  } catch (error) {
    return await lifetime.fail(error)
  }
}

/** Answers HERALD_HEALTH_PORT, or reports to the supervisor, which does. Returns null without such a port. */
async function startProbes(
  { host, healthPort }: Config,
  { readiness, about, isDraining, log }: Parts,
  supervised: Pick<Link, 'tellHealth'> | undefined,
  isOpen: () => boolean,
): Promise<(Pick<HealthListener, 'tell' | 'stop'> & { port: number | null }) | null> {
  if (healthPort === null) return null
  const state = () => readyAnswer(isOpen() ? readiness.missing() : 'starting', isDraining(), about)
  if (!supervised) return startHealth({ host, port: healthPort }, state, lostHealth(log))
  const tell = () => supervised.tellHealth(state())
  const timer = setInterval(tell, TELL_EVERY_MS).unref()
  tell()
  return { port: null, tell, stop: async () => clearInterval(timer) }
}

export const lostHealth = (log: Pick<Log, 'error'>) => (why: string) =>
  log.error({ why }, 'the thread for HERALD_HEALTH_PORT was lost and is started again')

export function refuseContradictions(config: Config, only: 'http' | 'engine' | undefined): void {
  const problems = captureProblems(config, only ?? 'all')
  if (problems.length > 0) throw new ConfigProblems(problems)
}

/** Returns the port; of 0, the one that was free. */
async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  await app.listen({ host, port })
  return (app.server.address() as AddressInfo).port
}

/** Rejects when the service cannot listen on its ports. */
export async function checkPorts(config: Config, only: 'http' | 'engine' | undefined): Promise<void> {
  const port = only === 'engine' ? config.metricsPort : config.port
  if (port) await checkPort(config.host, port)
  if (config.healthPort) await checkPort(config.host, config.healthPort)
  if (only !== 'engine' && config.console && config.consolePort) await checkPort(config.host, config.consolePort)
}

async function checkPort(host: string, port: number): Promise<void> {
  const probe = createProbe()
  probe.listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

export const HELD =
  'Nothing is sent: this database is held, as a restored copy is at first. See what waits with herald held, then resume with' +
  ' herald release --all, or for a restored copy with herald release --cut-off TIME (docs/running.md, Backups).'

const INFO = ['name', 'version', 'runs'] as const

/** Several processes may have one name: on the system page, the process id makes them distinct. */
const aboutProcess = (id: Id, name: string, only: 'http' | 'engine' | undefined) => ({
  id,
  name: `${name}:${process.pid}`,
  version: heraldVersion(),
  runs: only ? [only] : (['http', 'engine'] as const).slice(),
})

function aboutOf(config: Config, instance: string | null): About {
  const channels = providersInUse(config)
  return {
    instance: instance ?? '',
    providers: Object.fromEntries(channels.map(({ channel, providers }) => [channel, providers])),
    details: channels.map(({ sentence }) => sentence),
  }
}
