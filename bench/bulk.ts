// A bulk job of 50,000 rows: the time until the answer, until every row is a message, until the last message has reached a mail
// server, and the latency of other callers meanwhile. npm run bench -- bulk [--rows 50000] [--repeats 3] [--profile FOLDER]
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from './support/clock.ts'
import type { Environment, Running } from './support/environment.ts'
import { percentile } from './support/load.ts'
import { type Mail, mailYardstick, source } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { memoryOf, watchCpu } from './support/process.ts'
import { figure, print, table } from './support/report.ts'
import { ask, people } from './support/requests.ts'
import { withMail } from './support/sending.ts'
import { personalisation, type Writing } from './support/values.ts'
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
type Delivered = {
  spread: number
  sunk: number
  nodeMicros: number
  databaseMicros: number
  /** Seconds of the smaller jobs with values of one end of the mix. */
  latin: number
  scripts: number
}
type Yardsticks = { group: number; commit: number; mail: number; idleLoop: number; memory: number }

await withMail(profile, bench)

async function bench(environment: Environment, running: Running, mail: Mail) {
  const bodies = bodiesOf(environment)
  const yardsticks = await measureYardsticks(environment, running, mail)
  const accepted: Record<Kind, Accepted[]> = { rows: [], csv: [], text: [] }
  const delivered: Delivered[] = []
  // One uncounted round: the code is not optimised yet in the first seconds.
  const cancel = (id: string) => ask(environment, running, 'DELETE', `${BULK}/${id}`, null, 200)
  for (const kind of ['csv', 'text'] as const) await cancel((await post(environment, running, bodies[kind])).id)
  for (let round = 0; round < repeats; round++) {
    for (const kind of ['csv', 'text'] as const) {
      const { id, ...figures } = await post(environment, running, bodies[kind])
      accepted[kind].push(figures)
      await cancel(id)
    }
    mail.reset()
    const used = watchCpu(environment, [running.pid])
    const began = now()
    const { id, ...figures } = await post(environment, running, bodies.rows)
    accepted.rows.push(figures)
    const sunk = ((await mail.received(count)) - began) / 1000
    const { node, database } = used()
    delivered.push({
      spread: await spreadSeconds(environment, id),
      sunk,
      nodeMicros: (node * 1e6) / count,
      databaseMicros: (database * 1e6) / count,
      latin: await secondsIn(environment, running, mail, 'latin'),
      scripts: await secondsIn(environment, running, mail, 'scripts'),
    })
  }
  report(mail.name, accepted, delivered, yardsticks, memoryOf(running.pid).peak, bodies)
}

/** From the request of a smaller job to the arrival of its last e-mail. */
async function secondsIn(environment: Environment, running: Running, mail: Mail, writing: Writing): Promise<number> {
  const rows = people(count / 5, 'email', writing)
  const body = JSON.stringify({ name: writing, template_id: environment.templates.email, rows })
  mail.reset()
  const began = now()
  await ask(environment, running, 'POST', BULK, body)
  return ((await mail.received(count / 5)) - began) / 1000
}

/** Jobs that are not sent are scheduled for later and cancelled. */
function bodiesOf({ templates }: Environment): Record<Kind, string> {
  const later = { scheduled_for: new Date(Date.now() + 90 * 3_600_000).toISOString() }
  const rows = people(count, 'email')
  const csv = rows.map(row => row.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')
  return {
    rows: JSON.stringify({ name: 'rows', template_id: templates.email, rows }),
    csv: JSON.stringify({ name: 'csv', template_id: templates.email, csv, ...later }),
    text: JSON.stringify({ name: 'text', template_id: templates.sms, rows: people(count, 'sms'), ...later }),
  }
}

async function measureYardsticks(environment: Environment, running: Running, mail: Mail): Promise<Yardsticks> {
  const { perSecond: group } = await groupYardstick(environment, 2)
  const { p50: commit } = await insertYardstick(environment, 1, 1)
  const perSecond = await mailYardstick(mail, count / 2)
  await running.loop()
  await sleep(1_000)
  const { p99: idleLoop } = await running.loop()
  return { group, commit, mail: perSecond, idleLoop, memory: await nodeMemory() }
}

function report(
  server: string,
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
        `until the last is at ${server}`,
        sunk,
        count / sunk,
        of(delivered, 'nodeMicros'),
        of(delivered, 'databaseMicros'),
      ],
      ...(['latin', 'scripts'] as const).map(name => [
        `${count / 5} with values in ${name === 'latin' ? 'Latin' : 'other scripts'}`,
        of(delivered, name),
        count / 5 / of(delivered, name),
        '',
        '',
      ]),
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
    figure('bulk_scripts_over_latin', count / 5 / of(delivered, 'scripts'), '/s', count / 5 / of(delivered, 'latin')),
    figure('bulk_cpu_service', of(delivered, 'nodeMicros'), 'µs', 1e6 / yardsticks.mail),
    figure('bulk_cpu_database', of(delivered, 'databaseMicros'), 'µs', 1e6 / yardsticks.group),
    figure('bulk_memory', peak, 'MB', yardsticks.memory),
  ])
}

async function post(environment: Environment, running: Running, body: string): Promise<Accepted & { id: string }> {
  await running.loop() // resets the measurement
  const used = watchCpu(environment, [running.pid])
  let isDone = false
  const small = smallOnes(environment, running, () => isDone)
  const began = now()
  const answer = await ask(environment, running, 'POST', BULK, body)
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

/** Twenty messages a second from another caller meanwhile, scheduled, so that they do not mix with the deliveries. */
async function smallOnes(environment: Environment, running: Running, isDone: () => boolean): Promise<number[]> {
  const body = JSON.stringify({
    email_address: 'person@example.org',
    template_id: environment.templates.email,
    personalisation: personalisation(1),
    scheduled_for: new Date(Date.now() + 80 * 3_600_000).toISOString(),
  })
  const asked: Promise<number>[] = []
  while (!isDone()) {
    const began = now()
    asked.push(ask(environment, running, 'POST', '/v2/notifications/email', body).then(() => now() - began))
    await sleep(50)
  }
  return Promise.all(asked)
}

/** Seconds from the acceptance until every row is a message. */
async function spreadSeconds({ store }: Environment, id: string): Promise<number> {
  const [job] = await store.db.sql<{ seconds: number | null }>`
    select extract(epoch from processing_finished - uuid_time(id))::float8 as seconds from jobs where id = ${id}`
  return job?.seconds ?? Number.NaN
}
