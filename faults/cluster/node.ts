// One database node: PostgreSQL 15 under Patroni, and its member of etcd beside it. The node is killed, frozen and started as a whole.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { endsWithUs } from '../support/children.ts'
import type { Machine } from '../support/herald.ts'

export const BIN = '/usr/lib/postgresql/15/bin'
/** Patroni: how long a leader may lead without renewing its lock. */
export const TTL_SECONDS = 10
const ETCD_PORT = 2379
const ETCD_PEER_PORT = 2380
const REST_PORT = 8008
const PATHS = {
  ...process.env,
  PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin`,
  ...(process.arch !== 'x64' && { ETCD_UNSUPPORTED_ARCH: process.arch }),
}

export type Node = {
  name: string
  machine: Machine
  url(database: string, user?: string): string
  /** An administrator's session with this node, whatever its role. */
  ask<T extends pg.QueryResultRow>(text: string, values?: unknown[], database?: string): Promise<T[]>
  /** Patroni's REST interface. */
  rest(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }>
  startEtcd(): void
  startPatroni(): void
  /** kill -9 of every process at the same moment. */
  kill(): Promise<void>
  freeze(what?: { etcd: boolean }): void
  thaw(): void
  /** The process that receives the log of the primary; 0: there is none. */
  receiver(): number
  pids(): number[]
  log(): string
}

export type Place = { folder: string; machine: Machine; all: readonly Machine[] }

export function createNode({ folder, machine, all }: Place): Node {
  const { host } = machine
  const name = nameOf(machine)
  const place = join(folder, name)
  const data = join(place, 'data')
  mkdirSync(place, { recursive: true })
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres:', place])
  const config = join(place, 'patroni.json')
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(settings({ name, host, place, data, all }), null, 2), { mode: 0o644 })
  let etcd: ChildProcess | null = null
  let patroni: ChildProcess | null = null
  let frozen: number[] = []

  function launch(program: string, args: readonly string[], isDatabase: boolean): ChildProcess {
    const asOwner = isDatabase && process.getuid?.() === 0 ? AS_POSTGRES : []
    const [first, ...words] = [...machine.inside, ...asOwner, program, ...args] as [string, ...string[]]
    const output = openSync(join(place, `${program}.log`), 'a')
    return endsWithUs(spawn(first, words, { cwd: '/', stdio: ['ignore', output, output], env: PATHS }))
  }

  const postmaster = () => {
    const file = join(data, 'postmaster.pid')
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
  }
  // The file outlives a killed server, and its number may be another process by then.
  const isOurs = (pid: number) => pid > 0 && commandOf(pid).includes(data)
  const database = () => {
    const pid = postmaster()
    return isOurs(pid) ? [pid, ...childrenOf(pid)] : []
  }
  const isAlive = (child: ChildProcess | null) =>
    child?.pid !== undefined && child.exitCode === null && child.signalCode === null
  const ofChild = (child: ChildProcess | null) => (isAlive(child) ? [child?.pid as number] : [])
  const pids = () => [...ofChild(patroni), ...database(), ...ofChild(etcd)]
  // Twice: a process may have started another one meanwhile.
  const stopAll = (list: () => number[]) => {
    for (let round = 0; round < 2; round++) for (const pid of list()) signal(pid, 'SIGSTOP')
    return list()
  }

  const node: Node = {
    name,
    machine,
    url: (base, user = 'postgres') => `postgresql://${user}@${host}:5432/${base}`,
    async ask<T extends pg.QueryResultRow>(text: string, values: unknown[] = [], base = 'postgres') {
      const client = new pg.Client({
        connectionString: node.url(base),
        connectionTimeoutMillis: 3_000,
        query_timeout: 5_000,
      })
      client.on('error', () => {})
      try {
        await client.connect()
        return (await client.query<T>(text, values)).rows
      } finally {
        void client.end().catch(() => {}) // the node may have died meanwhile
      }
    },
    async rest(method, path, body) {
      try {
        const reply = await fetch(`http://${host}:${REST_PORT}${path}`, {
          method,
          signal: AbortSignal.timeout(method === 'GET' ? 1_500 : 60_000),
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        return { status: reply.status, body: await reply.text() }
      } catch {
        return { status: 0, body: '' } // down, frozen or cut off
      }
    },
    startEtcd() {
      const peers = all.map(one => `${nameOf(one)}=http://${one.host}:${ETCD_PEER_PORT}`).join(',')
      const [client, peer] = [`http://${host}:${ETCD_PORT}`, `http://${host}:${ETCD_PEER_PORT}`]
      const urls = ['--listen-client-urls', client, '--advertise-client-urls', client]
      const peerUrls = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', peers]
      // Patroni 3.0.2 may overwrite a leader's lock over the v3 interface of etcd; over v2 it does not.
      const more = ['--enable-v2', '--heartbeat-interval', '100', '--election-timeout', '500', '--logger', 'zap']
      etcd = launch('etcd', ['--name', name, '--data-dir', join(place, 'etcd'), ...urls, ...peerUrls, ...more], false)
    },
    startPatroni() {
      patroni = launch('patroni', [config], true)
    },
    async kill() {
      for (const pid of stopAll(pids)) signal(pid, 'SIGKILL')
      for (let tries = 0; tries < 500 && (isAlive(patroni) || isAlive(etcd) || database().length > 0); tries++)
        await sleep(10)
    },
    freeze({ etcd: withEtcd } = { etcd: true }) {
      frozen = stopAll(() => [...ofChild(patroni), ...database(), ...(withEtcd ? ofChild(etcd) : [])])
    },
    thaw() {
      for (const pid of frozen.splice(0)) signal(pid, 'SIGCONT')
    },
    receiver: () => database().find(pid => commandOf(pid).includes('walreceiver')) ?? 0,
    pids,
    log: () =>
      ['patroni', 'etcd']
        .map(program => join(place, `${program}.log`))
        .flatMap(file => (existsSync(file) ? [readFileSync(file, 'utf8').slice(-4_000)] : []))
        .join('\n'),
  }
  // PostgreSQL is a child of Patroni's, not ours.
  process.on('exit', () => {
    for (const pid of pids()) signal(pid, 'SIGKILL')
  })
  return node
}

const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups']
const nameOf = ({ host }: Machine) => `node${host.split('.').at(-1)}`

function settings(of: { name: string; host: string; place: string; data: string; all: readonly Machine[] }) {
  const { name, host, place, data, all } = of
  return {
    scope: 'herald',
    name,
    restapi: { listen: `${host}:${REST_PORT}`, connect_address: `${host}:${REST_PORT}` },
    etcd: { hosts: all.map(one => `${one.host}:${ETCD_PORT}`) },
    log: { level: 'INFO' },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 1,
        retry_timeout: 3,
        maximum_lag_on_failover: 1_073_741_824,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          use_slots: false, // Patroni makes a slot a loop after the promotion: commits would wait for it
          pg_hba: ['local all all trust', 'host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust'],
          parameters: {
            max_connections: 200,
            fsync: 'on',
            full_page_writes: 'on',
            synchronous_commit: 'on',
            wal_sender_timeout: '4s',
            wal_receiver_timeout: '4s',
            wal_retrieve_retry_interval: '100ms',
            wal_keep_size: '512MB',
            tcp_keepalives_idle: 5,
            tcp_keepalives_interval: 2,
            tcp_keepalives_count: 3,
            dynamic_shared_memory_type: 'mmap', // a killed server leaves nothing outside its folder
            timezone: 'UTC',
          },
        },
      },
      initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { 'auth-host': 'trust' }],
    },
    postgresql: {
      listen: `${host}:5432`,
      connect_address: `${host}:5432`,
      data_dir: data,
      bin_dir: BIN,
      pgpass: join(place, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: 'postgres' },
        replication: { username: 'replicator', password: 'replicator' },
        rewind: { username: 'postgres', password: 'postgres' },
      },
      basebackup: [{ checkpoint: 'fast' }],
      parameters: { unix_socket_directories: place },
    },
    watchdog: { mode: 'off' },
  }
}

export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return pid > 0 && process.kill(pid, name)
  } catch {
    return false // it has already ended
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // it has ended
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) === parent
      } catch {
        return false // it has ended meanwhile
      }
    })
}
