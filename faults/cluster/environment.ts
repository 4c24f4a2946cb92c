// The environment of the cluster's blocks: the harness of the other blocks, with machines and a database of three nodes.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, newKey, type Sender } from '../support/client.ts'
import { createHarness, type Harness } from '../support/environment.ts'
import type { Verdict } from '../support/promise.ts'
import type { Random } from '../support/random.ts'
import { type Cluster, createCluster } from './cluster.ts'

export type ClusterEnvironment = Harness & { cluster: Cluster }
export type ClusterBlock = { name: string; run(environment: ClusterEnvironment): Promise<Verdict[]> }

/** Every app of a scenario is a machine of its own. */
export const MACHINES = 3
/** Callers keep coming while accepting takes seconds. */
export const SOCKETS = 600

export async function createClusterEnvironment(random: Random, isLong: boolean): Promise<ClusterEnvironment> {
  const cluster = await createCluster()
  for (const note of cluster.network.notes) console.log(`     (${note})`)
  try {
    const harness = await createHarness(random, isLong, {
      folder: join(cluster.folder, 'herald'),
      url: cluster.url,
      host: cluster.network.host,
      machines: cluster.machines,
      env: { HERALD_REPLICATION: 'required' },
    })
    return {
      ...harness,
      cluster,
      async stop() {
        await harness.stop().catch(() => {}) // the cluster may be broken; it is removed in any case
        await cluster.stop()
      },
    }
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** Requests at a fixed rate, whether answers come or not, until the end is asked for. Two of three have an Idempotency-Key. */
export function steadyLoad(client: Client, senders: readonly Sender[], perSecond: number): () => Promise<void> {
  const under: Promise<unknown>[] = []
  let isOver = false
  const running = (async () => {
    const since = performance.now()
    for (let n = 0; !isOver; n++) {
      const wait = since + (n * 1000) / perSecond - performance.now()
      if (wait > 1) await sleep(wait)
      const sender = senders[n % senders.length] as Sender
      under.push(client.send({ sender, idempotencyKey: n % 3 === 0 ? null : newKey() }))
    }
  })()
  return async () => {
    isOver = true
    await running
    await Promise.all(under)
  }
}

/** When the first message was accepted after this moment; Infinity: never. */
export const acceptedAfter = ({ answers }: Client, at: number) =>
  Math.min(...answers.filter(one => one.status === 201 && one.answeredAt > at).map(one => one.answeredAt))

export const acceptTimes = ({ answers }: Client, since: number) =>
  answers.flatMap(one => (one.status === 201 && one.answeredAt >= since ? [one.answeredAt] : []))

/** Requests that were not answered 201 the first time. */
export const failedOf = ({ answers }: Client) => answers.filter(one => one.status !== 201 || one.tries > 1)

export const slowest = ({ answers }: Client) =>
  Math.max(0, ...answers.filter(one => one.tries === 1).map(one => one.answeredAt - one.sentAt)) / 1000

export const secondsOf = (milliseconds: number) => (milliseconds / 1000).toFixed(2)
export const most = (values: readonly number[]) => Math.max(0, ...values)
