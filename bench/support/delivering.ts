// One load, accepted and delivered at the same time, whatever processes do it.
import type { House, Running } from './house.ts'
import type { Mail } from './mail.ts'
import { measure } from './measure.ts'
import { watchCpu } from './process.ts'
import { emails } from './requests.ts'

const CONNECTIONS = 64

export type Delivered = {
  /** A second. */
  accepted: number
  /** A second, from the first request until the last message had come. */
  delivered: number
  /** Processor time for each message, from its request to the mail server. */
  nodeMicros: number
  databaseMicros: number
}

export async function acceptAndDeliver(
  house: House,
  mail: Mail,
  running: readonly Running[],
  seconds: number,
): Promise<Delivered> {
  const used = watchCpu(
    house,
    running.map(one => one.pid),
  )
  mail.reset()
  const job = { requests: emails(house), connections: CONNECTIONS, seconds, warmUp: 0 }
  const { began, perSecond, answered } = await measure(house, running, job)
  const last = await mail.received(answered)
  const { node, database } = used()
  return {
    accepted: perSecond,
    delivered: (answered / (last - began)) * 1000,
    nodeMicros: (node * 1e6) / answered,
    databaseMicros: (database * 1e6) / answered,
  }
}

/** Once without counting: the machine code of the first seconds is not that of the others, and each process makes its own. */
export const warmUp = (house: House, mail: Mail, running: readonly Running[]) =>
  acceptAndDeliver(house, mail, running, 2 + running.length)
