// What synchronous replication costs: the same service on a PostgreSQL 15 with a synchronous standby and on one without, in turn.
// All three servers share this machine and its disk, so the round trip of a network is not in it, and the second disk is.
import { createEnvironment, type Environment, type Running } from './environment.ts'
import { type Measured, measure, of } from './measure.ts'
import { hasPair, startPair } from './pair.ts'
import { exactCpuSeconds } from './process.ts'
import { type Figure, figure, median, table } from './report.ts'
import { emails } from './requests.ts'

const CONNECTIONS = 64

type Side = { environment: Environment; running: Running; servers: number[] }
type Round = { full: Measured; half: Measured; databaseMicros: number }

export async function measureReplication(seconds: number, repeats: number): Promise<Figure[]> {
  if (!hasPair()) {
    console.log('PostgreSQL 15 of Debian is not installed: the price of synchronous replication is not measured.')
    return []
  }
  const pair = await startPair()
  const sides: Side[] = []
  try {
    const open = async (server: Environment['database'], ...others: number[]) => {
      const environment = await createEnvironment({ server })
      const side = { environment, running: await environment.start(), servers: [server.pid, ...others] }
      sides.push(side)
      return side
    }
    const alone = await open(pair.alone)
    const replicated = await open(pair.primary, pair.standby.pid)
    // One uncounted round. Its rate decides the half load, which is the same for both.
    await under(alone, 2)
    const rate = (await under(replicated, 2)).perSecond / 2
    const without: Round[] = []
    const synchronous: Round[] = []
    for (let round = 0; round < repeats; round++) {
      without.push(await runRound(alone, seconds, rate))
      synchronous.push(await runRound(replicated, seconds, rate))
    }
    return report(without, synchronous, rate)
  } finally {
    for (const { environment } of sides) await environment.stop()
    await pair.stop()
  }
}

async function runRound(side: Side, seconds: number, rate: number): Promise<Round> {
  await side.environment.settle()
  const before = exactCpuSeconds(side.servers, { family: true })
  const full = await under(side, seconds)
  const databaseMicros = ((exactCpuSeconds(side.servers, { family: true }) - before) * 1e6) / full.answered
  return { full, half: await under(side, seconds, rate), databaseMicros }
}

const under = ({ environment, running }: Side, seconds: number, rate?: number) =>
  measure(environment, [running], {
    ...{ requests: emails(environment), connections: CONNECTIONS, seconds, warmUp: 0.5 },
    ...(rate !== undefined && { rate }),
  })

function report(without: readonly Round[], synchronous: readonly Round[], rate: number): Figure[] {
  const fullOf = (rounds: readonly Round[]) => rounds.map(round => round.full)
  const halfOf = (rounds: readonly Round[]) => rounds.map(round => round.half)
  const row = (name: string, rounds: readonly Round[]) => [
    name,
    of(fullOf(rounds), 'perSecond'),
    of(halfOf(rounds), 'p50'),
    of(halfOf(rounds), 'p99'),
    of(rounds, 'databaseMicros'),
  ]
  table(
    ['accepted', '/s', `p50 ms at ${Math.round(rate)}/s`, 'p99 ms', 'pg µs, all nodes'],
    [row('without a standby', without), row('with a synchronous standby', synchronous)],
  )
  // Round by round: both figures of a round were measured under the same conditions.
  const beside = (value: (round: Round) => number) =>
    median(synchronous.map((round, at) => value(round) / value(without[at] as Round)))
  const compared = (name: string, unit: string, value: (round: Round) => number) =>
    figure(name, median(synchronous.map(value)), unit, median(without.map(value)), beside(value))
  return [
    compared('machines_sync_accepted', '/s', round => round.full.perSecond),
    compared('machines_sync_p50', 'ms', round => round.half.p50),
    compared('machines_sync_p99', 'ms', round => round.half.p99),
    compared('machines_sync_cpu_database', 'µs', round => round.databaseMicros),
  ]
}
