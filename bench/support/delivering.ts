// One load, accepted and delivered at the same time, by any set of processes.
import type { Environment, Running } from './environment.ts'
import type { Mail } from './mail.ts'
import { measure } from './measure.ts'
import { watchCpu } from './process.ts'
import { emailsIn } from './requests.ts'
import type { Writing } from './values.ts'

const CONNECTIONS = 64

export type Delivered = {
  /** Per second. */
  accepted: number
  /** Per second, from the first request until the last message had arrived. */
  delivered: number
  /** CPU time for each message, from its request to the mail server. */
  nodeMicros: number
  databaseMicros: number
}

export async function acceptAndDeliver(
  environment: Environment,
  mail: Mail,
  running: readonly Running[],
  seconds: number,
  writing: Writing = 'mixed',
): Promise<Delivered> {
  const used = watchCpu(
    environment,
    running.map(one => one.pid),
  )
  mail.reset()
  const job = { requests: emailsIn(writing, environment), connections: CONNECTIONS, seconds, warmUp: 0 }
  const { began, perSecond, answered } = await measure(environment, running, job)
  const last = await mail.received(answered)
  const { node, database } = used()
  return {
    accepted: perSecond,
    delivered: (answered / (last - began)) * 1000,
    nodeMicros: (node * 1e6) / answered,
    databaseMicros: (database * 1e6) / answered,
  }
}

/** One uncounted round: the code is not optimised yet in the first seconds, in each process. */
export const warmUp = (environment: Environment, mail: Mail, running: readonly Running[]) =>
  acceptAndDeliver(environment, mail, running, 2 + running.length)
