// Load from outside, and its CPU cost inside.
import type { Environment, Running } from './environment.ts'
import { type Job, load, type Outcome } from './load.ts'
import { watchCpu } from './process.ts'
import { median } from './report.ts'

/** CPU time of the service and of its database, per answer. */
export type Measured = Outcome & { nodeMicros: number; databaseMicros: number }

export async function measure(
  environment: Environment,
  running: readonly Pick<Running, 'address' | 'pid'>[],
  job: Omit<Job, 'addresses'>,
  status = 201,
): Promise<Measured> {
  const used = watchCpu(
    environment,
    running.map(one => one.pid),
  )
  const addresses = running.map(one => one.address).filter(address => address !== '')
  const outcome = await load({ ...job, addresses })
  const { node, database } = used()
  const { answered, statuses } = outcome
  if (statuses[status] !== answered)
    throw new Error(`not everything was answered ${status}: ${JSON.stringify(statuses)}`)
  return { ...outcome, nodeMicros: (node * 1e6) / answered, databaseMicros: (database * 1e6) / answered }
}

/** The median of one figure over rounds. */
export const of = <K extends string>(rounds: readonly Record<K, number>[], what: K) =>
  median(rounds.map(round => round[what]))
