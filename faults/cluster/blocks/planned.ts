// Planned work under load: switchovers, and rolling restarts of every machine and every node.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../support/client.ts'
import { factorOf, skipped, verdict } from '../../support/promise.ts'
import { createBalancer } from '../../support/relay.ts'
import {
  acceptTimes,
  type ClusterBlock,
  failedOf,
  MACHINES,
  most,
  SOCKETS,
  slowest,
  steadyLoad,
} from '../environment.ts'
import type { Node } from '../node.ts'
import { longestGap } from '../probe.ts'

/** What Herald may add to the database's own gap before the bound counts as the machine's slowness. */
const ADDED_SECONDS = 0.5

/** A request waits for the database for 4.5 s. A machine on which the database alone is away for longer cannot test what it promises. */
const LONGEST_SECONDS = 4
const tooSlow = (id: string, promise: string, bound: string, seconds: number) =>
  skipped(id, promise, bound, `the database alone was away for ${seconds.toFixed(1)} s; a request waits for 4.5 s`)

export const switchovers: ClusterBlock = {
  name: 'switchovers by command under load',
  async run(environment) {
    const { cluster, isLong } = environment
    const times = isLong ? 10 : 3
    const result = await environment.scenario({ apps: MACHINES, sockets: SOCKETS }, async ({ client, senders }) => {
      const end = steadyLoad(client, senders, 40)
      const gaps: number[] = []
      const own: number[] = []
      for (let time = 0; time < times; time++) {
        const { leader, sync } = await cluster.settled()
        await sleep(environment.random.between(500, 1_500))
        const at = Date.now()
        await cluster.switchover(leader, sync)
        await cluster.settled()
        await sleep(500)
        own.push(cluster.probe.longestGap(at - 200))
        gaps.push(longestGap(acceptTimes(client, at - 200)))
      }
      await end()
      return { gaps, own, failed: failedOf(client), slowest: slowest(client) }
    })
    const { counts, failed, gaps, own } = result
    const factor = factorOf(3, most(own) + ADDED_SECONDS)
    const [promise, bound] = ['switchover by command under load', 'no failed request, gap ≤ 3 s']
    const isSafe = counts.lost === 0 && counts.extra === 0 && result.violations.length === 0
    if (failed.length > 0 && isSafe && most(own) > LONGEST_SECONDS) return [tooSlow('M5', promise, bound, most(own))]
    return [
      verdict(
        'M5',
        promise,
        bound,
        `${times} switchovers, ${counts.accepted} accepted, ${failed.length} failed, longest gap ${most(gaps).toFixed(2)} s, the database’s own ${most(own).toFixed(2)} s, slowest request ${result.slowest.toFixed(1)} s; ${counts.lost} lost, ${counts.extra} extra`,
        {
          'none failed': failed.length === 0,
          'gap in time': most(gaps) <= 3 * factor,
          'none lost': counts.lost === 0,
          'no extra': counts.extra === 0,
        },
        [...result.violations, ...failed.slice(0, 2).map(one => `${one.status} after ${one.tries} tries ${one.body}`)],
        factor,
      ),
    ]
  },
}

export const rollingRestarts: ClusterBlock = {
  name: 'rolling restart of all machines and of all database nodes',
  async run(environment) {
    const { cluster } = environment
    const env = { HERALD_LEASE_SECONDS: '30', HERALD_NOTICE_SECONDS: '1' }
    const result = await environment.scenario({ apps: MACHINES, env }, async ({ apps, client, senders }) => {
      const balancer = await createBalancer(apps.map(app => app.address))
      const since = Date.now()
      try {
        const mine = createClient(() => [balancer.address], { sockets: SOCKETS, scheduling: 'fifo' })
        const end = steadyLoad(mine, senders, 40)
        for (const app of apps) {
          await app.term()
          await app.start()
          await sleep(300) // until the load balancer has noticed
        }
        const { leader, sync, other } = await cluster.settled()
        await restart(other)
        await cluster.settled()
        await restart(sync)
        const now = await cluster.settled()
        await cluster.switchover(leader, now.sync)
        await cluster.settled()
        await restart(leader)
        await cluster.settled()
        await end()
        client.answers.push(...mine.answers)
        return { failed: failedOf(mine), slowest: slowest(mine), own: cluster.probe.longestGap(since) }
      } finally {
        await balancer.stop()
      }
    })
    const { counts, failed, own } = result
    const promise = 'rolling restart of all machines and of all database nodes under load'
    const bound = 'no failed request, lost 0, extra 0'
    const isSafe = counts.lost === 0 && counts.extra === 0 && result.violations.length === 0
    if (failed.length > 0 && isSafe && own > LONGEST_SECONDS) return [tooSlow('M8', promise, bound, own)]
    return [
      verdict(
        'M8',
        promise,
        bound,
        `${MACHINES} machines and ${cluster.nodes.length} nodes restarted, ${counts.accepted} accepted, ${failed.length} failed, slowest request ${result.slowest.toFixed(1)} s, the database away for ${own.toFixed(1)} s, ${counts.lost} lost, ${counts.extra} extra`,
        { 'none failed': failed.length === 0, 'none lost': counts.lost === 0, 'no extra': counts.extra === 0 },
        [...result.violations, ...failed.slice(0, 2).map(one => `${one.status} after ${one.tries} tries ${one.body}`)],
      ),
    ]
  },
}

async function restart(node: Node) {
  const { status, body } = await node.rest('POST', '/restart', {})
  if (status !== 200) throw new Error(`the restart of ${node.name} was answered ${status} ${body}`)
}
