// The alert rules in a real Prometheus: each fires when it should and not otherwise, every rule and every query of the dashboard is
// evaluated on the metrics of a running Herald, and an alert fires end to end.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { freePort } from './support/port.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const [PROMTOOL, PROMETHEUS] = ['/usr/bin/promtool', '/usr/bin/prometheus']
const isInstalled = existsSync(PROMTOOL) && existsSync(PROMETHEUS)
if (!isInstalled)
  console.warn('Prometheus is not installed (scripts/install-monitoring.sh): the alert rules are not run.')

const RULES = join(process.cwd(), 'ops/alerts.yml')
const folder = mkdtempSync(join(tmpdir(), 'herald-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Rule = { alert: string; labels: { severity: string }; annotations: { summary: string; runbook: string } }
const rules = [
  ...readFileSync(RULES, 'utf8').matchAll(
    /- alert: (\w+)\n(?: +.*\n)*? +severity: (\w+)\n +annotations:\n +summary: "(.*)"\n +runbook: (\S+)\n/g,
  ),
].map(
  ([, alert = '', severity = '', summary = '', runbook = '']): Rule => ({
    ...{ alert, labels: { severity } },
    annotations: { summary, runbook },
  }),
)

/** Series and their values, one a minute, as promtool reads them: `3x20` is 21 times 3, `0+2x20` counts up by 2. */
type Values = Readonly<Record<string, string>>
type Case = {
  /** The alert fires with these labels after so many minutes. */
  fires: readonly [minutes: number, labels: Readonly<Record<string, string>>, Values]
  /** It does not fire within the same time. */
  quiet: readonly Values[]
}

const HERALD = { job: 'herald' }
const sends = (rejected: number, accepted: number): Values => ({
  'herald_sends_total{job="herald", channel="email", outcome="rejected"}': `0+${rejected}x60`,
  'herald_sends_total{job="herald", channel="email", outcome="accepted"}': `0+${accepted}x60`,
})
const answers = (failed: number, others: number): Values => ({
  'herald_http_requests_total{job="herald", status="500"}': `0+${failed}x30`,
  'herald_http_requests_total{job="herald", status="201"}': `0+${others}x30`,
})
const durations = (route: string, withinSecond: number): Values => ({
  [`herald_http_request_seconds_bucket{job="herald", route="${route}", le="1"}`]: `0+${withinSecond}x40`,
  [`herald_http_request_seconds_bucket{job="herald", route="${route}", le="2.5"}`]: '0+100x40',
  [`herald_http_request_seconds_bucket{job="herald", route="${route}", le="+Inf"}`]: '0+100x40',
})

const CASES: Readonly<Record<string, Case>> = {
  HeraldDown: {
    fires: [3, { ...HERALD, instance: 'a' }, { 'up{job="herald", instance="a"}': '0x10' }],
    quiet: [
      { 'up{job="herald", instance="a"}': '1x10', 'up{job="other", instance="b"}': '0x10' },
      { 'up{job="herald", instance="a"}': '1 0 1 0 1 0 1 0' },
    ],
  },
  HeraldDatabaseAway: {
    fires: [
      2,
      HERALD,
      {
        'herald_database_up{job="herald", instance="a"}': '1x10',
        'herald_database_up{job="herald", instance="b"}': '0x10',
      },
    ],
    quiet: [{ 'herald_database_up{job="herald"}': '1x10' }],
  },
  HeraldNotReplicated: {
    fires: [2, HERALD, { 'herald_replication_missing{job="herald"}': '1x10' }],
    quiet: [{ 'herald_replication_missing{job="herald"}': '0x10' }],
  },
  HeraldReplicationLag: {
    fires: [
      6,
      { ...HERALD, stage: 'replay' },
      { 'herald_replication_lag_seconds{job="herald", stage="replay"}': '61x20' },
    ],
    quiet: [{ 'herald_replication_lag_seconds{job="herald", stage="replay"}': '60x20' }],
  },
  HeraldHeld: {
    fires: [11, HERALD, { 'herald_held{job="herald"}': '1x20' }],
    quiet: [{ 'herald_held{job="herald"}': '0x20' }, { 'herald_held{job="herald"}': '1x8 0x20' }],
  },
  HeraldCodesWait: {
    fires: [
      3,
      { ...HERALD, lane: 'sms-high' },
      { 'herald_oldest_waiting_seconds{job="herald", lane="sms-high"}': '61x10' },
    ],
    quiet: [
      {
        'herald_oldest_waiting_seconds{job="herald", lane="sms-high"}': '60x10',
        'herald_oldest_waiting_seconds{job="herald", lane="sms-low"}': '5000x10',
      },
    ],
  },
  HeraldMessagesWait: {
    fires: [
      11,
      { ...HERALD, lane: 'email-low' },
      { 'herald_oldest_waiting_seconds{job="herald", lane="email-low"}': '901x20' },
    ],
    quiet: [
      {
        'herald_oldest_waiting_seconds{job="herald", lane="email-low"}': '900x20',
        'herald_oldest_waiting_seconds{job="herald", lane="email-high"}': '5000x20',
        'herald_oldest_waiting_seconds{job="herald", lane="receipt"}': '5000x20',
      },
    ],
  },
  HeraldOverdue: {
    fires: [16, { ...HERALD, lane: 'scan' }, { 'herald_overdue_tickets{job="herald", lane="scan"}': '1x20' }],
    quiet: [{ 'herald_overdue_tickets{job="herald", lane="scan"}': '0x20' }],
  },
  HeraldProviderDown: {
    fires: [
      6,
      { ...HERALD, channel: 'email', provider: 'relay' },
      { 'herald_provider_up{job="herald", channel="email", provider="relay"}': '0x10' },
    ],
    quiet: [
      { 'herald_provider_up{job="herald", channel="email", provider="relay"}': '1x10' },
      { 'herald_provider_up{job="herald", channel="email", provider="relay"}': '0x3 1 0x3 1' },
    ],
  },
  HeraldRejections: { fires: [31, { ...HERALD, channel: 'email' }, sends(3, 7)], quiet: [sends(1, 9), sends(0, 10)] },
  HeraldUncertainSends: {
    fires: [15, HERALD, { 'herald_sends_total{job="herald", channel="sms", outcome="uncertain"}': '0+1x20' }],
    quiet: [
      { 'herald_sends_total{job="herald", channel="sms", outcome="uncertain"}': '0x5 5x20' },
      { 'herald_sends_total{job="herald", channel="sms", outcome="rejected"}': '0+10x20' },
    ],
  },
  HeraldNotRecorded: {
    fires: [11, { ...HERALD, lane: 'sms-low' }, { 'herald_unrecorded{job="herald", lane="sms-low"}': '2x20' }],
    quiet: [{ 'herald_unrecorded{job="herald", lane="sms-low"}': '2 2 0 2 2 0 2 2 0 2 2 0' }],
  },
  HeraldServerErrors: { fires: [11, HERALD, answers(2, 98)], quiet: [answers(1, 199), answers(0, 100)] },
  HeraldSlowAnswers: {
    fires: [21, HERALD, durations('/v2/notifications/email', 90)],
    quiet: [durations('/v2/notifications/email', 100), durations('/v2/notifications/bulk', 90)],
  },
  HeraldEventLoop: {
    fires: [11, HERALD, { 'herald_nodejs_eventloop_lag_p99_seconds{job="herald"}': '0.3x20' }],
    quiet: [{ 'herald_nodejs_eventloop_lag_p99_seconds{job="herald"}': '0.25x20' }],
  },
  HeraldConnectionsRefused: {
    fires: [3, HERALD, { 'herald_connections_refused_total{job="herald"}': '0+1x10' }],
    quiet: [{ 'herald_connections_refused_total{job="herald"}': '7x10' }],
  },
  HeraldDatabaseBusy: {
    fires: [6, HERALD, { 'herald_database_waiting{job="herald"}': '21x10' }],
    quiet: [{ 'herald_database_waiting{job="herald"}': '20x10' }],
  },
  HeraldScannerAway: {
    fires: [6, HERALD, { 'herald_scan_oldest_seconds{job="herald"}': '301x10' }],
    quiet: [{ 'herald_scan_oldest_seconds{job="herald"}': '300x10' }],
  },
  HeraldReceiptsUnmatched: {
    fires: [31, HERALD, { 'herald_receipts_unmatched{job="herald"}': '101x40' }],
    quiet: [{ 'herald_receipts_unmatched{job="herald"}': '100x40' }],
  },
  HeraldSetAside: {
    fires: [
      10,
      { ...HERALD, lane: 'email-high' },
      { 'herald_set_aside_total{job="herald", lane="email-high"}': '0x5 1x10' },
    ],
    quiet: [{ 'herald_set_aside_total{job="herald", lane="email-high"}': '3x15' }],
  },
  HeraldErrors: {
    fires: [21, HERALD, { 'herald_faults_total{job="herald"}': '0+2x40' }],
    quiet: [{ 'herald_faults_total{job="herald"}': '0+1x40' }],
  },
  HeraldPartitions: {
    fires: [11, HERALD, { 'herald_partitions_ahead_days{job="herald"}': '0x20' }],
    quiet: [{ 'herald_partitions_ahead_days{job="herald"}': '1x20' }],
  },
  HeraldNoLeader: {
    fires: [
      11,
      HERALD,
      { 'herald_leader{job="herald", instance="a"}': '0x20', 'herald_leader{job="herald", instance="b"}': '0x20' },
    ],
    quiet: [
      { 'herald_leader{job="herald", instance="a"}': '0x20', 'herald_leader{job="herald", instance="b"}': '1x20' },
    ],
  },
  HeraldClockStep: {
    fires: [7, HERALD, { 'herald_clock_steps{job="herald"}': '0x3 1x20' }],
    quiet: [{ 'herald_clock_steps{job="herald"}': '4x20' }],
  },
  HeraldKeptBack: {
    fires: [61, HERALD, { 'herald_kept_back_tickets{job="herald"}': '1x70' }],
    quiet: [{ 'herald_kept_back_tickets{job="herald"}': '0x70' }],
  },
  HeraldLimitRefusals: {
    fires: [
      31,
      { ...HERALD, limit: 'rate' },
      { 'herald_limit_refusals_total{job="herald", limit="rate"}': '0+100x60' },
    ],
    quiet: [{ 'herald_limit_refusals_total{job="herald", limit="rate"}': '0+50x60' }],
  },
  HeraldWebhookDisabled: {
    fires: [
      10,
      { ...HERALD, reason: 'gone' },
      { 'herald_webhooks_disabled_total{job="herald", reason="gone"}': '0x5 1x10' },
    ],
    quiet: [{ 'herald_webhooks_disabled_total{job="herald", reason="gone"}': '2x15' }],
  },
  HeraldWebhooksBehind: {
    fires: [
      11,
      HERALD,
      { 'herald_webhook_behind_seconds{job="herald"}': '601x20', 'herald_held{job="herald"}': '0x20' },
    ],
    quiet: [
      { 'herald_webhook_behind_seconds{job="herald"}': '600x20', 'herald_held{job="herald"}': '0x20' },
      { 'herald_webhook_behind_seconds{job="herald"}': '601x20', 'herald_held{job="herald"}': '1x20' },
    ],
  },
  HeraldEventsStuck: {
    fires: [2, HERALD, { 'herald_events_horizon_seconds{job="herald"}': '301x10' }],
    quiet: [{ 'herald_events_horizon_seconds{job="herald"}': '300x10' }],
  },
  HeraldMailsLost: {
    fires: [10, HERALD, { 'herald_mails_lost_total{job="herald"}': '0x5 1x10' }],
    quiet: [{ 'herald_mails_lost_total{job="herald"}': '1x15' }],
  },
  HeraldBackupOld: {
    fires: [16, HERALD, { 'herald_backup_age_seconds{job="herald"}': '172801+60x20' }],
    quiet: [{ 'herald_backup_age_seconds{job="herald"}': '170000+60x20' }],
  },
}

describe.skipIf(!isInstalled)('promtool', () => {
  test('accepts the rules', () => {
    expect(execFileSync(PROMTOOL, ['check', 'rules', RULES], { encoding: 'utf8' })).toContain(
      `${rules.length} rules found`,
    )
  })

  test('has a case for each alert', () => {
    const alerts = readFileSync(RULES, 'utf8').match(/(?<=- alert: )\w+/g)
    expect(rules.map(rule => rule.alert)).toEqual(alerts)
    expect(Object.keys(CASES)).toEqual(alerts)
  })

  test('each alert fires when it should, and not otherwise', () => {
    // JSON is YAML.
    const file = join(folder, 'cases.yml')
    const tests = rules.flatMap(rule => casesOf(rule))
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
    expect(tests.length).toBeGreaterThan(2 * rules.length)
    expect(execFileSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  })

  test('a case that does not hold fails', () => {
    const [rule] = rules
    if (!rule) throw new Error('there is no rule')
    const file = join(folder, 'wrong.yml')
    const wrong = casesOf(rule).map(one => ({ ...one, input_series: [{ series: 'up{job="herald"}', values: '1x10' }] }))
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: wrong }))
    expect(() => execFileSync(PROMTOOL, ['test', 'rules', file], { stdio: 'pipe' })).toThrow(rule.alert)
  })
})

function casesOf({ alert, labels, annotations }: Rule) {
  const { fires, quiet } = CASES[alert] as Case
  const [minutes, more, series] = fires
  const summary = annotations.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => more[name] ?? '')
  const fired = { exp_labels: { ...labels, ...more }, exp_annotations: { ...annotations, summary } }
  const at = (minute: number, expected: readonly unknown[]) => ({
    ...{ eval_time: `${minute}m`, alertname: alert, exp_alerts: expected },
  })
  const given = (values: Values) => Object.entries(values).map(([name, values]) => ({ series: name, values }))
  return [
    // Not at the first evaluation: it waits for its `for`, or for a change.
    { interval: '1m', input_series: given(series), alert_rule_test: [at(0, []), at(minutes, [fired])] },
    ...quiet.map(values => ({
      ...{ interval: '1m', input_series: given(values) },
      alert_rule_test: Array.from({ length: minutes + 1 }, (_, minute) => at(minute, [])),
    })),
  ]
}

describe.skipIf(!isInstalled)('a Prometheus that scrapes a running Herald', async () => {
  if (!isInstalled) return
  const here = await world({}, { engine: true })
  const key = await (await here.service({ rate_limit: 1 })).key()
  const template_id = await emailTemplate(key)
  const body = { email_address: 'ada@example.net', template_id, personalisation: { name: 'Ada' } }
  expect([(await key.post(EMAIL, body)).status, (await key.post(EMAIL, body)).status]).toEqual([201, 429])
  const port = await freePort()
  const config = join(folder, 'prometheus.yml')
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [RULES],
      scrape_configs: [{ job_name: 'herald', static_configs: [{ targets: [`127.0.0.1:${here.port}`] }] }],
    }),
  )
  const prometheus = spawn(
    PROMETHEUS,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const ended = new Promise(resolve => prometheus.once('exit', resolve))
  afterAll(async () => {
    prometheus.kill('SIGTERM')
    await ended
  })

  // biome-ignore lint/suspicious/noExplicitAny: the answers of another program
  async function ask(path: string): Promise<any> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const body = (await answer.json()) as { status: string; data: unknown }
    if (body.status !== 'success') throw new Error(JSON.stringify(body))
    return body.data
  }
  const valuesOf = async (query: string) => (await ask(`query?query=${encodeURIComponent(query)}`)).result

  test('scrapes it', async () => {
    await expect
      .poll(async () => (await valuesOf('up{job="herald"}').catch(() => []))[0]?.value[1], { timeout: 30_000 })
      .toBe('1')
  })

  test('loads and evaluates every rule, and none fires', async () => {
    const loaded = async () => (await ask('rules')).groups[0].rules
    await expect
      .poll(async () => (await loaded()).map((rule: { health: string }) => rule.health), { timeout: 30_000 })
      .toEqual(rules.map(() => 'ok'))
    // On a busy machine a scrape may take too long; then HeraldDown is pending until the next one.
    const states = async () =>
      (await loaded()).map(({ name, state }: { name: string; state: string }) => ({ name, state }))
    await expect
      .poll(states, { timeout: 30_000 })
      .toEqual(rules.map(({ alert }) => ({ name: alert, state: 'inactive' })))
  })

  test('has an answer for every query of the dashboard', async () => {
    type Panel = { title: string; targets?: { expr: string }[] }
    const { panels } = JSON.parse(readFileSync('ops/grafana-dashboard.json', 'utf8')) as { panels: Panel[] }
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
    expect(queries.length).toBeGreaterThan(30)
    const unanswered = async () => {
      const missing: string[] = []
      for (const { title, expr } of queries) {
        const query = expr.replaceAll('$job', 'herald').replaceAll('$__rate_interval', '1m')
        if ((await valuesOf(query)).length === 0) missing.push(`${title}: ${query}`)
      }
      return missing
    }
    // The first maintenance of a start may come a minute late.
    await expect.poll(unanswered, { timeout: 90_000, interval: 1_000 }).toEqual([])
  })

  test('an alert fires after its cause', async () => {
    const firing = async () =>
      (await ask('alerts')).alerts.filter((alert: { state: string }) => alert.state === 'firing')
    expect(await firing()).toEqual([])
    here.parts.metrics.mailsLost.inc()
    await expect
      .poll(firing, { timeout: 30_000 })
      .toMatchObject([{ labels: { alertname: 'HeraldMailsLost', job: 'herald', severity: 'ticket' } }])
  })
})
