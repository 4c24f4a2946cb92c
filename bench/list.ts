// Reading: one message, and pages of 250, with few and with many messages stored. The yardstick is the same question asked of
// few: what it costs must not grow. npm run bench -- list [--messages 1000000] [--seconds 4] [--repeats 3]
import { parseArgs } from 'node:util'
import { createClock } from '../src/core/clock.ts'
import { floorOf, type Id } from '../src/core/id.ts'
import { makePartitions } from '../src/db/partitions.ts'
import { sealPersonal } from '../src/notifications/notification.ts'
import { cpuSeconds } from './support/cpu.ts'
import { createHouse, type House, type Running } from './support/house.ts'
import { load, type Outcome, request } from './support/load.ts'
import { figure, median, print, table } from './support/report.ts'

const FEW = 10_000
const DAYS = 6
const DAY_MS = 86_400_000
const CONNECTIONS = 4

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    messages: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '4' },
    repeats: { type: 'string', default: '3' },
  },
})
const many = Number(values.messages)

type Measured = Outcome & { nodeMicros: number; databaseMicros: number }

const house = await createHouse()
try {
  for (let day = DAYS + 1; day >= 0; day--)
    await makePartitions(
      house.store.db,
      createClock(() => Date.now() - day * DAY_MS),
    )
  const running = await house.start()
  try {
    await fill(house, 0, FEW)
    const few = await measureAll(house, running)
    await fill(house, FEW, many)
    report(few, await measureAll(house, running))
  } finally {
    await running.stop()
  }
} finally {
  await house.stop()
}

/**
 * Messages over the last days, each a real one that can be opened and shown. What is rare is among the first ten thousand, so
 * that pages of few and of many hold the same number of messages.
 */
async function fill({ store, service, templates }: House, from: number, to: number) {
  const sealed = sealPersonal(store.seal, {
    to: 'person@example.org',
    values: { name: 'Ada', date: '15 June 2026, 9:30', reference: 'A-7919' },
  })
  const client = store.db.client() // outside the pool: no time-out
  await client.connect()
  for (let at = from; at < to; at += 100_000) {
    await client.query(
      `with made as materialized (
         select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id, n
         from (select n, md5(n::text) as hash,
                      (extract(epoch from now()) * 1000)::bigint - 60000 - (n::bigint * 7919 * 1013) % $6::bigint as ms
               from generate_series($1::integer, $2::integer) n) moments
       ), stored as (
         insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane, reference,
                                    is_international, sealed, recipient_digest)
         select id, $3, 'normal', 'email', false, $4, 1, 'email-medium', case when n < 3000 and n % 10 = 1 then 'order-7' else 'order-' || n end, false, $5, $5
         from made
       )
       insert into states (id, service_id, key_type, channel, in_job, status, completed_at)
       select id, $3, 'normal', 'email', false, case when n < 3000 and n % 10 = 0 then 'permanent-failure' else 'delivered' end, now()
       from made`,
      [at, Math.min(at + 100_000, to) - 1, service, templates.email, sealed, DAYS * DAY_MS],
    )
  }
  await client.query('vacuum (analyze) notifications')
  await client.query('vacuum (analyze) states')
  await client.end()
}

async function measureAll(house: House, running: Running): Promise<Map<string, Measured>> {
  const ids = await someIds(house)
  const ask = (path: (id: Id) => string) =>
    ids.map(id => request('GET', path(id), { authorization: `ApiKey-v1 ${house.key}` }))
  const questions: [string, string[]][] = [
    ['one message', ask(id => `/v2/notifications/${id}`)],
    ['newest page of 250', ask(() => '/v2/notifications')],
    ['page of 250 somewhere', ask(id => `/v2/notifications?older_than=${id}`)],
    ['page of a rare status', ask(id => `/v2/notifications?status=permanent-failure&older_than=${id}`)],
    ['page of a reference', ask(() => '/v2/notifications?reference=order-7')],
  ]
  const measured = new Map<string, Measured>()
  for (const [name, requests] of questions) measured.set(name, await measure(house, running, requests))
  return measured
}

/** Ids from all over the window. */
async function someIds({ store }: House): Promise<Id[]> {
  const moments = Array.from({ length: 200 }, (_, n) =>
    floorOf((Date.now() - ((n + 0.5) / 200) * DAYS * DAY_MS) * 1000),
  )
  const rows = await store.db.sql<{ id: Id }>`
    select found.id
    from unnest(${moments}::uuid[]) as m (moment)
    cross join lateral (select id from notifications where id < m.moment order by id desc limit 1) found`
  return rows.map(row => row.id)
}

async function measure(house: House, running: Running, requests: string[]): Promise<Measured> {
  const seconds = Number(values.seconds)
  const rounds: Measured[] = []
  for (let round = 0; round < Number(values.repeats); round++) {
    const before = [cpuSeconds(running.pid), cpuSeconds(house.database.pid, { family: true })] as const
    const job = { address: running.address, requests, connections: CONNECTIONS, seconds, warmUp: 0.5 }
    const outcome = await load(job)
    if (outcome.statuses[200] !== outcome.count)
      throw new Error(`not all were read: ${JSON.stringify(outcome.statuses)}`)
    const answered = outcome.perSecond * (seconds + job.warmUp)
    rounds.push({
      ...outcome,
      nodeMicros: ((cpuSeconds(running.pid) - before[0]) * 1e6) / answered,
      databaseMicros: ((cpuSeconds(house.database.pid, { family: true }) - before[1]) * 1e6) / answered,
    })
  }
  rounds.sort((a, b) => a.p95 - b.p95)
  return rounds[Math.floor(rounds.length / 2)] as Measured
}

function report(few: Map<string, Measured>, much: Map<string, Measured>) {
  const rows = [...much].map(([name, { perSecond, p50, p95, nodeMicros, databaseMicros }]) => ({
    cells: [
      name,
      perSecond,
      p50,
      p95,
      few.get(name)?.p95 ?? 0,
      nodeMicros,
      databaseMicros,
      few.get(name)?.databaseMicros ?? 0,
    ],
    figure: figure(`list_${name.replaceAll(' ', '_')}_p95`, p95, 'ms', few.get(name)?.p95 ?? 0),
  }))
  table(
    [
      `${many} stored, ${CONNECTIONS} connections`,
      '/s',
      'p50 ms',
      'p95 ms',
      `p95 of ${FEW}`,
      'node µs',
      'pg µs',
      `pg µs of ${FEW}`,
    ],
    rows.map(row => row.cells),
  )
  print(rows.map(row => row.figure))
  const growth = median([...much].map(([name, one]) => one.databaseMicros / (few.get(name)?.databaseMicros ?? 1)))
  console.log(`database time with ${many} stored, against ${FEW}: ${growth.toFixed(2)} (median of the questions)`)
}
