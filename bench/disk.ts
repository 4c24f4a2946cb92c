// What a message writes: bytes that stay in tables, indexes and TOAST, and bytes of WAL, which go to every standby and every archive.
// An e-mail by SMTP and a text message by HTTP, accepted by one process and delivered by another at the same time; then, in turn,
// accepted without an engine and delivered from the queue. full_page_writes is on, as it must be: after a checkpoint the first change
// of a page writes the whole page, so the first messages after one cost more than the following ones.
// npm run bench -- disk [--messages 5000] [--rate 500]
import { createEnvironment, type StartOptions } from './support/environment.ts'
import { load } from './support/load.ts'
import { startMail } from './support/mail.ts'
import { sizes } from './support/options.ts'
import { startReceiver } from './support/receiver.ts'
import { type Figure, figure, print, table } from './support/report.ts'
import { emails, texts } from './support/requests.ts'
import { until } from './support/wait.ts'

const { messages, rate } = sizes({ messages: 5_000, rate: 500 }, { messages: 300 })
const CONNECTIONS = 16
const WARM_UP = Math.min(messages, 1_000)

type Kind = 'email' | 'sms'
/** Bytes of a table with all its partitions. */
type Size = { table: string; heap: number; indexes: number; toast: number }
/** Bytes of each message. */
type Written = {
  body: number
  stored: Size[]
  total: number
  afterCheckpoint: number
  steady: number
  accept: number
  deliver: number
}

const environment = await createEnvironment()
const mail = await startMail()
const receiver = await startReceiver()
const { db } = environment.store
const options: StartOptions = {
  mail: mail.port,
  env: {
    HERALD_TEXT_PROVIDERS: 'http',
    HERALD_HTTP_SMS_URL: receiver.address,
    HERALD_HTTP_SMS_BODY: '{"to": "{to}", "text": "{text}"}',
  },
}
try {
  const http = await environment.start({ ...options, only: 'http' })
  const requests: Record<Kind, string[]> = { email: emails(environment), sms: texts(environment) }
  const written = { email: await writtenBy('email'), sms: await writtenBy('sms') }
  print([...report('email', 'an e-mail', written.email), ...report('sms', 'a text message', written.sms)])

  async function writtenBy(kind: Kind): Promise<Written> {
    const engine = await environment.start({ ...options, only: 'engine' })
    let all = 0
    const sent = async (count: number) => {
      const answered = await accept(count)
      await isDelivered()
      return answered
    }
    const accept = async (count: number) => {
      const chosen = Array.from({ length: count }, (_, n) => requests[kind][n % requests[kind].length] as string)
      const job = { requests: chosen, connections: CONNECTIONS, seconds: 0, once: true, warmUp: 0, rate }
      const { statuses, answered } = await load({ ...job, addresses: [http.address] })
      if (statuses[201] !== answered) throw new Error(`not everything was answered 201: ${JSON.stringify(statuses)}`)
      all += answered
      return answered
    }
    await sent(WARM_UP)
    await tidy()
    const before = await sizesNow()
    all = 0
    const afterCheckpoint = await walOf(() => sent(messages))
    const steady = await walOf(() => sent(messages))
    await tidy()
    const after = await sizesNow()
    const stored = after.flatMap(size => grown(size, before, all))
    await engine.stop()
    all = 0
    await accept(WARM_UP) // the first after the checkpoint
    const accepting = await walOf(() => accept(messages))
    const late = await environment.start({ ...options, only: 'engine' })
    const delivering = await walOf(async () => {
      await isDelivered()
      return all
    })
    await late.stop()
    return {
      body: mean(requests[kind].map(text => text.slice(text.indexOf('\r\n\r\n') + 4).length)),
      stored,
      total: stored.reduce((sum, one) => sum + one.heap + one.indexes + one.toast, 0),
      afterCheckpoint,
      steady,
      accept: accepting,
      deliver: delivering,
    }
  }
} finally {
  receiver.stop()
  mail.stop()
  await environment.stop()
}

function isDelivered(): Promise<void> {
  return until('the last delivery', async () => (await db.sql`select id from tickets limit 1`).length === 0)
}

/** Dead rows are removed, as autovacuum does, so that only what stays is counted. */
async function tidy() {
  await db.script('vacuum')
  await environment.settle()
}

/** Bytes of WAL for each message; `work` says how many there were. */
async function walOf(work: () => Promise<number>): Promise<number> {
  const at = async () => {
    const [row] = await db.sql<{ at: string }>`select (pg_current_wal_lsn() - '0/0'::pg_lsn)::text as at`
    return Number(row?.at)
  }
  const before = await at()
  const count = await work()
  return ((await at()) - before) / count
}

function sizesNow(): Promise<Size[]> {
  return db.sql<Size>`
  select coalesce(r.root, c.oid)::regclass::text as table,
         sum(pg_relation_size(c.oid) + pg_relation_size(c.oid, 'fsm') + pg_relation_size(c.oid, 'vm'))::bigint as heap,
         sum(pg_indexes_size(c.oid))::bigint as indexes,
         sum(coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::bigint as toast
  from pg_class c
  left join lateral (select relid as root from pg_partition_ancestors(c.oid) order by relid = c.oid, relid limit 1) r on true
  where c.relkind = 'r'
    and c.relnamespace = 'public'::regnamespace
  group by 1`
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length
}

/** Bytes of each message; nothing where a table has not grown by one. */
function grown(after: Size, before: readonly Size[], count: number): Size[] {
  const old = before.find(one => one.table === after.table)
  const each = (what: 'heap' | 'indexes' | 'toast') => (after[what] - (old?.[what] ?? 0)) / count
  const size = { table: after.table, heap: each('heap'), indexes: each('indexes'), toast: each('toast') }
  return Math.abs(size.heap + size.indexes + size.toast) >= 1 ? [size] : []
}

function report(kind: Kind, what: string, written: Written): Figure[] {
  const { body, stored, total, afterCheckpoint, steady, accept, deliver } = written
  table(
    [`bytes stored for ${what} of ${Math.round(body)} bytes`, 'table', 'indexes', 'TOAST', 'all'],
    [
      ...stored
        .toSorted((a, b) => b.heap + b.indexes - a.heap - a.indexes)
        .map(one => [one.table, one.heap, one.indexes, one.toast, one.heap + one.indexes + one.toast]),
      ['all', '', '', '', total],
    ],
  )
  table(
    [`bytes of WAL for ${what}`, ''],
    [
      [`accepted and delivered at ${rate}/s, steady`, steady],
      [`the same, the first ${messages} after a checkpoint`, afterCheckpoint],
      ['accepted alone', accept],
      ['delivered alone, from the queue', deliver],
    ],
  )
  const kilobytes = (name: string, value: number, beside: number) =>
    figure(`disk_${kind}_${name}`, value / 1000, 'kB', beside / 1000)
  return [
    kilobytes('stored', total, body),
    kilobytes('wal', steady, total),
    kilobytes('wal_after_checkpoint', afterCheckpoint, total),
    kilobytes('wal_accept', accept, total),
    kilobytes('wal_deliver', deliver, total),
  ]
}
