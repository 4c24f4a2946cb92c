// A bulk job of 50,000: how soon it is answered, how soon every row is a message, how soon the last one has reached a mail
// server, and what others feel meanwhile.
// npm run bench -- bulk [--rows 50000] [--repeats 3] [--profile FOLDER]
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from './support/clock.ts'
import { createHouse, type House, type Running } from './support/house.ts'
import { percentile } from './support/load.ts'
import { type Mail, mailYardstick, source, startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { memoryOf, watchCpu } from './support/process.ts'
import { figure, print, table } from './support/report.ts'
import { ask, people, personalisation } from './support/requests.ts'
import { groupYardstick, insertYardstick, nodeMemory } from './support/yardsticks.ts'

const BULK = '/v2/notifications/bulk'

const { rows: count, repeats, profile } = sizes({ rows: 50_000, repeats: 3 }, { rows: 1_000, repeats: 1 })

type Kind = 'rows' | 'csv' | 'text'
type Accepted = {
  seconds: number
  loopP99: number
  loopMax: number
  smallP99: number
  nodeMicros: number
  databaseMicros: number
}
type Delivered = { spread: number; sunk: number; nodeMicros: number; databaseMicros: number }
type Yardsticks = { group: number; commit: number; mail: number; idleLoop: number; memory: number }

const house = await createHouse()
const mail = await startMail()
const running = await house.start({ mail: mail.port, profile })
try {
  await bench(house, running, mail)
} finally {
  await running.stop()
  mail.stop()
  await house.stop()
}

async function bench(house: House, running: Running, mail: Mail) {
  const bodies = bodiesOf(house)
  const yardsticks = await measureYardsticks(house, running, mail)
  const accepted: Record<Kind, Accepted[]> = { rows: [], csv: [], text: [] }
  const delivered: Delivered[] = []
  // Once without counting: the machine code of the first seconds is not that of the others.
  for (const kind of ['csv', 'text'] as const) await cancel((await post(house, running, bodies[kind])).id)
  for (let round = 0; round < repeats; round++) {
    for (const kind of ['csv', 'text'] as const) {
      const { id, ...figures } = await post(house, running, bodies[kind])
      accepted[kind].push(figures)
      await cancel(id)
    }
    mail.reset()
    const used = watchCpu(house, [running.pid])
    const began = now()
    const { id, ...figures } = await post(house, running, bodies.rows)
    accepted.rows.push(figures)
    const sunk = ((await mail.received(count)) - began) / 1000
    const { node, database } = used()
    delivered.push({
      spread: await spreadSeconds(house, id),
      sunk,
      nodeMicros: (node * 1e6) / count,
      databaseMicros: (database * 1e6) / count,
    })
  }
  report(accepted, delivered, yardsticks, memoryOf(running.pid).peak, bodies)
}

/** Those that are not sent wait for a later hour, and are cancelled. */
function bodiesOf({ templates }: House): Record<Kind, string> {
  const later = { scheduled_for: new Date(Date.now() + 90 * 3_600_000).toISOString() }
  const rows = people(count, 'email')
  const csv = rows.map(row => row.map(cell => `"${cell}"`).join(',')).join('\n')
  return {
    rows: JSON.stringify({ name: 'rows', template_id: templates.email, rows }),
    csv: JSON.stringify({ name: 'csv', template_id: templates.email, csv, ...later }),
    text: JSON.stringify({ name: 'text', template_id: templates.sms, rows: people(count, 'sms'), ...later }),
  }
}

async function measureYardsticks(house: House, running: Running, mail: Mail): Promise<Yardsticks> {
  const { perSecond: group } = await groupYardstick(house, 2)
  const { p50: commit } = await insertYardstick(house, 1, 1)
  const perSecond = await mailYardstick(mail, count / 2)
  await running.loop()
  await sleep(1_000)
  const { p99: idleLoop } = await running.loop()
  return { group, commit, mail: perSecond, idleLoop, memory: await nodeMemory() }
}

function report(
  accepted: Record<Kind, Accepted[]>,
  delivered: Delivered[],
  yardsticks: Yardsticks,
  peak: number,
  bodies: Record<Kind, string>,
) {
  const line = (name: string, kind: Kind) => [
    name,
    Buffer.byteLength(bodies[kind]) / 1e6,
    of(accepted[kind], 'seconds'),
    of(accepted[kind], 'loopP99'),
    of(accepted[kind], 'loopMax'),
    of(accepted[kind], 'smallP99'),
    of(accepted[kind], 'nodeMicros'),
    of(accepted[kind], 'databaseMicros'),
  ]
  const inGroups = count / yardsticks.group
  const bySource = count / yardsticks.mail
  const [spread, sunk] = [of(delivered, 'spread'), of(delivered, 'sunk')]
  table(
    [`${count} rows`, 'MB', '201 s', 'loop p99 ms', 'loop max ms', 'accept p99 ms', 'node µs/row', 'pg µs/row'],
    [
      line('e-mails as rows', 'rows'),
      line('e-mails as csv', 'csv'),
      line('texts as rows', 'text'),
      ['inserts in groups of 500', '', inGroups, '', '', '', '', ''],
    ],
  )
  table(
    ['e-mails', 'seconds', '/s', 'node µs/row', 'pg µs/row'],
    [
      ['until every row is a message', spread, count / spread, '', ''],
      [
        `until the last is at ${mail.name}`,
        sunk,
        count / sunk,
        of(delivered, 'nodeMicros'),
        of(delivered, 'databaseMicros'),
      ],
      [`${source()} to the same mail server`, bySource, yardsticks.mail, '', ''],
    ],
  )
  const worst = (what: keyof Accepted) => Math.max(...Object.values(accepted).map(rounds => of(rounds, what)))
  print([
    figure('bulk_rows_201', of(accepted.rows, 'seconds'), 's', inGroups),
    figure('bulk_csv_201', of(accepted.csv, 'seconds'), 's', inGroups),
    figure('bulk_text_201', of(accepted.text, 'seconds'), 's', inGroups),
    figure('bulk_loop_p99', worst('loopP99'), 'ms', yardsticks.idleLoop),
    figure('bulk_others_p99', worst('smallP99'), 'ms', yardsticks.commit),
    figure('bulk_spread', spread, 's', inGroups),
    figure('bulk_delivered', sunk, 's', bySource),
    figure('bulk_cpu_service', of(delivered, 'nodeMicros'), 'µs', 1e6 / yardsticks.mail),
    figure('bulk_cpu_database', of(delivered, 'databaseMicros'), 'µs', 1e6 / yardsticks.group),
    figure('bulk_memory', peak, 'MB', yardsticks.memory),
  ])
}

async function post(house: House, running: Running, body: string): Promise<Accepted & { id: string }> {
  await running.loop() // forgets what was before
  const used = watchCpu(house, [running.pid])
  let isDone = false
  const small = smallOnes(house, running, () => isDone)
  const began = now()
  const answer = await ask(house, running, 'POST', BULK, body)
  const seconds = (now() - began) / 1000
  isDone = true
  const { node, database } = used()
  const { p99, max } = await running.loop()
  return {
    id: (JSON.parse(answer) as { data: { id: string } }).data.id,
    seconds,
    loopP99: p99,
    loopMax: max,
    smallP99: percentile(await small, 0.99),
    nodeMicros: (node * 1e6) / count,
    databaseMicros: (database * 1e6) / count,
  }
}

/** Twenty messages a second by another caller meanwhile, scheduled so that they do not mix with the deliveries. */
async function smallOnes(house: House, running: Running, isDone: () => boolean): Promise<number[]> {
  const body = JSON.stringify({
    email_address: 'person@example.org',
    template_id: house.templates.email,
    personalisation: personalisation(1),
    scheduled_for: new Date(Date.now() + 80 * 3_600_000).toISOString(),
  })
  const asked: Promise<number>[] = []
  while (!isDone()) {
    const began = now()
    asked.push(ask(house, running, 'POST', '/v2/notifications/email', body).then(() => now() - began))
    await sleep(50)
  }
  return Promise.all(asked)
}

function cancel(id: string): Promise<string> {
  return ask(house, running, 'DELETE', `${BULK}/${id}`, null, 200)
}

/** Seconds from the acceptance until every row was a message. */
async function spreadSeconds({ store }: House, id: string): Promise<number> {
  const [job] = await store.db.sql<{ seconds: number | null }>`
    select extract(epoch from processing_finished - uuid_time(id))::float8 as seconds from jobs where id = ${id}`
  return job?.seconds ?? Number.NaN
}
