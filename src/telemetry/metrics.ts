// Every metric, by name. Labels are from closed lists: routes, statuses, channels, lanes; never an id, never a recipient.
// ops/ has the dashboard and the alerts made from them, docs/on-call.md what they mean.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

export type Metrics = {
  registry: Registry
  requests: Histogram<'method' | 'route' | 'status'>
  /** Refused because of a limit: the rate's or the day's. */
  limited: Counter<'limit'>
  /** Messages given to a provider, by what came of it. */
  sends: Counter<'channel' | 'outcome'>
  /** What ended the process or failed, time and again, and was given up. */
  setAside: Counter<'lane'>
  /** What maintenance changes or removes, and how long each of its steps takes. */
  maintenanceRows: Counter<'task'>
  maintenanceSeconds: Histogram<'task'>
  /** Callers who were refused because too many connections are open. */
  refusedConnections: Counter
  /** What the log calls an error: somebody should look. */
  faults: Counter
  /** Reads a number at the moment /metrics is asked. */
  gauge(name: string, help: string, read: () => number): void
  /** Reads one number for each label, and none while they cannot be known. */
  gauges(name: string, help: string, labels: readonly string[], read: () => Samples | Promise<Samples>): void
}
type Samples = readonly Sample[]

export const OUTCOMES = ['accepted', 'rejected', 'deferred', 'uncertain'] as const

export function createMetrics(channels: readonly string[]): Metrics {
  const registry = new Registry()
  const registers = [registry]
  // The delay of the event loop is looked at by a timer, and an idle process should be idle: every 200 ms will do.
  collectDefaultMetrics({ register: registry, prefix: 'herald_', eventLoopMonitoringPrecision: 200 })
  const limited = new Counter({
    name: 'herald_limit_refusals_total',
    help: 'Requests refused because of the rate limit or the daily limit of their service.',
    labelNames: ['limit'],
    registers,
  })
  const sends = new Counter({
    name: 'herald_sends_total',
    help: 'Messages given to a provider. Uncertain: it may have taken the message, but did not say so.',
    labelNames: ['channel', 'outcome'],
    registers,
  })
  // A counter that has not counted yet shows nothing, and an alert on it would never be heard.
  for (const limit of ['rate', 'daily']) limited.inc({ limit }, 0)
  for (const channel of channels) for (const outcome of OUTCOMES) sends.inc({ channel, outcome }, 0)
  return {
    registry,
    requests: new Histogram({
      name: 'herald_http_request_seconds',
      help: 'Time from the first byte of a request to the last of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    limited,
    sends,
    setAside: new Counter({
      name: 'herald_set_aside_total',
      help: 'Work given up after it failed, or ended the process, time and again.',
      labelNames: ['lane'],
      registers,
    }),
    maintenanceRows: new Counter({
      name: 'herald_maintenance_rows_total',
      help: 'Rows that a maintenance task has changed or removed; for partitions, tables made or dropped.',
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
      help: 'Connections refused because too many are open for the limit of open files.',
      registers,
    }),
    faults: new Counter({
      name: 'herald_faults_total',
      help: 'Errors in the log of the engine and of maintenance.',
      registers,
    }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    gauges(name, help, labels, read) {
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
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

/** What has to be asked for is asked once for all who want it, not more often than every few seconds, and never waited for long. */
export function createReading<T>(
  ask: () => Promise<T>,
  { seconds = 5, patienceMs = 2_000 }: { seconds?: number; patienceMs?: number } = {},
): () => Promise<T | null> {
  let last: { at: number; value: Promise<T> } | null = null
  return async () => {
    if (!last || performance.now() - last.at > seconds * 1000) {
      const value = ask()
      value.catch(() => {}) // whoever waits for it hears it below
      last = { at: performance.now(), value }
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>(resolve => {
      timer = setTimeout(() => resolve(null), patienceMs)
    })
    try {
      return await Promise.race([last.value, late])
    } catch {
      return null // the database is away, which is a metric of its own
    } finally {
      clearTimeout(timer)
    }
  }
}
