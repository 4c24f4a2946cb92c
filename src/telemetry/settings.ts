import { flag, itemsOf, label, oneOf, reader, secret, text, webAddress, whole } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'
import { CRASH_POINTS, type CrashPoint, readCrashPoints } from './crash.ts'

const crashPoints = reader(
  given =>
    readCrashPoints(given) ?? {
      problem: `is "${given}"; it must be like before-record=kill:0.01, with one of ${CRASH_POINTS.join(', ')}`,
    },
)

/** `name=value` pairs, separated by commas, percent-encoded where they need it. */
const pairs = reader<Readonly<Record<string, string>>>(given => {
  const entries: [string, string][] = []
  for (const item of itemsOf(given)) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(item) ?? []
    if (name === '' || !/^(?:[^%]|%[0-9a-fA-F]{2})*$/.test(value))
      return { problem: 'must be pairs like name=value, separated by commas' }
    entries.push([name.trim(), decodeURIComponent(value.trim())])
  }
  return Object.fromEntries(entries)
})

const ratio = reader<number>(given => {
  const number = given.trim() === '' ? Number.NaN : Number(given)
  return number >= 0 && number <= 1 ? number : { problem: `is "${given}"; it must be a number from 0 to 1` }
})

const overHttp = reader<'http/json'>(given =>
  given === 'http/json' || given === 'http/protobuf'
    ? 'http/json'
    : { problem: `is "${given}"; Herald speaks OTLP over HTTP only: http/json` },
)

const openTelemetry = {
  otlpEndpoint: setting<string | null>(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    webAddress,
    null,
    'An OpenTelemetry collector that gets traces and metrics: its address for OTLP over HTTP, like http://127.0.0.1:4318. Without it there are none (docs/operate.md).',
    { shown: 'none' },
  ),
  otlpTracesEndpoint: setting<string | null>(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    webAddress,
    null,
    'The whole address for traces, if it is another one.',
    { shown: '`OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces`' },
  ),
  otlpMetricsEndpoint: setting<string | null>(
    'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    webAddress,
    null,
    'The whole address for metrics, if it is another one.',
    { shown: '`OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/metrics`' },
  ),
  otlpProtocol: setting<'http/json'>(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    overHttp,
    'http/json',
    'Herald sends `http/json`. `http/protobuf` is accepted and changes nothing, because a collector takes both at one address; `grpc` is refused.',
  ),
  otlpHeaders: setting<Readonly<Record<string, string>>>(
    'OTEL_EXPORTER_OTLP_HEADERS',
    pairs,
    {},
    'Headers of every request to the collector: `name=value`, separated by commas, values percent-encoded.',
    { shown: 'none', secret: true },
  ),
  otlpTimeoutMs: setting(
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    whole(1, 60_000),
    10_000,
    'Milliseconds that the collector has for an answer.',
  ),
  otlpCompression: setting(
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    oneOf('none', 'gzip'),
    'none',
    'Whether what is sent to the collector is compressed.',
  ),
  otelTracesExporter: setting('OTEL_TRACES_EXPORTER', oneOf('otlp', 'none'), 'otlp', '`none`: no traces.'),
  otelMetricsExporter: setting(
    'OTEL_METRICS_EXPORTER',
    oneOf('otlp', 'none'),
    'otlp',
    '`none`: no metrics to the collector; `/metrics` stays.',
  ),
  otelServiceName: setting<string | null>(
    'OTEL_SERVICE_NAME',
    text,
    null,
    'The `service.name` of traces and metrics.',
    { shown: 'herald' },
  ),
  otelResource: setting<Readonly<Record<string, string>>>(
    'OTEL_RESOURCE_ATTRIBUTES',
    pairs,
    {},
    'Further attributes of all traces and metrics: `deployment.environment.name=production,…`.',
    { shown: 'none' },
  ),
  otelSampler: setting(
    'OTEL_TRACES_SAMPLER',
    oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    'parentbased_always_on',
    'Which traces are sent. `parentbased_…`: the span of a request follows the decision of its caller (`traceparent`); the trace of a message is decided by its id.',
  ),
  otelSamplerRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    ratio,
    1,
    'The part of the traces that `traceidratio` sends, from 0 to 1. All processes decide the same about a message.',
  ),
  otelSpansEveryMs: setting(
    'OTEL_BSP_SCHEDULE_DELAY',
    whole(100, 60_000),
    5_000,
    'Milliseconds between two requests with spans.',
  ),
  otelMetricsEveryMs: setting(
    'OTEL_METRIC_EXPORT_INTERVAL',
    whole(100, 3_600_000),
    60_000,
    'Milliseconds between two requests with metrics.',
  ),
  otelDisabled: setting('OTEL_SDK_DISABLED', flag, false, 'Switches traces and metrics for the collector off.'),
} satisfies Settings

export const settings = {
  metricsToken: setting<string | null>(
    'HERALD_METRICS_TOKEN',
    secret,
    null,
    'Who scrapes `/metrics` sends it: `Authorization: Bearer <token>`. Without it, `/metrics` answers only requests from the machine itself; everyone else gets 404.',
    { shown: 'none: this machine only', secret: true },
  ),
  processName: setting<string | null>(
    'HERALD_PROCESS_NAME',
    label,
    null,
    'Name of this process in its log, its metrics and, with its process id, on the system page.',
    { shown: 'the name of the machine' },
  ),
  crashPoints: setting(
    'HERALD_CRASH_POINTS',
    crashPoints,
    [] as CrashPoint[],
    'Places at which the process ends itself or throws, for fault tests only: `after-provider-ok=kill:0.01`.',
    { shown: 'none' },
  ),
  logLevel: setting(
    'HERALD_LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'The lowest level that is logged.',
  ),
  ...openTelemetry,
} satisfies Settings
