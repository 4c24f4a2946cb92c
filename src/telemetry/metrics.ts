// Every metric, by name. Labels are from closed lists: routes, statuses, channels; never an id, never a recipient.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  registry: Registry
  requests: Histogram<'method' | 'route' | 'status'>
  /** Reads a number at the moment /metrics is asked. */
  gauge(name: string, help: string, read: () => number): void
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  // The delay of the event loop is looked at by a timer, and an idle process should be idle: every 200 ms will do.
  collectDefaultMetrics({ register: registry, prefix: 'herald_', eventLoopMonitoringPrecision: 200 })
  return {
    registry,
    requests: new Histogram({
      name: 'herald_http_request_seconds',
      help: 'Time from the first byte of a request to the last of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read())
        },
      })
    },
  }
}
