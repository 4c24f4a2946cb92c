// Traces, metrics and the log of a real process: what happens to a request, a job and a message is followed by id from the first line
// to the last. The collector is a small receiver, which decodes what it gets by the official schema of OTLP.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config/index.ts'
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import { sign } from '../src/providers/http/signature.ts'
import { openTelemetry } from '../src/telemetry/collector.ts'
import { createLog } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { createTracer } from '../src/telemetry/trace.ts'
import { type Program, programs } from './support/program.ts'
import { startReceiver } from './support/receiver.ts'
import { SMS, smsTemplate } from './support/sends.ts'
import { callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const BULK = '/v2/notifications/bulk'
const NUMBER = '+16135550147'
const WORD = 'canary'
const SECRET = 'shared-secret-of-32-characters-at-least'
const REQUEST = 'follow-this-request'
const { newDatabase, herald, start, sample } = programs()

// biome-ignore lint/suspicious/noExplicitAny: what another program sent
type Any = any
const { opentelemetry } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root.js')
const { collector } = opentelemetry.proto
const SCHEMAS: Record<string, Any> = {
  '/v1/traces': collector.trace.v1.ExportTraceServiceRequest,
  '/v1/metrics': collector.metrics.v1.ExportMetricsServiceRequest,
}
const BYTES = ['traceId', 'spanId', 'parentSpanId']

/** Through the protobuf form and back: a field that the schema does not have, or has with another type, would be lost. */
function decoded(path: string, text: string): Any {
  const given = JSON.parse(text)
  const schema = SCHEMAS[path]
  const message = schema.fromObject(mapped(given, hex => Buffer.from(hex, 'hex')))
  expect(schema.verify(message)).toBe(null)
  const read = schema.toObject(schema.decode(schema.encode(message).finish()), { longs: String, enums: Number })
  const back = mapped(read, bytes => Buffer.from(bytes as unknown as Uint8Array).toString('hex'))
  expect(withoutEmpty(back)).toEqual(withoutEmpty(given))
  return back
}

function mapped(value: Any, convert: (text: string) => unknown): Any {
  if (Array.isArray(value)) return value.map(one => mapped(one, convert))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      BYTES.includes(key) ? convert(one as string) : mapped(one, convert),
    ]),
  )
}

function withoutEmpty(value: Any): Any {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(
    ([, one]) => !(typeof one === 'object' && Object.keys(one ?? {}).length === 0),
  )
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutEmpty(one)]))
}

const got: { path: string; headers: Record<string, string>; text: string }[] = []
const [collected, relay, hooked] = [await startReceiver(), await startReceiver(), await startReceiver()]
afterAll(() => Promise.all([collected.stop(), relay.stop(), hooked.stop()]))

describe('a process with a collector', () => {
  let program: Program
  let message = ''
  let called = ''
  let job = ''
  let messages: string[] = []
  const caller = { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') }

  const spans = (): Any[] =>
    got
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ path, text }) => decoded(path, text).resourceSpans[0].scopeSpans[0].spans)
  const traceOf = (id: string) => spans().filter(span => span.traceId === id.replaceAll('-', ''))
  const rootOf = (id: string) => id.replaceAll('-', '').slice(16)
  const named = (some: Any[], name: string) => some.filter(span => span.name === name)
  const lines = (): Any[] =>
    program
      .err()
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line))
  const linesWith = (text: string) => lines().filter(line => JSON.stringify(line).includes(text))

  const until = <T>(read: () => T, wanted: T) =>
    vi.waitFor(() => expect(read()).toBe(wanted), { timeout: 40_000, interval: 50 })

  beforeAll(async () => {
    let asked = 0
    relay.answer((hook, response) => {
      const { ref } = JSON.parse(hook.body)
      // The first attempt is deferred.
      if (asked++ === 0) return response.writeHead(429, { 'retry-after': '1' }).end('{}')
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ messages: [{ id: `p-${ref}` }] }))
    })
    collected.answer((hook, response) => {
      got.push({ path: hook.url, headers: hook.headers, text: hook.body })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    const env = {
      ...(await newDatabase()),
      HERALD_LOG_LEVEL: 'info',
      HERALD_CAPTURE: '1',
      HERALD_HTTP_SMS_URL: `http://127.0.0.1:${relay.port}/send`,
      HERALD_HTTP_SMS_BODY: '{"to":"{to}","text":"{text}","ref":"{id}"}',
      HERALD_HTTP_SMS_REF_PATH: 'messages[0].id',
      HERALD_HTTP_SMS_RECEIPT_SECRET: SECRET,
      ...{ HERALD_WEBHOOK_ALLOW: '127.0.0.1', HERALD_WEBHOOK_PORTS: '1-65535', HERALD_WEBHOOK_SCHEMES: 'http' },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collected.port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    }
    program = await start(env)
    const { keys, service } = await sample(env, program)
    const url = `http://127.0.0.1:${hooked.port}/events`
    const added = await herald(['webhook', 'add', service.id, url, '--types', 'notification.delivered', '--json'], env)
    expect([added.code, added.err]).toEqual([0, ''])
    const key = callerWith(program.address, keys.live)
    const template_id = await smsTemplate(key)
    const body = { template_id, phone_number: NUMBER, personalisation: { name: WORD } }
    message = (await key.post(SMS, body, { 'x-request-id': REQUEST })).body.id
    await until(() => linesWith(message).filter(line => line.status === 'sending').length, 1)
    const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
    called = (await key.post(SMS, body, { traceparent })).body.id
    const rows = [
      ['phone number', 'name'],
      [NUMBER, WORD],
      [NUMBER, WORD],
    ]
    job = (await key.post(BULK, { name: WORD, template_id, rows })).body.data.id
    await until(() => relay.hooks.length, 5)
    await until(() => linesWith('rows became messages').length, 1)
    messages = linesWith('rows became messages')[0].messages
    for (const id of [message, called, ...messages]) await receipt(id)
    await until(() => linesWith('receipt applied').length, 4)
    await until(() => spans().filter(span => span.name === 'lane receipt').length, 4)
    await until(() => spans().filter(span => span.name === 'webhook').length, 4)
    await until(() => got.some(({ path }) => path === '/v1/metrics'), true)
  })

  async function receipt(id: string) {
    const body = JSON.stringify({ id: `p-${id}`, status: 'delivered', event_id: `e-${id}` })
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = sign(SECRET, timestamp, Buffer.from(body)).toString('hex')
    const headers = { 'content-type': 'application/json', 'x-timestamp': timestamp, 'x-signature': signature }
    const { status } = await fetch(`${program.address}/receipts/http`, { method: 'POST', headers, body })
    expect(status).toBe(200)
  }

  test('the trace of a message has its id, and leads from the request to the receipt', () => {
    const trace = traceOf(message)
    const [request] = named(trace, `POST ${SMS}`)
    expect(request).toMatchObject({ spanId: rootOf(message), kind: 2 })
    expect(request).not.toHaveProperty('parentSpanId')
    expect(named(trace, 'accept')).toMatchObject([{ parentSpanId: rootOf(message) }])
    const attempts = trace.filter(span => /^lane sms-/.test(span.name))
    expect(attempts).toMatchObject([{ parentSpanId: rootOf(message) }, { parentSpanId: rootOf(message) }])
    const asked = named(trace, 'provider http')
    expect(asked.map(span => span.parentSpanId)).toEqual(attempts.map(span => span.spanId))
    expect(asked.map(span => span.status)).toEqual(
      [{ code: 2, message: '429' }, {}].map(one => expect.objectContaining(one)),
    )
    expect(named(trace, 'lane receipt')).toMatchObject([{ parentSpanId: rootOf(message) }])
    const [told, ...others] = named(trace, 'webhook')
    expect(others).toEqual([])
    expect(told).toMatchObject({ parentSpanId: rootOf(message), kind: 3 })
    expect(JSON.stringify(told.attributes)).toContain('notification.delivered')
    expect(trace.length).toBe(8)
    for (const span of trace)
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name).toBe(true)
  })

  test('probes and scrapes have no span', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics'])
      expect((await fetch(program.address + path)).status).toBe(200)
    // The span of a later request has arrived, so theirs would have, too.
    await fetch(`${program.address}/v2/after-the-probes`)
    await until(() => spans().some(({ name }) => name === 'GET unknown'), true)
    expect(spans().filter(({ name }) => /health|metrics/.test(name))).toEqual([])
  })

  test("a request with traceparent is in its caller's trace, and both traces refer to each other", () => {
    const [request] = spans().filter(span => span.traceId === caller.traceId)
    expect(request).toMatchObject({ name: `POST ${SMS}`, parentSpanId: caller.spanId })
    expect(request.links).toMatchObject([{ traceId: called.replaceAll('-', ''), spanId: rootOf(called) }])
    const [first] = traceOf(called).filter(span => span.spanId === rootOf(called))
    expect(first.links).toMatchObject([{ traceId: caller.traceId, spanId: request.spanId }])
    expect(named(traceOf(called), 'lane receipt')).toHaveLength(1)
  })

  test('the trace of a job has its id, and its messages refer to it', () => {
    expect(
      traceOf(job)
        .map(span => span.name)
        .sort(),
    ).toEqual([`POST ${BULK}`, 'accept', 'lane spread'].sort())
    for (const id of messages) {
      const [accept] = named(traceOf(id), 'accept')
      expect(accept).toMatchObject({ spanId: rootOf(id), links: [{ traceId: job.replaceAll('-', '') }] })
      expect(named(traceOf(id), 'provider http')).toHaveLength(1)
    }
  })

  test('metrics are those of /metrics', async () => {
    const latest = got.filter(({ path }) => path === '/v1/metrics').at(-1)
    const { resource, scopeMetrics } = decoded('/v1/metrics', latest?.text ?? '').resourceMetrics[0]
    const attributes = Object.fromEntries(resource.attributes.map((one: Any) => [one.key, Object.values(one.value)[0]]))
    expect(attributes).toMatchObject({ 'service.name': 'herald', 'deployment.environment.name': 'test' })
    const names: string[] = scopeMetrics[0].metrics.map((metric: Any) => metric.name)
    const page = await (await fetch(`${program.address}/metrics`)).text()
    const withSamples = [...page.matchAll(/^# TYPE (\w+) \w+\n(?!#|\n|$)/gm)].map(([, name = '']) => name)
    // Has samples only while the process waits for an operation of the system.
    const constant = (all: readonly string[]) => all.filter(name => name !== 'herald_nodejs_active_requests').toSorted()
    expect(constant(names)).toEqual(constant(withSamples))
    const of = (name: string) => scopeMetrics[0].metrics.find((metric: Any) => metric.name === name)
    expect(of('herald_database_up').gauge.dataPoints).toMatchObject([{ asDouble: 1 }])
    expect(of('herald_sends_total').sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 })
    const [point] = of('herald_http_request_seconds').histogram.dataPoints
    const sum = (counts: readonly string[]) => counts.reduce((total, one) => total + Number(one), 0)
    expect(point.bucketCounts).toHaveLength(point.explicitBounds.length + 1)
    expect(String(sum(point.bucketCounts))).toBe(point.count)
    expect(got.every(({ headers }) => headers.authorization === 'Bearer token')).toBe(true)
  })

  test('the log tells the life of a message from the id of its request', () => {
    const [answered] = linesWith(REQUEST)
    expect(answered).toMatchObject({ msg: 'answered', request: REQUEST, status: 201, id: message })
    const [request, first, second, receipt, ...more] = linesWith(message)
    expect(more).toEqual([])
    expect(request).toEqual(answered)
    const attempt = { msg: 'attempt recorded', message, service: answered.service, provider: 'http' }
    expect(first).toMatchObject({
      ...attempt,
      attempt: 1,
      status: 'created',
      class: '429',
      retry_seconds: expect.any(Number),
    })
    expect(second).toMatchObject({
      ...attempt,
      attempt: 2,
      status: 'sending',
      lane: first.lane,
      provider_ms: expect.any(Number),
    })
    expect(receipt).toMatchObject({
      msg: 'receipt applied',
      message,
      provider: 'http',
      result: 'delivered',
      status: 'delivered',
    })
  })

  test('the log tells the life of a job: its request, its messages, and theirs', () => {
    const [answered, became, finished, ...more] = linesWith(job)
    expect([answered.msg, became.msg, finished.msg, more]).toEqual([
      'answered',
      'rows became messages',
      'job finished',
      [],
    ])
    expect(finished).toMatchObject({ job, service: became.service, rows: 2, seconds: expect.any(Number) })
    expect(finished.seconds).toBeLessThan(60)
    expect(Object.values(finished.counts as Record<string, number>).reduce((sum, count) => sum + count)).toBe(2)
    expect(messages).toHaveLength(2)
    for (const id of messages)
      expect(linesWith(id).map(line => line.msg)).toEqual([
        'rows became messages',
        'attempt recorded',
        'receipt applied',
      ])
  })

  test('every field of the log is documented', () => {
    const documented = new Set(
      [...readFileSync('docs/operate.md', 'utf8').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name),
    )
    const used = new Set(lines().flatMap(line => Object.keys(line)))
    expect(used.size).toBeGreaterThan(15)
    expect([...used].filter(name => !documented.has(name))).toEqual([])
  })

  test('neither spans nor metrics nor the log name a recipient or a value', () => {
    const all = [program.err(), ...got.map(({ text }) => text)].join('\n')
    expect(all).not.toContain(WORD)
    expect(all).not.toContain(NUMBER.slice(1))
    expect(all).not.toContain(SECRET)
  })

  test('a stop sends what is left', async () => {
    const count = got.length
    expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(got.length).toBeGreaterThan(count)
  })
})

test('with gzip a process sends the same, compressed', async () => {
  const requests: { path: string; encoding: string | undefined; body: Buffer }[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    requests.push({
      ...{ path: request.url ?? '', encoding: request.headers['content-encoding'] },
      body: Buffer.concat(pieces),
    })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const program = await start({
    ...(await newDatabase()),
    ...{ HERALD_CAPTURE: '1', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_BSP_SCHEDULE_DELAY: '100' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_METRIC_EXPORT_INTERVAL: '200' },
  })
  await fetch(`${program.address}/v2/templates`)
  const of = (path: string) => requests.filter(request => request.path === path)
  await vi.waitFor(
    () => expect([of('/v1/traces').length > 0, of('/v1/metrics').length > 0]).toEqual([true, true]),
    20_000,
  )
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
  server.close()
  for (const { path, encoding, body } of requests) {
    expect(encoding).toBe('gzip')
    const text = gunzipSync(body).toString('utf8')
    decoded(path, text)
    if (path === '/v1/metrics') expect(body.length).toBeLessThan(text.length / 4)
  }
  const [spans] = of('/v1/traces').map(({ path, body }) => decoded(path, gunzipSync(body).toString('utf8')))
  expect(spans.resourceSpans[0].scopeSpans[0].spans[0].name).toBe('GET /v2/templates')
})

test('without a collector the code for it is not loaded', async () => {
  const loaders = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name) && !name.endsWith('telemetry/otlp.ts'))
    .filter(name => /from '.*telemetry\/otlp|from '\.\/otlp/.test(readFileSync(join('src', name), 'utf8')))
  expect(loaders).toEqual([])
  expect(readFileSync('src/telemetry/collector.ts', 'utf8')).toContain("await import('./otlp.ts')")
  const log = createLog('silent')
  const given = { metrics: createMetrics([]), name: 'one', version: '1', log }
  expect((await openTelemetry(readConfig({}), given)).trace).toBe(null)
  const off = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }
  expect((await openTelemetry(readConfig(off), given)).trace).toBe(null)
})

test('a collector that is away stops nothing, and is logged once', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_METRIC_EXPORT_INTERVAL: '100' }
  const program = await start({ ...(await newDatabase()), HERALD_CAPTURE: '1', ...env })
  await program.hasSaid('the OpenTelemetry collector does not take what is sent')
  const { code, err } = await program.end('SIGTERM')
  expect({ code, times: err.split('the OpenTelemetry collector').length - 1 }).toEqual({ code: 0, times: 1 })
})

test('spans are sampled by the id of the message, and a wrong setting is refused', () => {
  const sent: string[] = []
  const trace = createTracer({ ratio: 0.25, followsCaller: true }, span => sent.push(span.traceId))
  const ids = createIds(createClock())
  const all = Array.from({ length: 4_000 }, () => ids.next())
  for (const id of all) trace.accepted(id, trace.now(), false, {})
  expect(sent.length / all.length).toBeGreaterThan(0.2)
  expect(sent.length / all.length).toBeLessThan(0.3)
  const first = new Set(sent.splice(0))
  for (const id of all) trace.work(id, 'lane', {}).end()
  expect(new Set(sent)).toEqual(first)
  const wrong = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER_ARG: '2', OTEL_EXPORTER_OTLP_HEADERS: 'x' }
  expect(() => readConfig(wrong)).toThrow(
    /OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"[\s\S]*HEADERS must be[\s\S]*SAMPLER_ARG is "2"/,
  )
})
