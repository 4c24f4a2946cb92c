// Sends spans and metrics to an OpenTelemetry collector: OTLP over HTTP, as JSON. Loaded only when a collector is set (collector.ts).
// Nothing waits for it: what the collector does not take in time is dropped and counted.
import { gzipSync } from 'node:zlib'
import { Counter } from 'prom-client'
import { startPeriodic } from '../runtime/periodic.ts'
import { pause } from '../runtime/within.ts'
import type { Collector, Given } from './collector.ts'
import { faultOf } from './fault.ts'
import { attributesOf, metricsOf, tracesOf } from './otlp-json.ts'
import { createTracer, type Span } from './trace.ts'

const MOST_WAITING = 8_192
const MOST_TOGETHER = 512
const TRIES = 3
const RETRY_MS = 1_000
const TRY_AGAIN: readonly number[] = [429, 502, 503, 504]
/** Of the ten seconds that a stop may take. */
const STOP_MS = 1_000

export function startOtlp(collector: Collector, { metrics, name, version, log }: Given) {
  const { tracesUrl, metricsUrl } = collector
  const resource = {
    attributes: attributesOf({
      ...{ 'service.name': collector.serviceName, 'service.version': version, 'service.instance.id': name },
      ...{ 'process.pid': process.pid },
      ...collector.resource,
    }),
  }
  const dropped = new Counter({
    name: 'herald_telemetry_dropped_total',
    help: 'Spans that the OpenTelemetry collector did not take, or that were too many to send.',
    registers: [metrics.registry],
  })
  const stopping = new AbortController()
  let waiting: Span[] = []
  let isDown = false

  async function post(url: string, body: unknown): Promise<boolean> {
    const text = JSON.stringify(body)
    for (let tries = 1; ; tries++) {
      const problem = await postOnce(url, text)
      if (problem === null) {
        if (isDown) log.info('the OpenTelemetry collector answers again')
        isDown = false
        return true
      }
      if (problem.isFinal || tries === TRIES || stopping.signal.aborted) {
        if (!isDown) log.warn(problem.fields, 'the OpenTelemetry collector does not take what is sent')
        isDown = true
        return false
      }
      await pause(RETRY_MS * tries, stopping.signal)
    }
  }

  /** Null: it was taken. */
  async function postOnce(url: string, text: string) {
    const headers = { 'content-type': 'application/json', ...collector.headers }
    const timeoutMs = stopping.signal.aborted ? STOP_MS : collector.timeoutMs
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: collector.gzip ? { ...headers, 'content-encoding': 'gzip' } : headers,
        body: collector.gzip ? gzipSync(text) : text,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      await answer.arrayBuffer()
      return answer.ok ? null : { isFinal: !TRY_AGAIN.includes(answer.status), fields: { status: answer.status } }
    } catch (error) {
      return { isFinal: false, fields: { error: faultOf(error) } }
    }
  }

  async function sendSpans(url: string) {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, MOST_TOGETHER)
      waiting = waiting.slice(MOST_TOGETHER)
      if (!(await post(url, tracesOf(resource, spans)))) dropped.inc(spans.length)
    }
  }
  const began = performance.timeOrigin
  const sendMetrics = async (url: string) => {
    await post(url, metricsOf(resource, await metrics.values(true), began, performance.timeOrigin + performance.now()))
  }

  const onFault = (error: unknown) => log.warn({ error: faultOf(error) }, 'a side task failed')
  const sending = tracesUrl ? startPeriodic(() => sendSpans(tracesUrl), collector.spansEveryMs, onFault) : null
  const measuring = metricsUrl ? startPeriodic(() => sendMetrics(metricsUrl), collector.metricsEveryMs, onFault) : null
  const trace = tracesUrl
    ? createTracer(collector.sampling, span => {
        if (waiting.length < MOST_WAITING) waiting.push(span)
        else dropped.inc()
      })
    : null
  return {
    trace,
    async stop() {
      stopping.abort()
      await Promise.all([sending?.stop(), measuring?.stop()])
      await Promise.all([tracesUrl && sendSpans(tracesUrl), metricsUrl && sendMetrics(metricsUrl)])
    },
  }
}
