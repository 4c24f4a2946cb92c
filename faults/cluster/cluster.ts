// Three database nodes under Patroni, and machines for Herald, on a network whose lines can be cut.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Machine } from '../support/herald.ts'
import { createNetwork, type Network } from './network.ts'
import { BIN, createNode, type Node } from './node.ts'
import { createProbe, type Probe } from './probe.ts'

export type Roles = { leader: Node; sync: Node; other: Node }

export type Cluster = {
  folder: string
  network: Network
  nodes: readonly Node[]
  /** The machines on which Herald runs. */
  machines: readonly Machine[]
  probe: Probe
  /** What Herald is told: all three nodes. */
  url: string
  /** One leader, one synchronous standby and one other, all streaming on one timeline. */
  settled(seconds?: number): Promise<Roles>
  /** Patroni's command; resolves when it has been answered. */
  switchover(from: Node, to: Node): Promise<void>
  /** While it is paused, Patroni neither demotes nor promotes. Said to a node that reaches the others. */
  pause(isPaused: boolean, by: Node): Promise<void>
  /** Starts the processes of a node that was killed. */
  revive(node: Node): void
  stop(): Promise<void>
}

const NODES = 3
const MACHINES = 3
const BYTES_WANTED = 3_000_000_000
const NEEDED = ['patroni', 'etcd'] as const

/** Why this host cannot run the cluster; null: it can. */
export function clusterRefused(): string | null {
  if (process.platform !== 'linux') return 'the cluster needs Linux'
  const missing = NEEDED.filter(program => !has(program)) as string[]
  if (!existsSync(join(BIN, 'postgres'))) missing.push('postgresql-15')
  return missing.length > 0 ? `not installed: ${missing.join(', ')} (scripts/install-cluster.sh)` : null
}

export async function createCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(isRoomy('/dev/shm') ? '/dev/shm' : tmpdir(), 'hfc-'))
  execFileSync('chmod', ['755', folder])
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const network = createNetwork(NODES + MACHINES)
  const own = network.machines.slice(0, NODES)
  const nodes = own.map(machine => createNode({ folder, machine, all: own }))
  const [first, ...others] = nodes as [Node, Node, Node]
  for (const node of nodes) node.startEtcd()
  first.startPatroni()
  await until(`a leader; ${folder}`, 60, async () => (await first.rest('GET', '/primary')).status === 200)
  for (const node of others) node.startPatroni()
  const settled = (seconds = 90) => settle(nodes, seconds)
  const { leader } = await settled()
  await leader.ask('create role herald login')
  await leader.ask('grant pg_monitor to herald')
  await leader.ask('create database herald owner herald')
  await leader.ask('create database probe')
  await makeProbeTable(leader)
  mkdirSync(join(folder, 'herald'))
  const probe = createProbe(nodes)
  return {
    folder,
    network,
    nodes,
    machines: network.machines.slice(NODES),
    probe,
    url: `postgresql://herald@${own.map(({ host }) => host).join(',')}/herald`,
    settled,
    async switchover(from, to) {
      const { status, body } = await from.rest('POST', '/switchover', { leader: from.name, candidate: to.name })
      if (status !== 200) throw new Error(`the switchover was answered ${status} ${body}`)
    },
    async pause(isPaused, by) {
      const { status, body } = await by.rest('PATCH', '/config', { pause: isPaused || null })
      if (status !== 200) throw new Error(`Patroni answered ${status} ${body}`)
      const knows = async (node: Node) =>
        (await node.rest('GET', '/patroni')).body.includes('"pause": true') === isPaused
      await until('every node to know of the pause', 20, async () => {
        const all = await Promise.all(nodes.filter(node => node.pids().length > 0).map(knows))
        return all.every(Boolean)
      })
    },
    revive(node) {
      node.startEtcd()
      node.startPatroni()
    },
    async stop() {
      await probe.stop()
      await Promise.all(nodes.map(node => node.kill()))
      network.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Member = { name: string; role: string; state: string; timeline?: number; lag?: number | string }

export const membersOf = (body: string): Member[] => {
  try {
    return (JSON.parse(body) as { members?: Member[] }).members ?? []
  } catch {
    return []
  }
}

/** The roles of the nodes by name; null while the cluster is not complete. */
export function rolesOf(members: readonly Member[]): { leader: string; sync: string; other: string } | null {
  const named = (role: string) => members.find(one => one.role === role && one.state === 'running')
  const [leader, sync, other] = [named('leader'), named('sync_standby'), named('replica')]
  if (!leader || !sync || !other || members.length !== NODES) return null
  const isOneTimeline = [sync, other].every(one => one.timeline === leader.timeline)
  return isOneTimeline ? { leader: leader.name, sync: sync.name, other: other.name } : null
}

async function settle(nodes: readonly Node[], seconds: number): Promise<Roles> {
  let found: Roles | null = null
  let last = ''
  await until(
    () => `the cluster to be complete: ${last}`,
    seconds,
    async () => {
      found = null
      for (const node of nodes) {
        const { body } = await node.rest('GET', '/cluster')
        const roles = rolesOf(membersOf(body))
        if (body !== '') last = body.slice(0, 500)
        if (!roles) continue
        const named = (name: string) => nodes.find(one => one.name === name) as Node
        found = { leader: named(roles.leader), sync: named(roles.sync), other: named(roles.other) }
        break
      }
      return found !== null && (await isStreaming(found))
    },
  )
  return found as unknown as Roles
}

/** What Patroni says may be a loop old: the leader itself must see both standbys, one of them synchronous. */
async function isStreaming({ leader }: Roles): Promise<boolean> {
  try {
    const rows = await leader.ask<{ sync_state: string }>(
      `select sync_state from pg_stat_replication where state = 'streaming' and not pg_is_in_recovery()`,
    )
    return rows.length === NODES - 1 && rows.some(row => row.sync_state === 'sync')
  } catch {
    return false // it is being restarted
  }
}

async function makeProbeTable(leader: Node) {
  const client = new pg.Client({ connectionString: leader.url('probe') })
  await client.connect()
  await client.query('create table probe (node text not null, at timestamptz not null default clock_timestamp())')
  await client.end()
}

export async function until(what: string | (() => string), seconds: number, isSo: () => Promise<boolean> | boolean) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) if (await isSo()) return
  throw new Error(`waited ${seconds} s for ${typeof what === 'string' ? what : what()}`)
}

function has(program: string): boolean {
  return (process.env.PATH ?? '')
    .split(':')
    .concat('/usr/sbin', '/usr/bin')
    .some(folder => existsSync(join(folder, program)))
}

function isRoomy(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > BYTES_WANTED
  } catch {
    return false // there is no such folder
  }
}
