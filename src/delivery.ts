// Builds the sending half of the service: providers, channels, the engine with its lanes, and maintenance.
import type { Id } from './core/id.ts'
import { createLeader, type Leader } from './engine/leader.ts'
import { measureEngine } from './engine/measure.ts'
import { createEngine, type Engine } from './engine/run.ts'
import type { EventHints } from './events/hints.ts'
import { fetchAttachments } from './files/fetch.ts'
import { createFiles, type Files } from './files/place.ts'
import type { Inbox } from './inbox/inbox.ts'
import { lanesOf, maintenanceOf } from './lanes.ts'
import { measureMaintenance } from './maintenance/measure.ts'
import { startMaintenance } from './maintenance/run.ts'
import type { Dispatcher } from './notifications/accept.ts'
import type { ProviderGroups } from './notifications/hand-over.ts'
import type { EngineParts, Store } from './parts.ts'
import { createProviderGroup, type ProviderGroup } from './providers/failover.ts'
import type { AcceptReceipts, Provider, Send } from './providers/port.ts'
import { createRegistry, type Registry } from './providers/registry.ts'
import { codeIn, replyClass } from './providers/reply-class.ts'
import { type Hold, heldBy } from './queue/hold.ts'
import { createPostgresTaker } from './queue/postgres.ts'
import type { RenderThread } from './rendering/thread.ts'
import { createBudget } from './runtime/budget.ts'
import { type Lifetime, stopTogether } from './runtime/lifetime.ts'
import { LANES_APART } from './sending.ts'
import type { Services } from './services/load.ts'
import { isActive } from './services/service.ts'
import { faultOf } from './telemetry/fault.ts'
import type { Log, Note } from './telemetry/log.ts'
import type { Metrics, OUTCOMES } from './telemetry/metrics.ts'
import type { Tracer } from './telemetry/trace.ts'
import type { Templates } from './templates/cache.ts'
import { createAddresses } from './webhooks/address.ts'
import { createWebhookMeter, measureWebhooks } from './webhooks/measure.ts'
import { createPoster } from './webhooks/post.ts'
import { startWebhookWatch } from './webhooks/watch.ts'

type Given = {
  services: Services
  templates: Templates
  inbox: Inbox
  files: Files
  renderThread: RenderThread
  hold: Hold
  hints: EventHints
  metrics: Metrics
  log: Log
  trace: Tracer | null
  note: Note
}

export function createProviders(
  { config, secrets }: Pick<Store, 'config' | 'secrets'>,
  { inbox, log }: Pick<Given, 'inbox' | 'log'>,
  { sends, accept, now }: { sends: boolean; accept: AcceptReceipts; now(): number },
): Promise<Registry> {
  const { sendingDomain, baseUrl } = config
  return createRegistry(config.providers, sends, {
    sendingDomain,
    baseUrl,
    secrets,
    world: { accept, now, warn: (fields, sentence) => log.warn(fields, sentence) },
    keep: inbox.keep,
  })
}

/** Memory for files that are being sent or scanned: four e-mails with 6 MiB of files at the same time. */
const OUTGOING_BYTES = 24 * 1024 * 1024

/** Large e-mails that are rendered and not yet handed over: each takes up to 30 MB. */
const LARGE_EMAILS = 4

export function createFilePlace({ config, db, clock }: Pick<Store, 'config' | 'db' | 'clock'>, log: Log): Files {
  const { s3Url: url, s3Bucket: bucket, s3Region: region, s3Key: key, s3Secret: secret } = config
  const s3 = url && bucket && key && secret ? { url, bucket, region, key, secret, now: clock.now } : null
  if (config.scanner === 'none') log.warn('files are not scanned for viruses: HERALD_SCANNER is none')
  return createFiles({ ...config, s3 }, db.sql, createBudget(OUTGOING_BYTES).take)
}

export type Delivery = Omit<Engine, 'stop'> & {
  owner: Id
  groups: ProviderGroups
  leadsMs: Leader['leadsMs']
  /** A service may have changed. If it is no longer active, what is loaded of it goes back: taken again, it fails. Absent: any service. */
  serviceChanged(service?: Id): Promise<void>
}

/** `owner`: the id of this process. Registers its stop steps, including those of parts that were started before a failure. */
export function startDelivery(store: Store, given: Given, registry: Registry, owner: Id, lifetime: Lifetime): Delivery {
  const { config, db } = store
  const { services, templates, inbox, files, renderThread, hold, hints, metrics, log, trace, note } = given
  const onFault = (error: unknown, sentence: string, fields?: Record<string, unknown>) => {
    metrics.faults.inc()
    log.error({ error: faultOf(error), ...fields }, sentence)
  }
  const onChange = (provider: string, isUp: boolean, detail: string, reason?: string) =>
    isUp
      ? log.info({ provider }, 'provider is up')
      : log.warn({ provider, code: codeIn(detail), ...(reason !== undefined && { reason }) }, 'provider is down')
  const largeRoom = createBudget(LARGE_EMAILS)
  const poster = createPoster({ addresses: createAddresses(config) })
  const group = <M extends { id: Id }>(channel: string, providers: readonly (Provider & { send: Send<M> })[]) =>
    counted(
      createProviderGroup<M>(
        providers.map(provider => ({ provider, send: trace ? traced(trace, provider) : provider.send })),
        onChange,
      ),
      outcome => metrics.sends.inc({ channel, outcome }),
    )
  const groups: ProviderGroups = { email: group('email', registry.email), sms: group('sms', registry.sms) }
  const parts: EngineParts = {
    ...store,
    services,
    templates,
    groups,
    files,
    fetchAttachments: message => {
      const onUnreadable = (error: unknown) =>
        log.warn({ message, error: faultOf(error) }, "a message's files could not be read; retrying")
      return fetchAttachments({ ...store, ...files, sql: db.sql, onUnreadable }, message)
    },
    noteInInbox: inbox.note,
    renderLarge: async (template, values) => {
      const release = await largeRoom.take(1)
      try {
        return { email: await renderThread.email(template, values), release }
      } catch (error) {
        release()
        throw error
      }
    },
    sendingDomain: config.sendingDomain,
    owner,
    hints,
    random: Math.random,
    poster,
    webhookMeter: createWebhookMeter(metrics, log),
    lookForWebhooks: (services, afterSeconds) => webhookWatch.look(services, afterSeconds),
    trace,
    note,
    onMailLost: () => metrics.mailsLost.inc(),
    wake: lane => engine.wake(lane),
    onFault,
  }
  const taker = heldBy(hold, createPostgresTaker(db.sql, owner, config.leaseSeconds, LANES_APART))
  const engine = createEngine({
    specs: lanesOf(parts),
    taker,
    leaseSeconds: config.leaseSeconds,
    trace,
    isShut: hold.isShut,
    onFault,
    onSetAside: lane => metrics.setAside.inc({ lane }),
  })
  hold.onHeld(() => engine.recall(({ lane }) => hold.isShut(lane)))
  lifetime.add(async () => {
    // Sends in progress may finish. A provider that hangs is stopped: after a last moment it answers that the outcome is
    // uncertain, which is recorded.
    poster.stop()
    const drained = engine.stop()
    const patience = new Promise(resume => setTimeout(resume, SENDS_END_MS).unref())
    await Promise.race([drained.catch(() => {}), patience])
    // A probe in progress ends with its provider.
    await stopTogether([drained, registry.stop(), ...Object.values(groups).map(group => group.stop())])
  })
  const webhookWatch = startWebhookWatch({ sql: db.sql, hints, wake: parts.wake, onFault })
  lifetime.add(webhookWatch.stop)
  // Maintenance has a connection pool of its own: its statements may take longer than those of requests, and never make a request
  // wait for a connection.
  const maintenanceDb = db.separate({
    size: 2,
    name: 'herald-maintenance',
    statementSeconds: MAINTENANCE_STATEMENT_SECONDS,
  })
  lifetime.add(maintenanceDb.stop)
  const leader = createLeader(db)
  lifetime.add(leader.stop)
  const tasks = maintenanceOf({ ...parts, db: maintenanceDb })
  const maintenance = startMaintenance(tasks, {
    isLeader: leader.isLeader,
    onStep: measureMaintenance(metrics, tasks),
    onFault,
    interrupt: maintenanceDb.interrupt,
    signal: lifetime.signal,
  })
  lifetime.add(maintenance.stop)
  measureEngine(metrics, engine, groups)
  measureWebhooks(metrics, db.sql)
  metrics.gauge('herald_leader', 'Whether this process leads: one process at a time runs maintenance.', () =>
    leader.isLeader() ? 1 : 0,
  )
  const hasRoom = (lane: string) => !hold.isShut(lane) && engine.hasRoom(lane)
  const serviceChanged = async (changed?: Id) => {
    for (const id of engine.services()) {
      if (changed !== undefined && changed !== id) continue
      if (!isActive(await services.get(id))) engine.recall(({ service_id }) => service_id === id)
    }
  }
  return { ...engine, owner, groups, leadsMs: leader.leadsMs, hasRoom, serviceChanged }
}

/** A step of maintenance is short; only a database in trouble takes this long. */
const MAINTENANCE_STATEMENT_SECONDS = 60

/** Together with a provider's last moment (five seconds), the part of the ten seconds that a stop may take. */
const SENDS_END_MS = 2_000

/** A span for each time that a provider is asked, within the work on the message. */
const traced =
  <M extends { id: Id }>(trace: Tracer, { name, send }: Provider & { send: Send<M> }): Send<M> =>
  async (message, urgent, recall) => {
    const span = trace.within(message.id, `provider ${name}`, { 'herald.provider': name, 'herald.id': message.id })
    const outcome = await send(message, urgent, recall)
    const error = outcome.kind === 'accepted' ? null : replyClass(outcome.detail)
    span.end({ 'herald.outcome': outcome.kind }, error)
    return outcome
  }

/** Counts outcomes of sends; messages that wait for a provider that is down are not counted. */
function counted<M>(group: ProviderGroup<M>, count: (outcome: (typeof OUTCOMES)[number]) => void): ProviderGroup<M> {
  return {
    ...group,
    async send(message, options) {
      const answer = await group.send(message, options)
      if (answer.kind === 'answered') {
        const { outcome } = answer
        count(outcome.kind === 'deferred' && outcome.uncertain ? 'uncertain' : outcome.kind)
      }
      return answer
    },
  }
}

/**
 * Where accepted messages go: to the engine of this process while it has capacity, otherwise to the queue, with a notification to
 * all engines.
 */
export function createDispatcher(
  engine: Delivery | null,
  leaseSeconds: number,
  wakeOthers: (lane: string) => void,
): Dispatcher {
  return {
    initialLease: lanes =>
      engine && lanes.length > 0 && lanes.every(lane => engine.hasRoom(lane))
        ? { owner: engine.owner, leaseSeconds, leasedUntil: performance.now() + leaseSeconds * 1000 }
        : null,
    hand(tickets, initialLease) {
      if (initialLease && engine) engine.hand(tickets, initialLease.leasedUntil)
      else for (const { lane } of tickets) engine ? engine.wake(lane) : wakeOthers(lane)
    },
  }
}
