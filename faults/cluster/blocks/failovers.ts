// The primary node is lost: killed, frozen, or cut off from the others.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createClient } from '../../support/client.ts'
import { factorOf, percentile, skipped, verdict } from '../../support/promise.ts'
import type { Roles } from '../cluster.ts'
import { until } from '../cluster.ts'
import {
  acceptedAfter,
  type ClusterBlock,
  type ClusterEnvironment,
  MACHINES,
  most,
  SOCKETS,
  steadyLoad,
} from '../environment.ts'
import { type Node, signal, TTL_SECONDS } from '../node.ts'

/** Shorter than the outage: a lease that ran out while nobody could renew it must not look like a crashed worker. */
const SHORT_LEASE = { HERALD_LEASE_SECONDS: '5' }
/** The messages that a machine may have in flight when the database is lost. */
const IN_FLIGHT = 128
const FAILOVER_SECONDS = 60
/** An accept takes no longer than this on a quiet machine with two cores, replication included (p99). */
const QUIET_SECONDS = 0.25

export const killedPrimary: ClusterBlock = {
  name: 'kill -9 of the primary node, with replication lag',
  async run(environment) {
    const { cluster, isLong } = environment
    const kills = isLong ? 10 : 2
    const wanted = { apps: MACHINES, env: SHORT_LEASE, sockets: SOCKETS }
    const result = await environment.scenario(wanted, async ({ client, senders, allow }) => {
      const end = steadyLoad(client, senders, 60)
      const outages: number[] = []
      const added: number[] = []
      const waiting: number[] = []
      const lags: number[] = []
      const waits: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        Object.assign(allow, { extra: allow.extra + MACHINES * IN_FLIGHT, killed: true })
        const roles = await cluster.settled()
        const quietAt = Date.now()
        await sleep(environment.random.between(1_000, 2_000))
        const quiet = client.answers.filter(one => one.status === 201 && one.sentAt > quietAt)
        waits.push(...quiet.map(one => (one.answeredAt - one.sentAt) / 1000))
        const lag = await induceLag(environment, roles)
        waiting.push(lag.waiting)
        lags.push(lag.bytes)
        const at = Date.now()
        await roles.leader.kill()
        environment.totals.kills = (environment.totals.kills ?? 0) + 1
        lag.end()
        const back = await cluster.probe.returned(at + 500, FAILOVER_SECONDS)
        await until('an accept', FAILOVER_SECONDS, () => acceptedAfter(client, at + 500) < Infinity)
        outages.push((back.doneAt - at) / 1000)
        added.push((acceptedAfter(client, at + 500) - back.doneAt) / 1000)
        cluster.revive(roles.leader)
      }
      await cluster.settled()
      await end()
      return { outages, added, waiting, lags, quiet: percentile(waits, 0.99) }
    })
    const { counts, outages, added, waiting, lags, quiet } = result
    const factor = factorOf(QUIET_SECONDS, quiet)
    return [
      verdict(
        'M1',
        'kill -9 of the primary node under load, with replication lag induced first',
        'lost 0, extra 0 beyond the uncertain, accepts again ≤ 1 s after the new leader',
        `${counts.accepted} accepted, ${kills} kills with ${waiting.join(', ')} commits waiting and ${lags.join(', ')} bytes of lag, ${counts.lost} lost, ${counts.extra} extra, ${counts.uncertain} uncertain; the database was away ${outages.map(one => one.toFixed(1)).join(', ')} s, accepts again at most ${most(added).toFixed(2)} s later; p99 without a fault ${quiet.toFixed(2)} s`,
        {
          'none lost': counts.lost === 0,
          'extra only if uncertain': counts.extra <= counts.uncertain,
          'accepts again in time': added.every(one => one <= factor),
          'commits were waiting at some kill': waiting.some(one => one > 0),
          'the other standby was behind at every kill': !cluster.network.hasNamespaces || lags.every(one => one > 0),
        },
        result.violations,
        factor,
      ),
    ]
  },
}

/**
 * The asynchronous standby gets nothing any more, and the synchronous one stops for a moment, so that commits wait when the primary
 * dies. Either its receiver is stopped, and reads later what had been sent; or its line is cut, and it never gets it.
 */
async function induceLag({ cluster, random }: ClusterEnvironment, { leader, sync, other }: Roles) {
  const { network } = cluster
  const stopped: number[] = []
  const stop = (node: Node) => {
    const pid = node.receiver()
    if (signal(pid, 'SIGSTOP')) stopped.push(pid)
  }
  if (network.hasNamespaces) network.cut([other.machine], [leader.machine])
  else stop(other)
  await sleep(1_000)
  const isCut = network.hasNamespaces && random.next() < 0.5
  if (isCut) network.cut([sync.machine], [leader.machine])
  else stop(sync)
  await sleep(random.between(200, 600))
  const [row] = await leader.ask<{ waiting: number; bytes: number }>(
    `select (select count(*)::integer from pg_stat_activity where wait_event = 'SyncRep' and datname = 'herald') as waiting,
            (select pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(min(flush_lsn), '0/0'))::integer
             from pg_stat_replication where application_name = $1) as bytes`,
    [other.name],
  )
  return {
    waiting: row?.waiting ?? 0,
    bytes: row?.bytes ?? 0,
    end() {
      network.heal()
      for (const pid of stopped) signal(pid, 'SIGCONT')
    },
  }
}

export const frozenPrimary: ClusterBlock = {
  name: 'the primary node is frozen for 30 s, then thawed',
  async run(environment) {
    const { cluster, random, isLong } = environment
    const rounds = isLong ? 3 : 1
    const wanted = { apps: MACHINES, env: SHORT_LEASE, sockets: SOCKETS }
    const result = await environment.scenario(wanted, async ({ client, senders, allow }) => {
      const end = steadyLoad(client, senders, 40)
      const outages: number[] = []
      const old: string[] = []
      let late = 0
      for (let round = 0; round < rounds; round++) {
        Object.assign(allow, { extra: allow.extra + MACHINES * IN_FLIGHT, killed: true })
        const { leader } = await cluster.settled()
        const session = await openTransaction(leader)
        await sleep(random.between(500, 1_500))
        const at = Date.now()
        leader.freeze({ etcd: random.next() < 0.5 })
        const back = await cluster.probe.returned(at + 2_000, 30)
        outages.push((back.doneAt - at) / 1000)
        await sleep(Math.max(0, at + 30_000 - Date.now()))
        leader.thaw()
        const thawedAt = Date.now()
        old.push(await session.commit())
        await cluster.settled()
        late += cluster.probe.written.filter(
          one => one.node === leader.name && one.begunAt > at + 2_000 && one.doneAt > thawedAt,
        ).length
        const [row] = await session.survivors(cluster.nodes)
        if (row) old.push('the row is on the new primary')
      }
      await end()
      return { outages, old, late }
    })
    const { counts, outages, old, late } = result
    return [
      verdict(
        'M2',
        'the primary node is frozen for 30 s while another one leads, then thawed',
        'lost 0, the old one’s writes refused',
        `${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra, ${counts.uncertain} uncertain; the database was away ${outages.map(one => one.toFixed(1)).join(', ')} s; a commit on the old primary after the thaw: ${old.join('; ')}; ${late} other writes there`,
        {
          'none lost': counts.lost === 0,
          'extra only if uncertain': counts.extra <= counts.uncertain,
          'the commit on the old primary failed': old.every(one => one.startsWith('refused')),
          'no other write on the old primary': late === 0,
        },
        result.violations,
      ),
    ]
  },
}

/** A transaction that was begun on this node, and its end later. */
async function openTransaction(node: Node) {
  const client = new pg.Client({ connectionString: node.url('probe'), query_timeout: 30_000 })
  client.on('error', () => {}) // the commit says it
  const mark = `mark of ${node.name} ${Date.now()}`
  await client.connect()
  await client.query('begin')
  await client.query('insert into probe (node) values ($1)', [mark])
  return {
    async commit() {
      try {
        await client.query('commit')
        return 'committed'
      } catch (error) {
        return `refused (${(error as Error).message})`
      } finally {
        void client.end().catch(() => {}) // its server may be gone
      }
    },
    async survivors(nodes: readonly Node[]): Promise<unknown[]> {
      for (const one of nodes) {
        const reader = new pg.Client({ connectionString: one.url('probe'), query_timeout: 5_000 })
        reader.on('error', () => {})
        try {
          await reader.connect()
          const { rows } = await reader.query('select 1 from probe where node = $1', [mark])
          if (rows.length > 0) return rows
        } finally {
          void reader.end().catch(() => {}) // only read from
        }
      }
      return []
    },
  }
}

export const cutOffPrimary: ClusterBlock = {
  name: 'the primary is cut off from the others, with callers on both sides',
  async run(environment) {
    const { cluster, isLong } = environment
    const bound = 'lost 0, no 201 on the minority side after the old lease'
    const promise = 'the primary is cut off from the other nodes, callers on both sides'
    if (!cluster.network.hasNamespaces) return [skipped('M3', promise, bound, 'needs network namespaces')]
    const rounds = isLong ? 5 : 1
    const wanted = { apps: MACHINES, env: SHORT_LEASE }
    const result = await environment.scenario(wanted, async ({ apps, client, senders, allow }) => {
      const [alone, ...others] = apps.map(app => app.address) as [string, string, string]
      const [aloneMachine, ...otherMachines] = cluster.machines
      const minority = createClient(() => [alone], { sockets: SOCKETS, first: 10_000_000 })
      const majority = createClient(() => others, { sockets: SOCKETS, first: 20_000_000 })
      const ends = [steadyLoad(minority, senders, 25), steadyLoad(majority, senders, 25)]
      const outages: number[] = []
      const own: number[] = []
      const late: number[] = []
      for (let round = 0; round < rounds; round++) {
        Object.assign(allow, { extra: allow.extra + MACHINES * IN_FLIGHT, killed: true })
        const { leader, sync, other } = await cluster.settled()
        await sleep(environment.random.between(500, 1_500))
        const at = Date.now()
        const lost = [leader.machine, ...(aloneMachine ? [aloneMachine] : [])]
        cluster.network.cut(lost, [sync.machine, other.machine, ...otherMachines])
        const back = await cluster.probe.returned(at + 2_000, FAILOVER_SECONDS)
        own.push((back.doneAt - at) / 1000)
        await until('an accept of the majority', FAILOVER_SECONDS, () => acceptedAfter(majority, at + 2_000) < Infinity)
        outages.push((acceptedAfter(majority, at + 2_000) - at) / 1000)
        await sleep(Math.max(5_000, at + (TTL_SECONDS + 10) * 1000 - Date.now()))
        const healedAt = Date.now()
        cluster.network.heal()
        const leaseEnd = at + TTL_SECONDS * 1000
        late.push(
          minority.answers.filter(one => one.status === 201 && one.answeredAt > leaseEnd && one.answeredAt < healedAt)
            .length,
        )
        await cluster.settled()
      }
      await Promise.all(ends.map(end => end()))
      client.answers.push(...minority.answers, ...majority.answers)
      const taken = (side: typeof minority) => side.answers.filter(one => one.status === 201).length
      return { outages, own, late, taken: [taken(minority), taken(majority)] as const }
    })
    const { counts, outages, own, late, taken } = result
    return [
      verdict(
        'M3',
        promise,
        bound,
        `${taken[0]} accepted on the minority’s machine and ${taken[1]} on the others, ${most(late)} on the minority side between the end of the lease and the healing, ${counts.lost} lost, ${counts.extra} extra, ${counts.uncertain} uncertain; the majority accepts again after ${outages.map(one => one.toFixed(1)).join(', ')} s, the database after ${own.map(one => one.toFixed(1)).join(', ')} s`,
        {
          'none lost': counts.lost === 0,
          'no 201 on the minority side': late.every(one => one === 0),
          'extra only if uncertain': counts.extra <= counts.uncertain,
        },
        result.violations,
      ),
    ]
  },
}
