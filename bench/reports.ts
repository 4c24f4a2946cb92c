// The report of many messages, as CSV and as lines of JSON, read by one caller. The yardstick is a plain COPY of the same columns of the
// same rows to a client, in the same minute. npm run bench -- reports [--rows 500000] [--repeats 3]
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Personal } from '../src/notifications/notification.ts'
import { createEnvironment, type Environment, type Running } from './support/environment.ts'
import { fill } from './support/fill.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'

const { rows, repeats, profile } = sizes({ rows: 500_000, repeats: 3 }, { rows: 5_000, repeats: 1 })

const DAYS = 3
const NAMES = ["O'Brien", 'Анна', '李', 'Charlotte']
const personal: Personal[] = Array.from({ length: 100 }, (_, n) => ({
  to: `${['o.brien', 'anna', 'li', 'charlotte'][n % 4]}${n}@example.org`,
  values: { name: NAMES[n % 4] ?? '', date: '12 November 2026', reference: `A-${n}` },
}))

/** What the report shows, as the tables have it. */
const COPY = `copy (
  select n.id, n.sealed, n.channel, s.status, s.failure_detail, n.reference, n.template_id, n.template_version, n.job_id, s.parts,
         n.scheduled_for, s.sent_at, s.completed_at
  from notifications n
  join states s on s.id = n.id
  order by n.id desc) to stdout`

type Round = { copy: number; csv: number; ndjson: number; growth: number; longest: number; cpu: number }

const environment = await createEnvironment()
const running = await environment.start({ profile })
try {
  await fill(environment, { from: 0, to: rows, days: DAYS, status: 'delivered', personal })
  const rounds: Round[] = []
  // One uncounted round: caches are cold and code is not optimised yet.
  for (let round = 0; round <= repeats; round++) {
    const one = await measured(environment, running)
    if (round > 0) rounds.push(one)
  }
  table(
    [
      `${rows} messages`,
      'COPY rows/s',
      'csv rows/s',
      'ndjson rows/s',
      'memory growth MB',
      'longest turn ms',
      'CPU µs/row',
    ],
    [['', ...(['copy', 'csv', 'ndjson', 'growth', 'longest', 'cpu'] as const).map(name => of(rounds, name))]],
  )
  print([
    figure('report_csv', of(rounds, 'csv'), 'rows/s', of(rounds, 'copy')),
    figure('report_ndjson', of(rounds, 'ndjson'), 'rows/s', of(rounds, 'copy')),
  ])
} finally {
  await running.stop()
  await environment.stop()
}

async function measured(environment: Environment, running: Running): Promise<Round> {
  const copy = await perSecond(() => copied(environment))
  await running.loop()
  const before = memoryOf(running.pid)
  const cpuBefore = cpuOf(running.pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(running.pid))
  }, 20)
  const csv = await perSecond(() => reported(environment, running, 'csv'))
  const ndjson = await perSecond(() => reported(environment, running, 'ndjson'))
  clearInterval(watch)
  const cpu = ((cpuOf(running.pid) - cpuBefore) * 1e6) / (2 * rows)
  const { max } = await running.loop()
  await sleep(200)
  return { copy, csv, ndjson, growth: (most - before) / 1e6, longest: max, cpu }
}

async function perSecond(work: () => Promise<number>): Promise<number> {
  const began = performance.now()
  const lines = await work()
  const seconds = (performance.now() - began) / 1000
  if (lines !== rows) throw new Error(`${lines} lines of ${rows} messages`)
  return rows / seconds
}

/** Through the driver, which discards the lines; the planner is free to choose. */
async function copied({ store }: Environment): Promise<number> {
  const client = store.db.client()
  await client.connect()
  await client.query('set enable_seqscan = on; set enable_hashjoin = on; set enable_mergejoin = on')
  const { rowCount } = await client.query(COPY)
  await client.end()
  return rowCount ?? 0
}

/** The number of lines, without the header. */
function reported({ key }: Environment, { address }: Running, format: 'csv' | 'ndjson'): Promise<number> {
  const [first, last] = [Date.now() - (DAYS + 2) * 86_400_000, Date.now()].map(ms => new Date(ms).toISOString())
  const path = `/herald/v1/reports/messages?from=${first}&to=${last}&format=${format}`
  return new Promise((resolve, reject) => {
    const headers = { authorization: `ApiKey-v1 ${key}` }
    const asked = http.get(new URL(path, address), { headers }, answer => {
      let lines = format === 'csv' ? -1 : 0
      answer.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
      })
      answer.on('end', () => resolve(lines))
      answer.on('error', reject)
    })
    asked.on('error', reject)
  })
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

/** Seconds of CPU time of all threads. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
