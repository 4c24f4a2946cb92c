// Standbys are lost, replication is cut or switched off.
import { setTimeout as sleep } from 'node:timers/promises'
import { newKey, type Sender } from '../../support/client.ts'
import { skipped, verdict } from '../../support/promise.ts'
import { statusOf } from '../../support/relay.ts'
import { until } from '../cluster.ts'
import { acceptTimes, type ClusterBlock, failedOf, MACHINES, SOCKETS, slowest, steadyLoad } from '../environment.ts'
import type { Node } from '../node.ts'
import { longestGap } from '../probe.ts'

export const killedStandby: ClusterBlock = {
  name: 'kill -9 of the synchronous standby',
  async run(environment) {
    const { cluster, isLong } = environment
    const kills = isLong ? 5 : 1
    const result = await environment.scenario({ apps: MACHINES, sockets: SOCKETS }, async ({ client, senders }) => {
      const end = steadyLoad(client, senders, 40)
      const gaps: number[] = []
      const own: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        const { sync } = await cluster.settled()
        await sleep(1_000)
        const at = Date.now()
        await sync.kill()
        environment.totals.kills = (environment.totals.kills ?? 0) + 1
        await sleep(5_000)
        own.push(cluster.probe.longestGap(at))
        gaps.push(longestGap(acceptTimes(client, at)))
        cluster.revive(sync)
      }
      await cluster.settled()
      await end()
      return { gaps, own, failed: failedOf(client), slowest: slowest(client) }
    })
    const { counts, failed } = result
    return [
      verdict(
        'M4',
        'kill -9 of the synchronous standby under load',
        'no 5xx, lost 0',
        `${kills} kills, ${counts.accepted} accepted, ${failed.length} failed, slowest ${result.slowest.toFixed(1)} s, longest gap ${Math.max(...result.gaps).toFixed(2)} s, the database’s own ${Math.max(...result.own).toFixed(2)} s; ${counts.lost} lost, ${counts.extra} extra`,
        { 'none failed': failed.length === 0, 'none lost': counts.lost === 0, 'no extra': counts.extra === 0 },
        [...result.violations, ...failed.slice(0, 2).map(({ status, body }) => `${status} ${body}`)],
      ),
    ]
  },
}

export const unreplicatedLook: ClusterBlock = {
  name: 'replication cut, the line lost during the commit, the request repeated, the primary lost',
  async run(environment) {
    const { cluster, isLong } = environment
    const promise = 'three faults: replication is cut, the line breaks during the commit, the primary is lost'
    const bound = '500, also for the repeated request; lost 0'
    if (!cluster.network.hasNamespaces) return [skipped('M6', promise, bound, 'needs network namespaces')]
    const rounds = isLong ? 5 : 1
    const result = await environment.scenario(
      { apps: MACHINES, sockets: SOCKETS },
      async ({ client, senders, allow }) => {
        const statuses: number[] = []
        let broken = 0
        let alone = 0
        for (let round = 0; round < rounds; round++) {
          Object.assign(allow, { extra: allow.extra + 64, killed: true })
          const { leader, sync, other } = await cluster.settled()
          const sender = senders[0] as Sender
          await Promise.all(Array.from({ length: 12 }, () => client.send({ sender, idempotencyKey: newKey() })))
          // Otherwise Patroni would demote the primary before the request is repeated.
          await cluster.pause(true, leader)
          cluster.network.cut([leader.machine], [sync.machine, other.machine])
          const asked = Array.from({ length: 6 }, (_, n) => ({
            sender,
            idempotencyKey: newKey(),
            to: `three-${round}-${n}@example.org`,
            token: `tk${round}three${n}k`,
          }))
          const once = (one: (typeof asked)[number]) =>
            client.ask('POST', '/v2/notifications/email', {
              key: sender.key,
              headers: { 'idempotency-key': one.idempotencyKey },
              body: {
                email_address: one.to,
                template_id: sender.templates.email,
                personalisation: { token: one.token },
              },
            })
          const before = await storedOn(leader, sender)
          const first = asked.map(once)
          for (let tries = 0; tries < 4; tries++) {
            await sleep(300)
            broken += await breakCommits(leader)
          }
          statuses.push(...(await Promise.all(first)).map(({ status }) => status))
          alone += (await storedOn(leader, sender)) - before
          statuses.push(...(await Promise.all(asked.map(once))).map(({ status }) => status))
          await leader.kill()
          environment.totals.kills = (environment.totals.kills ?? 0) + 1
          cluster.network.heal()
          await cluster.pause(false, sync)
          // Asked again until it is accepted, as a caller does.
          await Promise.all(asked.map(one => client.send(one)))
          cluster.revive(leader)
          await cluster.settled()
        }
        return { statuses, broken, alone }
      },
    )
    const { counts, statuses, broken, alone } = result
    const others = statuses.filter(one => one !== 500)
    return [
      verdict(
        'M6',
        promise,
        bound,
        `${statuses.length} requests, ${broken} lines broken during the commit, ${alone} messages then on the old primary alone, answered ${[...new Set(statuses)].join(', ')}; ${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra`,
        {
          'messages were on the old primary alone': alone > 0,
          'all answered 500': others.length === 0,
          'none lost': counts.lost === 0,
        },
        result.violations,
      ),
    ]
  },
}

/** Ended by an administrator, a commit that waits for a standby is complete on this node, and only there. */
async function breakCommits(node: Node): Promise<number> {
  const ended = await node.ask(
    `select pg_terminate_backend(pid)
     from pg_stat_activity
     where datname = 'herald' and wait_event = 'SyncRep' and query !~ 'pg_logical_emit_message'`,
  )
  return ended.length
}

async function storedOn(node: Node, { service }: Sender): Promise<number> {
  const text = 'select count(*)::integer as messages from notifications where service_id = $1'
  const [row] = await node.ask<{ messages: number }>(text, [service], 'herald')
  return row?.messages ?? 0
}

export const asynchronous: ClusterBlock = {
  name: 'asynchronous replication with HERALD_REPLICATION=required',
  async run(environment) {
    const { cluster } = environment
    const { leader } = await cluster.settled()
    const configure = async (isSynchronous: boolean) => {
      const wanted = { synchronous_mode: isSynchronous, synchronous_mode_strict: isSynchronous }
      const { status, body } = await leader.rest('PATCH', '/config', wanted)
      if (status !== 200) throw new Error(`Patroni answered ${status} ${body}`)
      await until('Patroni to apply it', 30, async () => {
        const [row] = await leader.ask<{ names: string }>(
          `select current_setting('synchronous_standby_names') as names`,
        )
        return (row?.names !== '') === isSynchronous
      })
    }
    const result = await environment.scenario({ apps: 1 }, async ({ apps, client, senders }) => {
      const ready = `${apps[0]?.address}/health/ready`
      const readyFor = async (isReady: boolean) => {
        const since = Date.now()
        await until(`readiness to be ${isReady}`, 40, async () => ((await statusOf(ready)) === 200) === isReady)
        return (Date.now() - since) / 1000
      }
      await client.send({ sender: senders[0] as Sender })
      await readyFor(true)
      await configure(false)
      const off = await readyFor(false).catch(() => Infinity)
      const { code, words } = await environment.tryStart({})
      await configure(true)
      await cluster.settled()
      const on = await readyFor(true).catch(() => Infinity)
      return { off, code, words, on }
    })
    const { off, on, code, words } = result
    const isRefused = code !== null && code !== 0
    return [
      verdict(
        'M9',
        'asynchronous replication with HERALD_REPLICATION=required',
        'refuses to start; a running one becomes not ready',
        `${isRefused ? 'refused to start' : 'started'}; not ready ${after(off)}, ready again ${after(on)}`,
        {
          'refused to start': isRefused,
          'and said why': /replication|synchronous/i.test(words),
          'became not ready': off < Infinity,
          'became ready again': on < Infinity,
        },
        [...result.violations, ...(isRefused ? [] : [words.slice(0, 300)])],
      ),
    ]
  },
}

const after = (seconds: number) => (seconds === Infinity ? 'never' : `after ${seconds.toFixed(1)} s`)
