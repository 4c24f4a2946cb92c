// Accepted single messages per second: every check, sealed, committed to disk before the 201; nothing is delivered meanwhile.
// Also the latency at a quarter, a half and three quarters of that load. npm run bench -- accept [--seconds 1.6] [--repeats 5]
// [--profile FOLDER]
import { createEnvironment, type Environment, type Running } from './support/environment.ts'
import { type Measured, measure, of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, median, print, table } from './support/report.ts'
import { ask, emails, emailsIn, texts } from './support/requests.ts'
import { personalisation } from './support/values.ts'
import { type Inserted, insertYardstick, startBare } from './support/yardsticks.ts'

const CONNECTIONS = 64
const LOADS = [25, 50, 75] as const

const { seconds, repeats, profile } = sizes({ seconds: 1.6, repeats: 5 }, { seconds: 0.5, repeats: 1 })

type Kind = 'email' | 'latin' | 'scripts' | 'sms' | 'bare' | 'bareAtHalf' | (typeof LOADS)[number]
type Rounds = Record<Kind, Measured[]> & Record<'insert' | 'commit', Inserted[]> & { besideInserts: number[] }

const environment = await createEnvironment()
const running = await environment.start({ profile })
try {
  report(await rounds(environment, running))
} finally {
  await running.stop()
  await environment.stop()
}

async function rounds(environment: Environment, running: Running): Promise<Rounds> {
  const email = emails(environment)
  const latin = emailsIn('latin', environment)
  const scripts = emailsIn('scripts', environment)
  const text = texts(environment)
  const bare = await startBare(await answerOf(environment, running))
  const all: Rounds = {
    email: [],
    latin: [],
    scripts: [],
    sms: [],
    bare: [],
    bareAtHalf: [],
    25: [],
    50: [],
    75: [],
    insert: [],
    commit: [],
    besideInserts: [],
  }
  const under = (requests: string[], one: Pick<Running, 'address' | 'pid'> = running, rate?: number) =>
    measure(environment, [one], { requests, connections: CONNECTIONS, seconds, warmUp: 0.7, ...(rate && { rate }) })
  // One uncounted round: the code is not optimised yet in the first seconds.
  await under(email)
  for (let round = 0; round < repeats; round++) {
    all.commit.push(await insertYardstick(environment, 1, seconds / 4))
    // Before and after, compared round by round: the speed of the machine varies from one minute to the next.
    const before = await insertYardstick(environment, CONNECTIONS, seconds)
    await environment.settle()
    const accepted = await under(email)
    const after = await insertYardstick(environment, CONNECTIONS, seconds)
    all.insert.push(before, after)
    all.email.push(accepted)
    all.besideInserts.push((2 * accepted.perSecond) / (before.perSecond + after.perSecond))
    const at = async (load: (typeof LOADS)[number]) =>
      all[load].push(await under(email, running, (accepted.perSecond * load) / 100))
    await at(50)
    // The latency of the machine itself at this rate.
    all.bareAtHalf.push(await under(email, bare, accepted.perSecond / 2))
    // The other figures have no tight bound: every second round is enough.
    if (round % 2 === 1) continue
    await at(25)
    await at(75)
    all.latin.push(await under(latin))
    all.scripts.push(await under(scripts))
    all.sms.push(await under(text))
    all.bare.push(await under(email, bare))
  }
  bare.stop()
  return all
}

function report(all: Rounds) {
  const insert = of(all.insert, 'perSecond')
  const commit = of(all.commit, 'p50')
  const beside = median(all.besideInserts)
  const row = (name: string, kind: Kind) => [
    name,
    kind === 'email' ? beside : of(all[kind], 'perSecond') / insert,
    of(all[kind], 'perSecond'),
    of(all[kind], 'p50'),
    of(all[kind], 'p99'),
    of(all[kind], 'nodeMicros'),
    of(all[kind], 'databaseMicros'),
    of(all[kind], 'clientMicros'),
  ]
  table(
    [`${CONNECTIONS} connections`, '× insert', '/s', 'p50 ms', 'p99 ms', 'node µs', 'pg µs', 'load generator µs'],
    [
      row('e-mails accepted', 'email'),
      row('the same, Latin values', 'latin'),
      row('the same, other scripts', 'scripts'),
      row('texts accepted', 'sms'),
      ...LOADS.map(load => row(`e-mails at ${load} % load`, load)),
      row('bare Fastify route', 'bare'),
      row('the same at that 50 %', 'bareAtHalf'),
      ['single-row inserts', 1, insert, of(all.insert, 'p50'), '', '', of(all.insert, 'databaseMicros'), ''],
      ['one insert at a time', '', of(all.commit, 'perSecond'), commit, '', '', of(all.commit, 'databaseMicros'), ''],
    ],
  )
  print([
    figure('accept_email', of(all.email, 'perSecond'), '/s', insert, beside),
    figure('accept_email_over_http', of(all.email, 'perSecond'), '/s', of(all.bare, 'perSecond')),
    figure('accept_scripts_over_latin', of(all.scripts, 'perSecond'), '/s', of(all.latin, 'perSecond')),
    figure('accept_sms', of(all.sms, 'perSecond'), '/s', of(all.email, 'perSecond')),
    ...LOADS.flatMap(load => [
      figure(`accept_load_${load}_p50`, of(all[load], 'p50'), 'ms', commit),
      figure(`accept_load_${load}_p99`, of(all[load], 'p99'), 'ms', of(all.bareAtHalf, 'p99')),
    ]),
    figure('accept_cpu_service', of(all.email, 'nodeMicros'), 'µs', of(all.bare, 'nodeMicros')),
    figure('accept_cpu_database', of(all.email, 'databaseMicros'), 'µs', of(all.insert, 'databaseMicros')),
  ])
}

function answerOf(environment: Environment, running: Running): Promise<string> {
  const body = {
    email_address: 'person.1@example.org',
    template_id: environment.templates.email,
    personalisation: personalisation(1),
    reference: 'order-1',
  }
  return ask(environment, running, 'POST', '/v2/notifications/email', JSON.stringify(body))
}
