// What a backlog costs accepting: e-mails accepted per second with no, some and many waiting messages, each with a ticket of its
// own. The yardstick is the empty queue. npm run bench -- backlog [--some 100000] [--queued 1000000] [--seconds 2] [--repeats 3]

import { createEnvironment } from './support/environment.ts'
import { fill } from './support/fill.ts'
import { type Measured, measure, of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'
import { emails } from './support/requests.ts'
import { insertYardstick } from './support/yardsticks.ts'

const CONNECTIONS = 64

const { some, queued, seconds, repeats, profile } = sizes(
  { some: 100_000, queued: 1_000_000, seconds: 2, repeats: 3 },
  { some: 2_000, queued: 10_000, seconds: 0.5, repeats: 1 },
)

type Level = { waiting: number; insert: number; rounds: Measured[] }

const environment = await createEnvironment()
const running = await environment.start({ profile })
try {
  const levels: Level[] = []
  // Long enough that the code is fully optimised in both measurements.
  await acceptFor(2 * seconds)
  for (const [at, waiting] of [0, some, queued].entries()) {
    // As recent as the messages accepted meanwhile, so that both are in the same partitions.
    if (waiting > 0)
      await fill(environment, { from: levels[at - 1]?.waiting ?? 0, to: waiting, days: 1 / 1440, status: 'created' })
    const rounds: Measured[] = []
    const { perSecond: insert } = await insertYardstick(environment, CONNECTIONS, 1)
    for (let round = 0; round < repeats; round++) rounds.push(await acceptFor(seconds))
    levels.push({ waiting, insert, rounds })
  }
  report(levels)
} finally {
  await running.stop()
  await environment.stop()
}

function acceptFor(seconds: number): Promise<Measured> {
  return measure(environment, [running], {
    requests: emails(environment),
    connections: CONNECTIONS,
    seconds,
    warmUp: 0.5,
  })
}

function report(levels: Level[]) {
  const empty = of(levels[0]?.rounds ?? [], 'perSecond')
  table(
    ['queued', 'accepted/s', '× empty', '× insert', 'p50 ms', 'p99 ms', 'node µs', 'pg µs'],
    levels.map(({ waiting, insert, rounds }) => [
      String(waiting),
      of(rounds, 'perSecond'),
      of(rounds, 'perSecond') / empty,
      of(rounds, 'perSecond') / insert,
      of(rounds, 'p50'),
      of(rounds, 'p99'),
      of(rounds, 'nodeMicros'),
      of(rounds, 'databaseMicros'),
    ]),
  )
  print(levels.map(({ waiting, rounds }) => figure(`accept_queued_${waiting}`, of(rounds, 'perSecond'), '/s', empty)))
}
