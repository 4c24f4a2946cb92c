// Adds up the metrics of several processes. What a process has counted stays in the sum when it ends: a counter that falls would
// be taken for a restart, and everything it still contains for new.
import { AggregatorRegistry } from 'prom-client'
import type { MetricValues } from './metrics.ts'

export type Sum = {
  /** The latest values of a running process. */
  keep(process: string, values: MetricValues): void
  end(process: string): void
  /** `fresh`: processes whose gauges are of now. Of the others only what they have counted is used. */
  text(fresh: ReadonlySet<string>): Promise<string>
}

export function createSum(): Sum {
  const latest = new Map<string, MetricValues>()
  let ended: Promise<MetricValues> = Promise.resolve([])
  return {
    keep(process, values) {
      if (values.length > 0) latest.set(process, values)
    },
    end(process) {
      const last = counted(latest.get(process) ?? [])
      latest.delete(process)
      ended = ended.then(before => AggregatorRegistry.aggregate([before, last]).getMetricsAsJSON())
    },
    async text(fresh) {
      const named = [...latest].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
      const running = named.map(([process, values]) => (fresh.has(process) ? values : counted(values)))
      return AggregatorRegistry.aggregate([await ended, ...running]).metrics()
    },
  }
}

const COUNTED: readonly unknown[] = ['counter', 'histogram']
const counted = (values: MetricValues): MetricValues => values.filter(({ type }) => COUNTED.includes(type))
