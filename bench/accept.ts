// Accepted single messages per second: every check, sealed, committed to disk before the 201; nothing is delivered meanwhile.
// npm run bench -- accept [--seconds 5] [--repeats 3] [--profile FOLDER]
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuSeconds } from './support/cpu.ts'
import { createHouse, type House, type Running } from './support/house.ts'
import { load, type Outcome } from './support/load.ts'
import { figure, median, print, table } from './support/report.ts'
import { emails, texts } from './support/requests.ts'
import type { InsertJob } from './support/yardsticks.ts'

const CONNECTIONS = 64
/** The reference peer on this kind of machine: e-mails accepted per second (issue 8). */
const PEER = 116

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    seconds: { type: 'string', default: '5' },
    repeats: { type: 'string', default: '3' },
    profile: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
  },
})
const seconds = Number(values.seconds)
const repeats = Number(values.repeats)

type Measured = Outcome & { nodeMicros: number; databaseMicros: number }

const house = await createHouse()
try {
  const running = await house.start({
    nodeOptions: values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [],
    env: Object.fromEntries(values.env.map(one => one.split('=', 2) as [string, string])),
  })
  try {
    await bench(house, running)
  } finally {
    await running.stop()
  }
} finally {
  await house.stop()
}

async function bench(house: House, running: Running) {
  const email = emails(house)
  const rounds: Record<'email' | 'sms' | 'half' | 'bare', Measured[]> = { email: [], sms: [], half: [], bare: [] }
  const inserts: Yardstick[] = []
  const bare = await yardstick('bare', { answer: await answerOf(running.address, email[0] ?? '') })
  // Once without counting: the machine code of the first seconds is not that of the others.
  await measure(house, running, email, {})
  for (let round = 0; round < repeats; round++) {
    inserts.push(await yardstick('insert', insertJob(house)))
    rounds.bare.push(await measure(house, bare, email, {}))
    const accepted = await measure(house, running, email, {})
    rounds.email.push(accepted)
    rounds.sms.push(await measure(house, running, texts(house), {}))
    rounds.half.push(await measure(house, running, email, { rate: accepted.perSecond / 2 }))
  }
  bare.stop()
  report(rounds, inserts)
}

function report(rounds: Record<'email' | 'sms' | 'half' | 'bare', Measured[]>, inserts: Yardstick[]) {
  const of = (kind: keyof typeof rounds, what: keyof Omit<Measured, 'statuses'>) =>
    median(rounds[kind].map(one => one[what]))
  const insert = median(inserts.map(one => one.value))
  const insertMicros = median(inserts.map(one => one.databaseMicros))
  const row = (name: string, kind: keyof typeof rounds) => [
    name,
    of(kind, 'perSecond'),
    of(kind, 'perSecond') / insert,
    of(kind, 'perSecond') / PEER,
    of(kind, 'p50'),
    of(kind, 'p99'),
    of(kind, 'nodeMicros'),
    of(kind, 'databaseMicros'),
  ]
  table(
    [`${CONNECTIONS} connections`, '/s', '× insert', '× peer', 'p50 ms', 'p99 ms', 'node µs', 'pg µs'],
    [
      row('e-mails accepted', 'email'),
      row('texts accepted', 'sms'),
      row('e-mails at half load', 'half'),
      row('bare Fastify route', 'bare'),
      ['single-row inserts', insert, 1, '', '', '', '', insertMicros],
    ],
  )
  print([
    figure('accept_email', of('email', 'perSecond'), '/s', insert),
    figure('accept_email_over_http', of('email', 'perSecond'), '/s', of('bare', 'perSecond')),
    figure('accept_email_over_peer', of('email', 'perSecond'), '/s', PEER),
    figure('accept_sms', of('sms', 'perSecond'), '/s', of('email', 'perSecond')),
    figure('accept_half_load_p50', of('half', 'p50'), 'ms', 8),
    figure('accept_half_load_p99', of('half', 'p99'), 'ms', 50),
    figure('accept_node_cpu', of('email', 'nodeMicros'), 'µs', of('bare', 'nodeMicros')),
    figure('accept_database_cpu', of('email', 'databaseMicros'), 'µs', insertMicros),
  ])
}

function job(address: string, requests: string[], more: { rate?: number } = {}) {
  return { address, requests, connections: CONNECTIONS, seconds, warmUp: 1, ...more }
}

/** Processor time covers the warm-up too, so it is divided by what was answered in all that time. */
async function measure(
  house: House,
  running: Pick<Running, 'address' | 'pid'>,
  requests: string[],
  more: { rate?: number },
): Promise<Measured> {
  const cpu = () => [cpuSeconds(running.pid), cpuSeconds(house.database.pid, { family: true })] as const
  const before = cpu()
  const outcome = await load(job(running.address, requests, more))
  const after = cpu()
  const refused = Object.keys(outcome.statuses).filter(status => status !== '201')
  if (refused.length > 0) throw new Error(`not everything was accepted: ${JSON.stringify(outcome.statuses)}`)
  const answered = outcome.perSecond * (seconds + 1)
  return {
    ...outcome,
    nodeMicros: ((after[0] - before[0]) * 1e6) / answered,
    databaseMicros: ((after[1] - before[1]) * 1e6) / answered,
  }
}

async function answerOf(address: string, request: string): Promise<string> {
  const [head = '', body = ''] = request.split('\r\n\r\n')
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map(line => line.split(': ', 2) as [string, string])
      .filter(([name]) => name !== 'host' && name !== 'content-length'),
  )
  return (await fetch(`${address}/v2/notifications/email`, { method: 'POST', headers, body })).text()
}

function insertJob({ database: { host, user, database, pid } }: House): InsertJob {
  return { host, user, database, pid, clients: CONNECTIONS, seconds: Math.max(1, seconds - 1) }
}

type Yardstick = { address: string; value: number; databaseMicros: number; pid: number; stop(): void }

function yardstick(which: 'insert' | 'bare', given: unknown): Promise<Yardstick> {
  const child = fork(fileURLToPath(new URL('support/yardsticks.ts', import.meta.url)), [which], {
    execArgv: ['--import', 'tsx'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', told => resolve({ ...(told as Yardstick), pid: child.pid ?? 0, stop: () => child.kill() }))
    child.once('exit', code => reject(new Error(`the yardstick ended with ${code}`)))
    child.send(given as object)
  })
}
