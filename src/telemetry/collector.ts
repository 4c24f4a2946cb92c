// Whether an OpenTelemetry collector is set, and where. Only then otlp.ts is loaded.
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Sampling, Tracer } from './trace.ts'

export type Collector = {
  /** Null: no spans, or no metrics. */
  tracesUrl: string | null
  metricsUrl: string | null
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  gzip: boolean
  serviceName: string
  resource: Readonly<Record<string, string>>
  sampling: Sampling
  spansEveryMs: number
  metricsEveryMs: number
}

export type Given = { metrics: Pick<Metrics, 'registry' | 'values'>; name: string; version: string; log: Log }

export type OpenTelemetry = { trace: Tracer | null; stop(): Promise<void> }

/** The settings of OpenTelemetry, as config/ reads them. */
export type CollectorSettings = {
  otelDisabled: boolean
  otlpEndpoint: string | null
  otlpTracesEndpoint: string | null
  otlpMetricsEndpoint: string | null
  otelTracesExporter: 'otlp' | 'none'
  otelMetricsExporter: 'otlp' | 'none'
  otlpHeaders: Readonly<Record<string, string>>
  otlpTimeoutMs: number
  otlpCompression: 'none' | 'gzip'
  otelServiceName: string | null
  otelResource: Readonly<Record<string, string>>
  otelSampler: string
  otelSamplerRatio: number
  otelSpansEveryMs: number
  otelMetricsEveryMs: number
}

export async function openTelemetry(settings: CollectorSettings, given: Given): Promise<OpenTelemetry> {
  const collector = collectorOf(settings)
  if (!collector) return { trace: null, async stop() {} }
  const { startOtlp } = await import('./otlp.ts')
  return startOtlp(collector, given)
}

/** Null: none is set. */
export function collectorOf(settings: CollectorSettings): Collector | null {
  const { otlpEndpoint: both, otelResource: resource, otelSampler: sampler } = settings
  const at = (own: string | null, path: string) => own ?? (both && `${both}/v1/${path}`)
  const tracesUrl = settings.otelTracesExporter === 'none' ? null : at(settings.otlpTracesEndpoint, 'traces')
  const metricsUrl = settings.otelMetricsExporter === 'none' ? null : at(settings.otlpMetricsEndpoint, 'metrics')
  if (settings.otelDisabled || !(tracesUrl || metricsUrl)) return null
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : settings.otelSamplerRatio
  return {
    ...{ tracesUrl, metricsUrl, headers: settings.otlpHeaders, timeoutMs: settings.otlpTimeoutMs },
    gzip: settings.otlpCompression === 'gzip',
    serviceName: settings.otelServiceName ?? resource['service.name'] ?? 'herald',
    resource: Object.fromEntries(Object.entries(resource).filter(([name]) => name !== 'service.name')),
    sampling: { ratio, followsCaller: sampler.startsWith('parentbased_') },
    spansEveryMs: settings.otelSpansEveryMs,
    metricsEveryMs: settings.otelMetricsEveryMs,
  }
}
