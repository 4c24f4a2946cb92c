// What on-call relies on: every metric of the dashboard and the alerts exists, every promise has its metric on the dashboard, and
// every alert its paragraph.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { settingsTable } from '../src/config/index.ts'
import { readId } from '../src/core/id.ts'
import { figuresOf } from '../src/figures.ts'
import { LANES } from '../src/sending.ts'
import { selfSigned } from './support/certificates.ts'
import { freePort } from './support/port.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

const board = readFileSync('ops/grafana-dashboard.json', 'utf8')
const alerts = readFileSync('ops/alerts.yml', 'utf8')
const runbook = readFileSync('docs/on-call.md', 'utf8')

type Panel = { title: string; description?: string; targets?: { expr: string }[] }
const panels = (JSON.parse(board) as { panels: Panel[] }).panels
const queries = panels.flatMap(panel => (panel.targets ?? []).map(target => target.expr))
const rules = [...alerts.matchAll(/- alert: (\w+)\n +expr: (["'])(.*)\2\n +for: \d+[smh]\n/g)].map(
  ([, name = '', , expr = '']) => ({ name, expr }),
)

/** A promise, or something an operator must know at once, and the metric that shows it. */
const WANTED = {
  'oldest waiting age per lane (L1, L3, L5)': 'herald_oldest_waiting_seconds',
  'waiting per lane': 'herald_waiting_tickets',
  'nothing stuck (O5)': 'herald_overdue_tickets',
  'uncertain sends (U1, F5)': 'herald_sends_total',
  'results not recorded (R5)': 'herald_unrecorded',
  'sends in flight (R3)': 'herald_in_flight',
  'circuit state (F1)': 'herald_provider_up',
  'circuit openings (F1)': 'herald_provider_downs',
  'limit refusals (A1, A2)': 'herald_limit_refusals_total',
  'event-loop delay (L4)': 'herald_nodejs_eventloop_lag_p99_seconds',
  'memory (C1, C5)': 'herald_process_resident_memory_bytes',
  'unmatched receipts (O3)': 'herald_receipts_unmatched',
  'set aside (D8)': 'herald_set_aside_total',
  'held (B2)': 'herald_held',
  'kept back (B2)': 'herald_kept_back_tickets',
  'database away (D2, C3)': 'herald_database_up',
  'latency (L7)': 'herald_http_request_seconds',
  'requests, 5xx (C4)': 'herald_http_requests_total',
  'scan pending (F9)': 'herald_scan_oldest_seconds',
  'partitions ahead (T1)': 'herald_partitions_ahead_days',
  'a process leads': 'herald_leader',
  'rows purged and ended by maintenance': 'herald_maintenance_rows_total',
  'duration of maintenance': 'herald_maintenance_seconds',
  'the database clock was set (T1)': 'herald_clock_steps',
  'errors in the log': 'herald_faults_total',
  'callers refused at the limit of open files': 'herald_connections_refused_total',
  'webhook requests': 'herald_webhook_posts_total',
  'events that endpoints accepted': 'herald_webhook_events_total',
  'webhook endpoints by state': 'herald_webhooks',
  'webhook endpoints that fail': 'herald_webhooks_failing',
  'webhook endpoints disabled': 'herald_webhooks_disabled_total',
  'webhook endpoints behind': 'herald_webhook_behind_seconds',
  'readers of events wait for a transaction': 'herald_events_horizon_seconds',
  'requests waiting for events': 'herald_events_waiting',
  'mails of Herald itself given up': 'herald_mails_lost_total',
  'synchronous standbys': 'herald_replication_synchronous_standbys',
  'replication required and missing': 'herald_replication_missing',
  'replication lag in time': 'herald_replication_lag_seconds',
  'replication lag in bytes': 'herald_replication_lag_bytes',
}

/** Not of an external database, which this one is: test/backup.test.ts scrapes an embedded one. */
const OF_EMBEDDED = ['herald_backup_age_seconds']

const namesIn = (expr: string) => [...new Set(expr.match(/\bherald_[a-z0-9_]+/g))]

/** Names with a sample, as Prometheus would store them. */
const samplesIn = (text: string) =>
  new Set([...text.matchAll(/^(herald_[a-z0-9_]+)(?:\{[^}]*\})? \S+$/gm)].map(([, name = '']) => name))

const scraped = async (address: string) => (await fetch(`${address}/metrics`)).text()
const FROM_DATABASE = ['herald_waiting_tickets', 'herald_partitions_ahead_days', 'herald_replication_missing']
/** On a busy machine the database may be too slow for a scrape, which then lacks its figures. */
async function whole(address: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const text = await scraped(address)
    const samples = samplesIn(text)
    if (FROM_DATABASE.every(name => samples.has(name)) || tries > 20) return text
  }
}

const numberAt = (text: string, sample: string) =>
  Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${sample} `))
      ?.slice(sample.length + 1) ?? Number.NaN,
  )

describe('a real scrape', async () => {
  const here = await world({}, { engine: true })
  const service = await here.service({ rate_limit: 2, email_daily_limit: 1 })
  const key = await service.key()
  const template = await emailTemplate(key)
  const body = { email_address: 'ada@example.net', template_id: template, personalisation: { name: 'Ada' } }
  expect((await key.post(EMAIL, body)).status).toBe(201)
  const statuses = [(await key.post(EMAIL, body)).body, (await key.post(EMAIL, body)).body]
  expect(statuses.map(one => one.errors[0].error)).toEqual(['TooManyRequestsError', 'RateLimitError'])
  const text = await whole(here.address)
  const samples = samplesIn(text)

  test('has every metric of the dashboard', () => {
    expect(queries.length).toBeGreaterThan(20)
    expect([...namesIn(board)].filter(name => !samples.has(name))).toEqual([])
  })

  test('has every metric of the alerts', () => {
    expect(rules.length).toBe(alerts.match(/- alert:/g)?.length)
    const missing = rules.flatMap(rule => namesIn(rule.expr)).filter(name => !samples.has(name))
    expect(missing).toEqual(OF_EMBEDDED)
  })

  test('has a metric for every promise, which is on the dashboard', () => {
    const shown = [...namesIn(queries.join('\n'))].map(name => name.replace(/_(bucket|count|sum)$/, ''))
    for (const [promise, name] of Object.entries(WANTED)) {
      expect(
        [...samples].map(one => one.replace(/_(bucket|count|sum)$/, '')),
        promise,
      ).toContain(name)
      expect(shown, promise).toContain(name)
    }
  })

  test('counts limits, lanes, providers and sends', async () => {
    expect(numberAt(text, 'herald_limit_refusals_total{limit="rate"}')).toBe(1)
    expect(numberAt(text, 'herald_limit_refusals_total{limit="daily"}')).toBe(1)
    expect(numberAt(text, 'herald_provider_up{channel="email",provider="capture"}')).toBe(1)
    await expect
      .poll(
        async () => numberAt(await scraped(here.address), 'herald_sends_total{channel="email",outcome="accepted"}'),
        {
          timeout: 20_000,
        },
      )
      .toBe(1)
    expect(numberAt(text, 'herald_database_up')).toBe(1)
    expect(numberAt(text, 'herald_partitions_ahead_days')).toBeGreaterThanOrEqual(2)
    const lanes = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{lane="([a-z-]+)"\\}`, 'gm'))].map(([, lane]) => lane).sort()
    expect(lanes('herald_oldest_waiting_seconds')).toEqual([...LANES].sort())
    expect(lanes('herald_in_flight')).toEqual([...LANES].sort())
  })
})

test('a transaction that readers of events wait for shows by its age', async () => {
  const here = await world()
  const client = here.parts.db.client()
  await client.connect()
  await client.query('begin')
  await client.query('select pg_current_xact_id()')
  const age = async () => numberAt(await scraped(here.address), 'herald_events_horizon_seconds')
  await expect.poll(age, { timeout: 20_000, interval: 200 }).toBeGreaterThan(0.5)
  await client.end()
})

test('the figures of the queue equal its contents', async () => {
  const here = await world()
  const { sql } = here.parts.db
  const put = (lane: string, ago: number, attempts = 0, owner = false) => sql`
    insert into tickets (id, lane, service_id, subjects, due_at, attempts, owner, leased_until)
    values (gen_random_uuid(), ${lane}, gen_random_uuid(), array[${here.parts.ids.next()}::uuid],
            clock_timestamp() - make_interval(secs => ${ago}), ${attempts},
            case when ${owner} then gen_random_uuid() end, case when ${owner} then clock_timestamp() end)`
  await put('email-high', 20)
  await put('email-high', 30, 1, true)
  await put('email-low', 400)
  await put('sms-low', -600)
  await put('kept-sms-low', 500)
  await put('receipt', 1, 3)
  await put('receipt', 1)
  await put('scan', 5)
  const { lanes, ...rest } = await figuresOf(sql)
  const of = (lane: string) => lanes.find(one => one.lane === lane)
  expect(of('email-high')).toMatchObject({ waiting: 1, overdue: 0 })
  expect(Math.round((of('email-high')?.oldest_seconds ?? 0) / 30)).toBe(1)
  expect(of('email-low')).toMatchObject({ waiting: 1, overdue: 1 })
  expect(of('sms-low')).toEqual({ lane: 'sms-low', waiting: 0, oldest_seconds: 0, overdue: 0 })
  expect(rest).toMatchObject({ kept: 1, unmatched: 1 })
  expect(rest.scan_oldest_seconds).toBeLessThan(60)
})

test('a process with only the engine serves its metrics on a port of its own', async () => {
  const port = await freePort()
  const { parts } = await world()
  const { start } = await import('../src/main.ts')
  const engine = await start({ ...parts.config, metricsPort: port }, { only: 'engine' })
  try {
    const address = `http://127.0.0.1:${port}`
    expect(samplesIn(await scraped(address))).toContain('herald_provider_up')
    expect((await fetch(`${address}/health/ready`)).status).toBe(200)
    expect((await fetch(`${address}/v2/notifications`)).status).toBe(404)
  } finally {
    await engine.stop()
  }
})

describe('the documents', () => {
  test('every alert has its paragraph and every paragraph its alert', () => {
    const headings = [...runbook.matchAll(/^## (Herald\w+)$/gm)].map(([, name]) => name)
    expect(rules.map(rule => rule.name)).toEqual(headings)
  })

  test('the dashboard can be imported: ids differ, panels are described, the data source is a variable', () => {
    const { uid, templating, panels } = JSON.parse(board)
    expect(uid).toBe('herald')
    expect(templating.list[0]).toMatchObject({ name: 'DS', type: 'datasource', query: 'prometheus' })
    expect(new Set(panels.map((panel: { id: number }) => panel.id)).size).toBe(panels.length)
    for (const panel of panels) if (panel.type !== 'row') expect(panel.description, panel.title).toMatch(/\w/)
  })

  // Grafana publishes its schema as types: the compiler checks every field of the dashboard, and of the options of its panels.
  test("the dashboard follows Grafana's schema", () => {
    const folder = mkdtempSync(join(tmpdir(), 'herald-board-'))
    try {
      symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
      const complaints = (text: string) => {
        const file = join(folder, 'board.ts')
        writeFileSync(file, boardSource(text))
        const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
        const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023']
        return spawnSync(process.execPath, [compiler, ...options, file], { cwd: folder, encoding: 'utf8' }).stdout
      }
      expect(complaints(board)).toBe('')
      expect(complaints(board.replace('"schemaVersion"', '"schemaVersions"'))).toContain('schemaVersion')
      expect(complaints(board.replace('"showLegend": true', '"showLegend": "yes"'))).toContain('boolean')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const CONFIGURED = '@grafana/schema/dist/esm/raw/composable'

/** A TypeScript file that compiles if the dashboard and the options of each panel have Grafana's types. Enums are their values. */
function boardSource(text: string): string {
  const { panels } = JSON.parse(text) as {
    panels: { type: string; options: unknown; fieldConfig: { defaults: { custom?: unknown } } }[]
  }
  const options = panels
    .filter(panel => panel.type !== 'row')
    .map(({ type, options, fieldConfig: { defaults } }) => [
      `void (${JSON.stringify(options)} satisfies Json<${type}.Options>)`,
      ...(defaults.custom ? [`void (${JSON.stringify(defaults.custom)} satisfies Json<${type}.FieldConfig>)`] : []),
    ])
  return [
    "import type { Dashboard } from '@grafana/schema'",
    `import type * as stat from '${CONFIGURED}/stat/panelcfg/x/StatPanelCfg_types.gen'`,
    `import type * as timeseries from '${CONFIGURED}/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'`,
    `type Json<T> = T extends string ? \`\${T}\`
      : T extends number ? (\`\${T}\` extends \`\${infer N extends number}\` ? N : number)
      : T extends readonly (infer U)[] ? Json<U>[]
      : T extends object ? { [K in keyof T]: Json<T[K]> } : T`,
    `void (${text.trim()} satisfies Json<Dashboard>)`,
    ...options.flat(),
  ].join('\n')
}

const [HAPROXY, PATRONI] = ['/usr/sbin/haproxy', '/usr/bin/patroni']
for (const program of [HAPROXY, PATRONI])
  if (!existsSync(program)) console.warn(`${program} is not installed: its example in ops/ is not checked.`)

describe('examples for several machines', () => {
  const read = (name: string) => readFileSync(`ops/${name}`, 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'herald-ops-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const written = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  test('every setting of herald.env exists, also those that are comments', () => {
    const known = new Set(settingsTable().map(({ name }) => name))
    const named = [...read('herald.env').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter(name => !known.has(name) && !known.has(name.replace(/_FILE$/, '')))).toEqual([])
  })

  test.skipIf(!existsSync(HAPROXY))('HAProxy accepts both configurations', () => {
    const certificate = written('herald.pem', Object.values(selfSigned('notify.example.org') ?? {}).join('\n'))
    for (const name of ['haproxy.cfg', 'haproxy-cells.cfg']) {
      const text = read(name)
        .replaceAll('/etc/haproxy/herald.pem', certificate)
        .replaceAll('/etc/haproxy/cells.map', join(process.cwd(), 'ops/cells.map'))
      expect(execFileSync(HAPROXY, ['-c', '-q', '-f', written(name, text)], { encoding: 'utf8' })).toBe('')
    }
  })

  test('the map names only backends of the configuration', () => {
    const backends = [...read('haproxy-cells.cfg').matchAll(/^backend (\S+)/gm)].map(([, name]) => name)
    const lines = read('cells.map')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) {
      const [service = '', cell] = line.split(' ')
      expect(readId(service)).toBe(service)
      expect(backends).toContain(cell)
    }
  })

  test.skipIf(!existsSync(PATRONI))('Patroni accepts its configuration', () => {
    const { stdout, stderr } = spawnSync(PATRONI, ['--validate-config', 'ops/patroni.yml'], { encoding: 'utf8' })
    // The addresses are not those of this machine. Patroni 3.0 wants bootstrap.pg_hba, which the pg_hba of `dcs` replaces.
    const expected = /Port \d+ is already in use|^bootstrap\.pg_hba |^$/
    expect(`${stdout}${stderr}`.split('\n').filter(line => !expected.test(line.trim()))).toEqual([])
  })

  test('the three machines of etcd and Patroni are the same, and so are those of herald.env', () => {
    const hosts = ['10.0.0.11', '10.0.0.12', '10.0.0.13']
    const [, etcd = ''] = /^ETCD_INITIAL_CLUSTER="(.*)"/m.exec(read('etcd.env')) ?? []
    expect(etcd.split(',').map(one => one.replace(/^\w+=http:\/\/|:2380$/g, ''))).toEqual(hosts)
    expect(read('patroni.yml')).toContain(`hosts: ${hosts.map(host => `${host}:2379`).join(',')}`)
    expect(read('herald.env')).toContain(`@${hosts.join(',')}/herald`)
  })
})
