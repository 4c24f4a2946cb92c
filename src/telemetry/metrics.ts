// Every metric, by name. Labels are from closed lists: routes, statuses, channels, lanes; never an id or a recipient. ops/ has
// the dashboard and the alerts, docs/on-call.md explains them.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type LabelledValue = readonly [labels: Readonly<Record<string, string>>, value: number]

export type Metrics = {
  /** For counters and histograms of other rooms. */
  registry: Registry
  /** The page /metrics. */
  text(): Promise<string>
  /** The same as values, to be added to those of other processes; figures of the database only where they are asked for. */
  values(ofDatabase: boolean): Promise<MetricValues>
  /** How long requests take, by route, and how they are answered. Two metrics: a histogram by status would be ten times as long. */
  requests: Histogram<'method' | 'route'>
  answers: Counter<'method' | 'route' | 'status'>
  /** Requests refused by the rate limit or the daily limit. */
  limited: Counter<'limit'>
  /** Messages handed to a provider, by outcome. */
  sends: Counter<'channel' | 'outcome'>
  /** Messages that were given up because they failed or crashed the process repeatedly. */
  setAside: Counter<'lane'>
  /** Mails of Herald itself that were given up. */
  mailsLost: Counter
  /** Rows that maintenance changes or removes, and the duration of each step. */
  maintenanceRows: Counter<'task'>
  maintenanceSeconds: Histogram<'task'>
  /** Connections closed because too many were open. */
  refusedConnections: Counter
  /** Requests that are not in the request log of their service because it could not be written. */
  requestsDropped: Counter
  /** Log lines of level error: somebody should look. */
  faults: Counter
  /** A gauge whose value is read at each scrape. */
  gauge(name: string, help: string, read: () => number, across?: Across): void
  /** A gauge with one value per label, and none while they are unknown. */
  gauges(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => LabelledValues | Promise<LabelledValues>,
    across?: Across,
  ): void
}

export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What several processes of one start say together: `database` is read from the database, and the same for all. */
type Across = 'sum' | 'max' | 'min' | 'database'
type LabelledValues = readonly LabelledValue[]

export const OUTCOMES = ['accepted', 'rejected', 'deferred', 'uncertain'] as const

/** `process`: a label of memory, CPU time and event loop, where several processes are on one page. */
export function createMetrics(channels: readonly string[], process?: string): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const ofDatabase = new Registry()
  // The event-loop delay is measured by a timer. Every 200 ms is enough, and keeps an idle process idle.
  collectDefaultMetrics({
    register: registry,
    prefix: 'herald_',
    eventLoopMonitoringPrecision: 200,
    ...(process !== undefined && { labels: { process } }),
  })
  const limited = new Counter({
    name: 'herald_limit_refusals_total',
    help: 'Requests refused because of the rate limit or the daily limit of their service.',
    labelNames: ['limit'],
    registers,
  })
  const sends = new Counter({
    name: 'herald_sends_total',
    help: 'Messages handed to a provider, by outcome. Uncertain: the provider may have accepted the message without confirming it.',
    labelNames: ['channel', 'outcome'],
    registers,
  })
  const placed = (across: Across) =>
    across === 'database' ? { registers: [ofDatabase], aggregator: 'max' as const } : { registers, aggregator: across }
  // A counter without an increment is not exported, and an alert on it would never fire: so all start at 0.
  for (const limit of ['rate', 'daily']) limited.inc({ limit }, 0)
  for (const channel of channels) for (const outcome of OUTCOMES) sends.inc({ channel, outcome }, 0)
  return {
    registry,
    text: async () => (await Promise.all([registry.metrics(), ofDatabase.metrics()])).join('\n'),
    values: async withDatabase =>
      (await Promise.all([registry, ...(withDatabase ? [ofDatabase] : [])].map(one => one.getMetricsAsJSON()))).flat(),
    requests: new Histogram({
      name: 'herald_http_request_seconds',
      help: 'Time from the first byte of a request to the last byte of its response.',
      labelNames: ['method', 'route'],
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    answers: new Counter({
      name: 'herald_http_requests_total',
      help: 'Requests by the status of their response.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    limited,
    sends,
    setAside: new Counter({
      name: 'herald_set_aside_total',
      help: 'Messages given up after they failed or crashed the process repeatedly.',
      labelNames: ['lane'],
      registers,
    }),
    mailsLost: new Counter({
      name: 'herald_mails_lost_total',
      help: 'Mails of Herald itself that were given up: refused, or not handed over within 72 hours.',
      registers,
    }),
    maintenanceRows: new Counter({
      name: 'herald_maintenance_rows_total',
      help: 'Rows changed or removed by a maintenance task; for partitions, tables created or dropped.',
      labelNames: ['task'],
      registers,
    }),
    maintenanceSeconds: new Histogram({
      name: 'herald_maintenance_seconds',
      help: 'Duration of the steps of a maintenance task.',
      labelNames: ['task'],
      buckets: [0.01, 0.05, 0.2, 0.6, 2, 10, 60, 300],
      registers,
    }),
    refusedConnections: new Counter({
      name: 'herald_connections_refused_total',
      help: 'Connections closed because of the limit of open files.',
      registers,
    }),
    requestsDropped: new Counter({
      name: 'herald_request_log_dropped_total',
      help: 'Requests missing from the request log of their service because it could not be written.',
      registers,
    }),
    faults: new Counter({
      name: 'herald_faults_total',
      help: 'Errors logged by the engine and by maintenance.',
      registers,
    }),
    gauge(name, help, read, across = 'sum') {
      new Gauge({
        ...{ name, help, ...placed(across) },
        collect() {
          this.set(read())
        },
      })
    },
    gauges(name, help, labels, read, across = 'sum') {
      new Gauge({
        ...{ name, help, ...placed(across) },
        labelNames: [...labels],
        async collect() {
          const samples = await read()
          if (labels.length === 0) this.remove({})
          else this.reset()
          for (const [labels, value] of samples) this.set(labels, value)
        },
      })
    },
  }
}

/** Caches a query for all gauges that use it: at most one query every few seconds, with a short timeout. */
export function createReading<T>(
  ask: () => Promise<T>,
  { seconds = 5, patienceMs = 2_000 }: { seconds?: number; patienceMs?: number } = {},
): () => Promise<T | null> {
  let last: { at: number; value: Promise<T> } | null = null
  return async () => {
    if (!last || performance.now() - last.at > seconds * 1000) {
      const value = ask()
      value.catch(() => {}) // handled by the caller below
      last = { at: performance.now(), value }
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>(resolve => {
      timer = setTimeout(() => resolve(null), patienceMs)
    })
    try {
      return await Promise.race([last.value, late])
    } catch {
      return null // the database is unreachable, which has its own metric
    } finally {
      clearTimeout(timer)
    }
  }
}
