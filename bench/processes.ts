// The same load, accepted and delivered, by one process and by three that were started by hand: two for HTTP and one engine. Then
// what a message costs with 1, 2, 4 and 8 processes of one `herald start` (HERALD_PROCESSES): CPU time, which says what more cores
// would do, while rates only say how many cores this machine has. Connections and messages are for each process, because
// a process is added for load: the same load in more processes would only make smaller batches.
// npm run bench -- processes [--seconds 3] [--repeats 3] [--processes 8] [--messages 4000] [--connections 64]
import { acceptAndDeliver, type Delivered, warmUp } from './support/delivering.ts'
import { createEnvironment, type StartOptions } from './support/environment.ts'
import { startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, median, print, table } from './support/report.ts'

const { seconds, repeats, processes, messages, connections } = sizes(
  { seconds: 3, repeats: 3, processes: 8, messages: 4_000, connections: 64 },
  { seconds: 0.5, repeats: 1, processes: 2, messages: 500 },
)
const COUNTS = [1, 2, 4, 8].filter(count => count <= processes)
/** Uncounted, through each process: its code is optimised after some thousand messages. */
const WARM_UP = Math.min(3_000, messages)

const environment = await createEnvironment()
const mail = await startMail()
try {
  const split: StartOptions[] = [
    { only: 'http', mail: mail.port },
    { only: 'http', mail: mail.port },
    { only: 'engine', mail: mail.port },
  ]
  const three: Delivered[] = []
  const counted = new Map<number, Delivered[]>(COUNTS.map(count => [count, []]))
  // Alternating, so that a slow phase of the machine affects all.
  for (let round = 0; round < repeats; round++) {
    for (const [count, rounds] of counted) rounds.push(await runSeveral(count))
    three.push(await runWith(split))
  }
  const one = counted.get(1) ?? []
  const both = (rounds: readonly Delivered[]) => rounds.map(round => round.nodeMicros + round.databaseMicros)
  // Round by round: both figures of a round were measured under the same conditions.
  const beside = (rounds: readonly number[], first: readonly number[]) =>
    median(rounds.map((value, at) => value / (first[at] ?? Number.NaN)))
  const row = (name: string, rounds: Delivered[]) => [
    name,
    of(rounds, 'accepted'),
    of(rounds, 'delivered'),
    of(rounds, 'nodeMicros'),
    of(rounds, 'databaseMicros'),
    beside(both(rounds), both(one)),
  ]
  table(
    [`to ${mail.name}`, 'accepted/s', 'delivered/s', 'node µs', 'pg µs', '× one process'],
    [
      ...[...counted].map(([count, rounds]) => row(count === 1 ? 'one process' : `${count} processes`, rounds)),
      row('two for HTTP, one engine', three),
    ],
  )
  const rates = (rounds: readonly Delivered[], what: 'accepted' | 'delivered') => rounds.map(round => round[what])
  print([
    ...(['accepted', 'delivered'] as const).map(what =>
      figure(`processes_${what}`, of(three, what), '/s', of(one, what), beside(rates(three, what), rates(one, what))),
    ),
    ...[...counted].flatMap(([count, rounds]) => [
      figure(`processes_${count}_cpu_service`, of(rounds, 'nodeMicros'), 'µs', of(one, 'nodeMicros')),
      figure(`processes_${count}_cpu_database`, of(rounds, 'databaseMicros'), 'µs', of(one, 'databaseMicros')),
      ...(count === 1
        ? []
        : [
            figure(
              `processes_cost_${count}_over_1`,
              median(both(rounds)),
              'µs',
              median(both(one)),
              beside(both(rounds), both(one)),
            ),
          ]),
    ]),
  ])
} finally {
  mail.stop()
  await environment.stop()
}

/** One start with several processes. */
async function runSeveral(count: number): Promise<Delivered> {
  const running = await environment.start({ mail: mail.port, env: { HERALD_PROCESSES: String(count) } })
  try {
    await acceptAndDeliver(environment, mail, [running], {
      messages: WARM_UP * count,
      connections: connections * count,
    })
    await environment.settle()
    return await acceptAndDeliver(environment, mail, [running], {
      messages: messages * count,
      connections: connections * count,
    })
  } finally {
    await running.stop()
  }
}

async function runWith(options: readonly StartOptions[]): Promise<Delivered> {
  const running = await Promise.all(options.map(environment.start))
  try {
    await warmUp(environment, mail, running)
    await environment.settle()
    return await acceptAndDeliver(environment, mail, running, seconds)
  } finally {
    await Promise.all(running.map(one => one.stop()))
  }
}
