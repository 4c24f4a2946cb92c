// Receipts of text messages: posted by the provider, signed, stored, and applied until the last message is delivered. Some
// providers report one by one, some in lists; both are measured. npm run bench -- receipts [--messages 15000] [--repeats 3]
// [--profile FOLDER]
import { sign } from '../src/providers/http/signature.ts'
import { now } from './support/clock.ts'
import { createEnvironment } from './support/environment.ts'
import { fill } from './support/fill.ts'
import { request } from './support/load.ts'
import { measure, of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { watchCpu } from './support/process.ts'
import { figure, print, table } from './support/report.ts'
import { until } from './support/wait.ts'
import { type Inserted, insertYardstick } from './support/yardsticks.ts'

const SECRET = 'a secret that both sides of it know'
const CONNECTIONS = 64
const LIST = 100

const { messages, repeats, profile } = sizes({ messages: 15_000, repeats: 3 }, { messages: 1_000, repeats: 1 })

type Applied = { stored: number; applied: number; nodeMicros: number; databaseMicros: number }

const environment = await createEnvironment()
const running = await environment.start({
  profile,
  // A port without a mail server: nothing is sent here, but the engine must run.
  mail: 9,
  env: {
    HERALD_TEXT_PROVIDERS: 'http',
    HERALD_HTTP_SMS_URL: 'http://127.0.0.1:9/',
    HERALD_HTTP_SMS_BODY: '{"to": "{to}", "text": "{text}"}',
    HERALD_HTTP_SMS_RECEIPT_SECRET: SECRET,
  },
})
try {
  // One more round of each, as a warm-up.
  const all = messages * 2 * (repeats + 1)
  await fill(environment, { from: 0, to: all, days: 1 / 1440, status: 'sending' })
  const singles: Applied[] = []
  const lists: Applied[] = []
  const inserts: Inserted[] = []
  for (let round = 0; round <= repeats; round++) {
    const first = round * 2 * messages
    const one = await apply(first, 1)
    const many = await apply(first + messages, LIST)
    if (round === 0) continue
    inserts.push(await insertYardstick(environment, CONNECTIONS, 1))
    singles.push(one)
    lists.push(many)
  }
  const insert = of(inserts, 'perSecond')
  const row = (name: string, rounds: Applied[]) => [
    name,
    of(rounds, 'stored'),
    of(rounds, 'applied'),
    of(rounds, 'applied') / insert,
    of(rounds, 'nodeMicros'),
    of(rounds, 'databaseMicros'),
  ]
  table(
    [`${CONNECTIONS} connections`, 'stored/s', 'applied/s', '× insert', 'node µs', 'pg µs'],
    [
      row('receipts one by one', singles),
      row(`receipts in lists of ${LIST}`, lists),
      ['single-row inserts', insert, '', 1, '', ''],
    ],
  )
  print([
    figure('receipts_in_lists', of(lists, 'applied'), '/s', insert),
    figure('receipts_one_by_one', of(singles, 'applied'), '/s', insert),
  ])
} finally {
  await running.stop()
  await environment.stop()
}

async function apply(first: number, list: number): Promise<Applied> {
  const requests = Array.from({ length: messages / list }, (_, n) => newsOf(first + n * list, list))
  const before = await delivered()
  const used = watchCpu(environment, [running.pid])
  const job = { requests, connections: CONNECTIONS, seconds: 0, once: true, warmUp: 0 }
  const { began, perSecond } = await measure(environment, [running], job, 200)
  await until('the last receipt', async () => !(await isWaiting()))
  const seconds = (now() - began) / 1000
  const { node, database } = used()
  if ((await delivered()) - before !== messages) throw new Error('not every receipt was applied')
  return {
    stored: perSecond * list,
    applied: messages / seconds,
    nodeMicros: (node * 1e6) / messages,
    databaseMicros: (database * 1e6) / messages,
  }
}

function newsOf(first: number, count: number): string {
  const items = Array.from({ length: count }, (_, n) => ({ id: `ref-${first + n}`, status: 'delivered' }))
  const body = JSON.stringify(count === 1 ? items[0] : items)
  const timestamp = String(Date.now())
  const signature = sign(SECRET, timestamp, Buffer.from(body)).toString('hex')
  return request('POST', '/receipts/http', { 'x-signature': signature, 'x-timestamp': timestamp }, body)
}

async function isWaiting(): Promise<boolean> {
  const rows = await environment.store.db.sql`select id from tickets where lane = 'receipt' limit 1`
  return rows.length > 0
}

async function delivered(): Promise<number> {
  const [row] = await environment.store.db.sql<{ n: number }>`
    select count(*)::integer as n
    from states
    where service_id = ${environment.service}
      and key_type = 'normal'
      and channel = 'sms'
      and in_job = false
      and status = 'delivered'`
  return row?.n ?? 0
}
