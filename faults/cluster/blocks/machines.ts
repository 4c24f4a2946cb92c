// A Herald machine disappears, or loses the database while it still reaches the providers.
import { setTimeout as sleep } from 'node:timers/promises'
import { skipped, type Verdict, verdict } from '../../support/promise.ts'
import { type ClusterBlock, type ClusterEnvironment, MACHINES, SOCKETS, steadyLoad } from '../environment.ts'

const IN_FLIGHT = 128
const PROMISES = {
  M7: 'a Herald machine disappears with everything on it',
  M7b: 'a Herald machine is cut off from the database and still reaches the providers',
}

export const lostMachines: ClusterBlock = {
  name: 'a Herald machine is lost, another one is cut off from the database',
  async run(environment) {
    const lease = environment.isLong ? 30 : 4
    return [await lost(environment, 'M7', lease), await lost(environment, 'M7b', lease)]
  },
}

async function lost(environment: ClusterEnvironment, id: keyof typeof PROMISES, lease: number): Promise<Verdict> {
  const { cluster } = environment
  const bound = `taken over ≤ ${lease + 5} s (a lease of ${lease} s), lost 0, extra ≤ in flight, all marked`
  if (!cluster.network.hasNamespaces) return skipped(id, PROMISES[id], bound, 'needs network namespaces')
  // Two slow connections to the provider: the machine holds messages that it has not sent yet.
  const env = { HERALD_LEASE_SECONDS: String(lease), HERALD_SMTP_CONNECTIONS: '2' }
  const result = await environment.scenario({ apps: MACHINES, env, sockets: SOCKETS }, async scenario => {
    const { apps, client, senders, allow } = scenario
    const [app] = apps
    const [machine] = cluster.machines
    if (!app || !machine) throw new Error('there is no machine')
    Object.assign(allow, { extra: IN_FLIGHT, killed: true })
    await cluster.settled()
    await environment.sink.set({ delayMs: 300 })
    const end = steadyLoad(client, senders, 60)
    await sleep(environment.random.between(2_000, 3_000))
    const at = Date.now()
    if (id === 'M7') {
      cluster.network.destroy(machine)
      await app.end()
    } else {
      cluster.network.cut(
        [machine],
        cluster.nodes.map(node => node.machine),
      )
    }
    const before = client.answers.flatMap(one => (one.id !== null && one.answeredAt < at ? [one.id] : []))
    await environment.sink.set({ delayMs: 0 })
    await sleep((lease + 6) * 1000)
    if (id === 'M7') cluster.network.restore(machine)
    else cluster.network.heal()
    await end()
    await scenario.drained()
    const wanted = new Set(before)
    // Sent for the first time after the fault, or again by another machine.
    const late = scenario.arrivals().filter(one => wanted.has(one.id) && one.at > at)
    const taken = new Set(late.filter(one => one.at > at + (lease * 1000) / 3).map(one => one.id))
    return { seconds: (Math.max(at, ...late.map(one => one.at)) - at) / 1000, before: before.length, taken: taken.size }
  })
  const { counts, seconds } = result
  return verdict(
    id,
    PROMISES[id],
    bound,
    `${result.before} accepted before, ${result.taken} of them taken over, the last after ${seconds.toFixed(1)} s; ${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra, ${counts.uncertain} uncertain`,
    {
      'it held messages': result.taken > 0,
      'taken over in time': seconds <= lease + 5,
      'none lost': counts.lost === 0,
      'extra only if uncertain': counts.extra <= counts.uncertain,
    },
    result.violations,
  )
}
