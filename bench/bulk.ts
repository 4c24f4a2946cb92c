// A bulk job of 50,000: how soon it is answered, how soon every row is a message, how soon the last one has reached a mail
// server, and what others feel meanwhile.
// npm run bench -- bulk [--rows 50000] [--repeats 3] [--profile FOLDER]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuSeconds } from './support/cpu.ts'
import { createHouse, type House } from './support/house.ts'
import { figure, median, print, table } from './support/report.ts'
import { type Service, startService } from './support/service.ts'
import { type Sink, startSink } from './support/sink.ts'

const BULK = '/v2/notifications/bulk'
/** What the interface tells callers to wait for (interface 4.3), and our own promise (reliability L4). */
const INTERFACE_SECONDS = 15
const LOOP_MS = 50
const ACCEPT_MS = 250

type Round = {
  seconds: number
  loopP99: number
  loopMax: number
  acceptP99: number
  nodeMicros: number
  databaseMicros: number
}
type Delivery = { spread: number; sunk: number; nodeMicros: number; databaseMicros: number }

async function bench() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      rows: { type: 'string', default: '50000' },
      repeats: { type: 'string', default: '3' },
      profile: { type: 'string' },
    },
  })
  const rows = Number(values.rows)
  const house = await createHouse()
  const mail = await startSink()
  try {
    const service = await startService(house, mail.port, values.profile)
    try {
      await measure(house, service, mail, rows, Number(values.repeats))
    } finally {
      await service.stop()
    }
  } finally {
    mail.stop()
    await house.stop()
  }
}

async function measure(house: House, service: Service, mail: Sink, count: number, repeats: number) {
  const later = { scheduled_for: new Date(Date.now() + 90 * 3_600_000).toISOString() }
  const people = peopleOf(count)
  const bodies = {
    rows: JSON.stringify({ name: 'rows', template_id: house.templates.email, rows: people.email }),
    csv: JSON.stringify({
      name: 'csv',
      template_id: house.templates.email,
      csv: people.email.map(row => row.map(cell => `"${cell}"`).join(',')).join('\n'),
      ...later,
    }),
    text: JSON.stringify({ name: 'text', template_id: house.templates.sms, rows: people.text, ...later }),
  }
  const rounds: Record<keyof typeof bodies, Round[]> = { rows: [], csv: [], text: [] }
  const deliveries: Delivery[] = []
  // Once without counting: the machine code of the first seconds is not that of the others.
  for (const kind of ['csv', 'text'] as const)
    await cancel(house, service, (await post(house, service, bodies[kind], count)).id)
  for (let round = 0; round < repeats; round++) {
    for (const kind of ['csv', 'text'] as const) {
      const { id, ...figures } = await post(house, service, bodies[kind], count)
      rounds[kind].push(figures)
      await cancel(house, service, id)
    }
    mail.reset()
    const cpu = cpuOf(house, service)
    const began = performance.now()
    const { id, ...figures } = await post(house, service, bodies.rows, count)
    rounds.rows.push(figures)
    const spread = await finished(house, id)
    const sunk = (await mail.received(count)) - began
    const used = cpu()
    deliveries.push({
      spread,
      sunk: sunk / 1000,
      nodeMicros: (used.node * 1e6) / count,
      databaseMicros: (used.database * 1e6) / count,
    })
  }
  report(rounds, deliveries, count, peakOf(service.pid), bodies)
}

function report(
  rounds: Record<'rows' | 'csv' | 'text', Round[]>,
  deliveries: Delivery[],
  count: number,
  peakMb: number,
  bodies: Record<string, string>,
) {
  const of = (kind: keyof typeof rounds, what: keyof Round) => median(rounds[kind].map(one => one[what]))
  const to = (what: keyof Delivery) => median(deliveries.map(one => one[what]))
  const line = (name: string, kind: keyof typeof rounds) => [
    name,
    Buffer.byteLength(bodies[kind] ?? '') / 1e6,
    of(kind, 'seconds'),
    of(kind, 'loopP99'),
    of(kind, 'loopMax'),
    of(kind, 'acceptP99'),
    of(kind, 'nodeMicros'),
    of(kind, 'databaseMicros'),
  ]
  table(
    [`${count} rows`, 'MB', '201 s', 'loop p99 ms', 'loop max ms', 'accept p99 ms', 'node µs/row', 'pg µs/row'],
    [line('e-mails as rows', 'rows'), line('e-mails as csv', 'csv'), line('texts as rows', 'text')],
  )
  table(
    ['e-mails', 'seconds', '/s', 'node µs/row', 'pg µs/row'],
    [
      ['until every row is a message', to('spread'), count / to('spread'), '', ''],
      ['until the last is at the mail server', to('sunk'), count / to('sunk'), to('nodeMicros'), to('databaseMicros')],
    ],
  )
  print([
    figure('bulk_rows_201', of('rows', 'seconds'), 's', INTERFACE_SECONDS),
    figure('bulk_csv_201', of('csv', 'seconds'), 's', INTERFACE_SECONDS),
    figure('bulk_text_201', of('text', 'seconds'), 's', INTERFACE_SECONDS),
    figure(
      'bulk_loop_p99',
      Math.max(of('rows', 'loopP99'), of('csv', 'loopP99'), of('text', 'loopP99')),
      'ms',
      LOOP_MS,
    ),
    figure('bulk_accept_p99', Math.max(of('rows', 'acceptP99'), of('csv', 'acceptP99')), 'ms', ACCEPT_MS),
    figure('bulk_accept_cpu', of('rows', 'nodeMicros') + of('rows', 'databaseMicros'), 'µs', 100),
    figure('bulk_spread', to('spread'), 's', INTERFACE_SECONDS),
    figure('bulk_delivered', to('sunk'), 's', 60),
    figure('bulk_delivered_cpu', to('nodeMicros') + to('databaseMicros'), 'µs', 1_000),
    figure('bulk_peak_memory', peakMb, 'MB', 600),
  ])
}

/** Three placeholders: name, date, reference. */
function peopleOf(count: number) {
  const values = (n: number) => [`Ada ${n}`, '15 June 2026, 9:30', `A-${n * 7919}`]
  const rows = (head: string, recipient: (n: number) => string) => [
    [head, 'name', 'date', 'reference'],
    ...Array.from({ length: count }, (_, n) => [recipient(n), ...values(n)]),
  ]
  return {
    email: rows('email address', n => `person.${n}@example.org`),
    text: rows('phone number', n => `+1613${2_000_000 + n}`),
  }
}

function cpuOf(house: House, { pid }: Service) {
  const read = () => ({ node: cpuSeconds(pid), database: cpuSeconds(house.database.pid, { family: true }) })
  const before = read()
  return () => {
    const after = read()
    return { node: after.node - before.node, database: after.database - before.database }
  }
}

async function post(house: House, service: Service, body: string, count: number): Promise<Round & { id: string }> {
  await service.loop() // forgets what was before
  const cpu = cpuOf(house, service)
  let isDone = false
  const codes = singles(house, service, () => isDone)
  const began = performance.now()
  const reply = await fetch(service.address + BULK, { method: 'POST', headers: headersOf(house), body })
  const { data } = (await reply.json()) as { data: { id: string } }
  const seconds = (performance.now() - began) / 1000
  isDone = true
  if (reply.status !== 201) throw new Error(`the job was refused: ${reply.status}`)
  const used = cpu()
  const { p99, max } = await service.loop()
  return {
    id: data.id,
    seconds,
    loopP99: p99,
    loopMax: max,
    acceptP99: await codes,
    nodeMicros: (used.node * 1e6) / count,
    databaseMicros: (used.database * 1e6) / count,
  }
}

/** Twenty messages a second by another caller meanwhile, scheduled so that they do not mix with the deliveries. */
async function singles(house: House, { address }: Service, isDone: () => boolean): Promise<number> {
  const body = JSON.stringify({
    email_address: 'code@example.org',
    template_id: house.templates.email,
    personalisation: { name: 'Ada', date: 'today', reference: '1' },
    scheduled_for: new Date(Date.now() + 80 * 3_600_000).toISOString(),
  })
  const times: number[] = []
  const asked: Promise<void>[] = []
  while (!isDone()) {
    const began = performance.now()
    asked.push(
      fetch(`${address}/v2/notifications/email`, { method: 'POST', headers: headersOf(house), body })
        .then(reply => reply.text())
        .then(() => {
          times.push(performance.now() - began)
        }),
    )
    await sleep(50)
  }
  await Promise.all(asked)
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? 0
}

const headersOf = ({ key }: House) => ({ authorization: `ApiKey-v1 ${key}`, 'content-type': 'application/json' })

async function cancel(house: House, { address }: Service, id: string) {
  const reply = await fetch(`${address}${BULK}/${id}`, { method: 'DELETE', headers: headersOf(house) })
  if (reply.status !== 200) throw new Error(`not cancelled: ${reply.status}`)
}

/** Seconds from the acceptance until every row was a message. */
async function finished({ store }: House, id: string): Promise<number> {
  for (;;) {
    const [job] = await store.db.sql<{ seconds: number | null }>`
      select extract(epoch from processing_finished - uuid_time(id))::float8 as seconds from jobs where id = ${id}`
    if (typeof job?.seconds === 'number') return job.seconds
    await sleep(50)
  }
}

/** Megabytes, the most the process ever had in memory. */
function peakOf(pid: number): number {
  const [, kb] = /VmHWM:\s*(\d+)/.exec(readFileSync(join('/proc', String(pid), 'status'), 'utf8')) ?? []
  return Number(kb ?? 0) / 1024
}

await bench()
