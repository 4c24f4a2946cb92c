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

/** `load`: seconds, or a number of messages. */
export async function acceptAndDeliver(
  environment: Environment,
  mail: Mail,
  running: readonly Running[],
  load: number | { messages: number; connections: number },
  writing: Writing = 'mixed',
): Promise<Delivered> {
  const used = watchCpu(
    environment,
    running.map(one => one.pid),
  )
  mail.reset()
  const requests = emailsIn(writing, environment)
  const job =
    typeof load === 'number'
      ? { requests, connections: CONNECTIONS, seconds: load, warmUp: 0 }
      : {
          ...{ requests: Array.from({ length: load.messages }, (_, n) => requests[n % requests.length] as string) },
          ...{ connections: load.connections, seconds: 0, once: true, warmUp: 0 },
        }
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
