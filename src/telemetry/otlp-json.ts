// Spans and metrics in the JSON form of OTLP (opentelemetry-proto 1.x): camelCase, ids in hex, 64-bit numbers as text.
import type { MetricValues } from './metrics.ts'
import type { Attributes, Kind, Span } from './trace.ts'

type Value = { stringValue: string } | { boolValue: boolean } | { intValue: string } | { doubleValue: number }
export type Resource = { attributes: readonly { key: string; value: Value }[] }

const KINDS: Readonly<Record<Kind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }
const ERROR = 2
const CUMULATIVE = 2
const SCOPE = { name: 'herald' }

const nanos = (ms: number) => `${Math.round(ms * 1000)}000`

export const attributesOf = (attributes: Attributes): Resource['attributes'] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  )

function anyValueOf(value: string | number | boolean): Value {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

export const tracesOf = (resource: Resource, spans: readonly Span[]) => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }] }],
})

const spanOf = ({ traceId, spanId, parent, name, kind, from, to, attributes, links, error }: Span) => ({
  ...{ traceId, spanId, ...(parent !== null && { parentSpanId: parent }) },
  ...{ name, kind: KINDS[kind], startTimeUnixNano: nanos(from), endTimeUnixNano: nanos(to) },
  attributes: attributesOf(attributes),
  links: links.map(link => ({ traceId: link.traceId, spanId: link.spanId })),
  status: error === null ? {} : { code: ERROR, message: error },
})

export const metricsOf = (resource: Resource, values: MetricValues, from: number, to: number) => ({
  resourceMetrics: [
    {
      resource,
      scopeMetrics: [
        { scope: SCOPE, metrics: values.flatMap(metric => metricOf(metric, nanos(from), nanos(to)) ?? []) },
      ],
    },
  ],
})

type Metric = MetricValues[number]
type Sample = { value: number; labels: Readonly<Record<string, string | number>>; metricName?: string }

function metricOf({ name, help, type, values }: Metric, startTimeUnixNano: string, timeUnixNano: string) {
  const samples = (values as readonly Sample[]).filter(({ value }) => Number.isFinite(value))
  if (samples.length === 0) return null
  const times = { startTimeUnixNano, timeUnixNano }
  const about = { name, description: help }
  const points = () =>
    samples.map(({ value, labels }) => ({ ...times, attributes: attributesOf(labels), asDouble: value }))
  switch (String(type)) {
    case 'counter':
      return { ...about, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: points() } }
    case 'gauge':
      return { ...about, gauge: { dataPoints: points() } }
    case 'histogram':
      return {
        ...about,
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: histogramsOf(name, samples).map(point => ({ ...times, ...point })),
        },
      }
    default:
      return null // there is no summary
  }
}

/** One point for each set of labels. Buckets are cumulative in Prometheus, and are not in OTLP. */
function histogramsOf(name: string, samples: readonly Sample[]) {
  const groups = new Map<
    string,
    { labels: Attributes; bounds: number[]; counts: number[]; sum: number; count: number }
  >()
  for (const { value, metricName, labels } of samples) {
    const { le, ...rest } = labels
    const key = JSON.stringify(rest)
    const group = groups.get(key) ?? { labels: rest, bounds: [], counts: [], sum: 0, count: 0 }
    groups.set(key, group)
    if (metricName === `${name}_sum`) group.sum = value
    else if (metricName === `${name}_count`) group.count = value
    else {
      if (le !== '+Inf') group.bounds.push(Number(le))
      group.counts.push(value)
    }
  }
  return [...groups.values()].map(({ labels, bounds, counts, sum, count }) => ({
    ...{ attributes: attributesOf(labels), count: String(count), sum, explicitBounds: bounds },
    bucketCounts: counts.map((value, at) => String(value - (counts[at - 1] ?? 0))),
  }))
}
