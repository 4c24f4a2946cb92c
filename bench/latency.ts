// The time from before the request to the arrival of a single e-mail at a mail server: through an idle service, and as a one-time
// code while a bulk job of 50,000 drains; and the CPU time of an idle service. npm run bench -- latency [--messages 100] [--rows
// 50000] [--repeats 3] [--idle 8]
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from './support/clock.ts'
import { createEnvironment } from './support/environment.ts'
import { percentile } from './support/load.ts'
import { startOwnMail } from './support/mail.ts'
import { sizes } from './support/options.ts'
import { memoryOf, watchCpu } from './support/process.ts'
import { figure, median, print, table } from './support/report.ts'
import { ask, people } from './support/requests.ts'
import { until } from './support/wait.ts'
import { insertYardstick, nodeMemory } from './support/yardsticks.ts'

const { messages, rows, repeats, idle, profile } = sizes(
  { messages: 100, rows: 50_000, repeats: 3, idle: 8 },
  { messages: 10, rows: 1_000, repeats: 1, idle: 1 },
)
const WARM_UP = 20

/** Milliseconds from the request to the 201, and to the mail server. */
type Times = { accepted: number; arrived: number }

const environment = await createEnvironment()
const mail = await startOwnMail()
const running = await environment.start({ mail: mail.port, profile })
let sent = 0
try {
  await oneByOne(WARM_UP)
  const quiet: Times[][] = []
  for (let round = 0; round < repeats; round++) quiet.push(await oneByOne(messages))
  const commit = (await insertYardstick(environment, 1, 1)).p50
  const nothing = await doNothing()
  const empty = await nodeMemory()
  const busy: Times[][] = []
  for (let round = 0; round < repeats; round++) busy.push(await whileBulkDrains())
  const row = (name: string, at: (share: number) => number) => [name, at(0.5), at(0.95), at(0.99)]
  table(
    ['to a mail server of our own', 'p50 ms', 'p95 ms', 'p99 ms'],
    [
      row('idle service: request to 201', at => share(quiet, 'accepted', at)),
      row('idle service: request to mail server', at => share(quiet, 'arrived', at)),
      row(`one-time code beside ${rows}: to 201`, at => share(busy, 'accepted', at)),
      row(`one-time code beside ${rows}: to mail server`, at => share(busy, 'arrived', at)),
      ['one insert at a time', commit, '', ''],
    ],
  )
  table(
    ['doing nothing', '% of a core', 'MB'],
    [
      ['service', nothing.node, nothing.memory],
      ['PostgreSQL', nothing.database, '-'],
      ['an empty Node process', '-', empty],
    ],
  )
  print([
    figure('idle_p50', share(quiet, 'arrived', 0.5), 'ms', commit),
    figure('idle_p99', share(quiet, 'arrived', 0.99), 'ms', commit),
    figure('code_p50', share(busy, 'arrived', 0.5), 'ms', commit),
    figure('code_p95', share(busy, 'arrived', 0.95), 'ms', commit),
    figure('code_p99', share(busy, 'arrived', 0.99), 'ms', commit),
    figure('idle_core', nothing.node + nothing.database, '%', 1),
    figure('idle_memory', nothing.memory, 'MB', empty),
  ])
} finally {
  await running.stop()
  mail.stop()
  await environment.stop()
}

/** The median over the rounds of a quantile of each round. */
function share(rounds: Times[][], which: keyof Times, part: number): number {
  return median(
    rounds.map(times =>
      percentile(
        times.map(one => one[which]),
        part,
      ),
    ),
  )
}

async function sendCode(): Promise<Times> {
  const code = String(sent++)
  const body = JSON.stringify({
    email_address: `code.${code}@example.org`,
    template_id: environment.templates.code,
    personalisation: { reference: code, date: 'today' },
  })
  const from = now()
  await ask(environment, running, 'POST', '/v2/notifications/email', body)
  const answered = now()
  await until(`code ${code}`, () => mail.codes.has(code))
  return { accepted: answered - from, arrived: (mail.codes.get(code) ?? 0) - from }
}

async function oneByOne(count: number): Promise<Times[]> {
  const times: Times[] = []
  for (let n = 0; n < count; n++) {
    times.push(await sendCode())
    await sleep(20)
  }
  return times
}

async function doNothing() {
  const used = watchCpu(environment, [running.pid])
  await sleep(idle * 1000)
  const { node, database } = used()
  return { node: (node / idle) * 100, database: (database / idle) * 100, memory: memoryOf(running.pid).now }
}

/** Twenty codes a second from the job's 201 until its last e-mail has arrived. */
async function whileBulkDrains(): Promise<Times[]> {
  const job = JSON.stringify({ name: 'bulk', template_id: environment.templates.email, rows: people(rows, 'email') })
  mail.reset()
  const first = sent
  await ask(environment, running, 'POST', '/v2/notifications/bulk', job)
  let isDrained = false
  const drained = mail.received(rows).then(() => (isDrained = true))
  const codes: Promise<Times>[] = []
  while (!isDrained) {
    codes.push(sendCode())
    await sleep(50)
  }
  await drained
  const times = await Promise.all(codes)
  await mail.received(rows + sent - first)
  return times
}
