// A real PostgreSQL 15 primary with streaming standbys, each on a port of its own at 127.0.0.1. Every standby receives the log through
// a relay, so that its replication can be cut. Everything lies in one temporary folder and ends with `stop`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './port.ts'

const BIN = '/usr/lib/postgresql/15/bin'

/** For `describe.skipIf(missing)`: why these tests cannot run here, or null. */
export const missing = fs.existsSync(join(BIN, 'postgres')) ? null : `PostgreSQL 15 is not installed in ${BIN}`

export type ReplicatedNode = {
  name: string
  port: number
  url: string
  isRunning(): boolean
  isStandby(): Promise<boolean>
  query(text: string): Promise<Record<string, unknown>[]>
  start(): Promise<void>
  /** fast: ends the sessions, sends the rest of the log to the standbys and writes a checkpoint. */
  stop(): Promise<void>
  /** kill -9 of all its processes. */
  kill(): Promise<void>
  /** SIGSTOP of all its processes: it accepts connections (the kernel does) and answers nothing. */
  freeze(): void
  thaw(): void
  promote(): Promise<void>
  /** Makes it a standby of `primary`: a running standby changes its primary, any other node is copied anew and started. */
  follow(primary: ReplicatedNode): Promise<void>
  /** Ends its replication: connections to its primary are reset and refused until `join`. */
  cut(): void
  join(): void
}

export type Replicated = {
  /** The first is the primary at the beginning. */
  nodes: ReplicatedNode[]
  /** The address with all hosts, in the order of `nodes` or of `order`. */
  urls(order?: readonly ReplicatedNode[]): string
  /** With true, a commit on any node waits for one of its standbys; resolves when `primary` has a synchronous standby. */
  synchronous(isOn: boolean, primary?: ReplicatedNode): Promise<void>
  /** Resolves when all standbys of `primary` have replayed its log. */
  caughtUp(primary?: ReplicatedNode): Promise<void>
  /** Planned: stops `from`, promotes `to`, and lets the other running nodes follow it. `from` stays stopped. */
  switchover(from: ReplicatedNode, to: ReplicatedNode): Promise<void>
  stop(): Promise<void>
}

const DATABASE = 'herald'
const USER = 'herald'

export async function createReplicated({ standbys = 1 }: { standbys?: number } = {}): Promise<Replicated> {
  if (missing) throw new Error(missing)
  const home = fs.mkdtempSync(join(room(), 'herald-replicated-'))
  const as = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : null
  if (as) fs.chownSync(home, as.uid, as.gid)
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(BIN, program), args, {
      ...as,
      cwd: '/',
      stdio: 'pipe',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    })

  const names = Array.from({ length: standbys + 1 }, (_, at) => String.fromCharCode('a'.charCodeAt(0) + at))
  const inner = await Promise.all(names.map(name => createNode(name, { home, as, run })))
  const nodes: ReplicatedNode[] = inner
  const [first] = inner
  if (!first) throw new Error('no node')

  async function stop() {
    await Promise.all(inner.map(node => node.end()))
    fs.rmSync(home, { recursive: true, force: true })
  }

  async function caughtUp(primary = nodes[0] as ReplicatedNode) {
    await until(`all standbys of ${primary.name} have caught up`, async () => {
      const [row] = await primary.query(
        'select coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), true) as is_done from pg_stat_replication',
      )
      return row?.is_done === true
    })
  }

  try {
    run('initdb', '-D', first.data, '-U', USER, '--auth=trust', '--no-sync', '--encoding=UTF8', '--wal-segsize=4')
    fs.appendFileSync(join(first.data, 'pg_hba.conf'), `host all,replication ${USER} 127.0.0.1/32 trust\n`)
    await first.start()
    await first.query(`create database ${DATABASE}`)
    for (const node of inner.slice(1)) await node.follow(first)
  } catch (error) {
    await stop()
    throw error
  }

  return {
    nodes,
    urls: (order = nodes) => addressOf(order.map(({ port }) => port)),
    async synchronous(isOn, primary = nodes[0] as ReplicatedNode) {
      const list = isOn ? `ANY 1 (${names.join(',')})` : ''
      for (const node of nodes.filter(one => one.isRunning())) {
        await node.query(`alter system set synchronous_standby_names = '${list}'`)
        await node.query('select pg_reload_conf()')
      }
      await until('synchronous_standby_names has taken effect', async () => {
        const [row] = await primary.query(
          `select current_setting('synchronous_standby_names') as list,
            count(*) filter (where sync_state in ('sync', 'quorum'))::int as standbys from pg_stat_replication`,
        )
        return row?.list === list && (!isOn || Number(row?.standbys) > 0)
      })
    },
    caughtUp,
    async switchover(from, to) {
      await from.stop()
      await to.promote()
      for (const node of nodes) if (node !== to && node.isRunning()) await node.follow(to)
    },
    stop,
  }
}

type Place = {
  home: string
  as: { uid: number; gid: number } | null
  run(program: string, ...args: string[]): Buffer
}

async function createNode(name: string, { home, as, run }: Place) {
  const data = join(home, name)
  const log = join(home, `${name}.log`)
  const port = await freePort()
  const url = addressOf([port])
  const relay = await createReplicationRelay()
  let child: ChildProcess | null = null
  let frozen: number[] = []

  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null
  const query = (text: string) => ask(url, text)
  const answers = () =>
    query('select 1').then(
      () => true,
      () => false,
    )

  async function start() {
    const output = fs.openSync(log, 'a')
    try {
      const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([key, value]) => [
        '-c',
        `${key}=${value}`,
      ])
      const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
      child = spawn(join(BIN, 'postgres'), ['-D', data, ...settings], {
        ...as,
        cwd: '/',
        env,
        stdio: ['ignore', output, output],
      })
    } finally {
      fs.closeSync(output)
    }
    await until(`node ${name} answers`, async () => {
      if (!isRunning()) throw new Error(`node ${name} ended:\n${fs.readFileSync(log, 'utf8').slice(-2_000)}`)
      return answers()
    })
  }

  async function end(signal: NodeJS.Signals) {
    if (!child) return
    const ended = child
    const all = processesOf(ended.pid ?? 0)
    if (signal === 'SIGKILL') for (const pid of all) send(pid, signal)
    else ended.kill(signal)
    frozen = []
    await until(`node ${name} has ended`, async () => all.every(pid => !isAlive(pid)))
    child = null
  }

  const isStandby = async () => (await query('select pg_is_in_recovery() as is_standby'))[0]?.is_standby === true

  return {
    name,
    port,
    url,
    data,
    isRunning,
    isStandby,
    query,
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    freeze() {
      // The postmaster first: it must not start another process.
      frozen = processesOf(child?.pid ?? 0)
      for (const pid of frozen) send(pid, 'SIGSTOP')
    },
    thaw() {
      for (const pid of frozen.splice(0).reverse()) send(pid, 'SIGCONT')
    },
    async promote() {
      const [row] = await query('select pg_promote(true, 30) as is_promoted')
      if (row?.is_promoted !== true) throw new Error(`node ${name} was not promoted`)
    },
    async follow(primary: ReplicatedNode) {
      relay.to(primary.port)
      if (!isRunning() || !(await isStandby())) {
        if (isRunning()) await end('SIGINT')
        fs.rmSync(data, { recursive: true, force: true })
        run('pg_basebackup', '-D', data, '-d', primary.url, '--checkpoint=fast', '--wal-method=stream', '--no-sync')
        const conninfo = `host=127.0.0.1 port=${relay.port} user=${USER} application_name=${name}`
        fs.appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
        fs.writeFileSync(join(data, 'standby.signal'), '')
        if (as) fs.chownSync(join(data, 'standby.signal'), as.uid, as.gid)
        await start()
      }
      await until(`node ${name} receives from ${primary.name}`, async () => {
        const rows = await primary.query(
          `select from pg_stat_replication where application_name = '${name}' and state = 'streaming'`,
        )
        return rows.length > 0
      })
    },
    cut: relay.cut,
    join: relay.join,
    async end() {
      await end('SIGKILL')
      await relay.stop()
    },
  }
}

/** What is given here cannot be changed by ALTER SYSTEM. The server's guarantees (fsync and the others) stay as they are. */
const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '32MB',
  wal_level: 'replica',
  wal_keep_size: '256MB',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '200ms',
  timezone: 'UTC',
}

const addressOf = (ports: readonly number[]) =>
  `postgresql://${USER}@${ports.map(port => `127.0.0.1:${port}`).join(',')}/${DATABASE}`

/** On a connection of its own; a server without the database (before it is created) is asked in `postgres`. */
async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const run = async (connectionString: string) => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 60_000 })
    client.on('error', () => {}) // the statement fails with it
    try {
      await client.connect()
      return (await client.query(text)).rows as Record<string, unknown>[]
    } finally {
      void client.end().catch(() => {})
    }
  }
  return run(url).catch(error => {
    const isMissing = error instanceof pg.DatabaseError && error.code === '3D000'
    return isMissing ? run(url.replace(/[^/]*$/, 'postgres')) : Promise.reject(error)
  })
}

type ReplicationRelay = { port: number; to(port: number): void; cut(): void; join(): void; stop(): Promise<void> }

async function createReplicationRelay(): Promise<ReplicationRelay> {
  const open = new Set<net.Socket>()
  let target = 0
  let isCut = false
  const reset = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  const server = net.createServer(near => {
    if (isCut || target === 0) return void near.destroy()
    const far = net.connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // told by its close
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as net.AddressInfo).port,
    to(port) {
      if (port === target) return
      target = port
      reset()
    },
    cut() {
      isCut = true
      reset()
    },
    join() {
      isCut = false
    },
    async stop() {
      isCut = true
      reset()
      await new Promise(done => server.close(done))
    },
  }
}

/** The postmaster and the processes it has started. */
function processesOf(postmaster: number): number[] {
  const children = fs
    .readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(Number(name)) === postmaster)
    .map(Number)
  return [postmaster, ...children]
}

/** State and parent, after the name of the program, which is in brackets. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statOf(pid: number): string[] {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return [] // it has ended
  }
}
const parentOf = (pid: number) => Number(statOf(pid)[1] ?? 0)
const isAlive = (pid: number) => !['Z', 'X', undefined].includes(statOf(pid)[0])

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended already
  }
}

async function until(what: string, isTrue: () => Promise<boolean>, withinMs = 60_000) {
  for (const since = performance.now(); !(await isTrue()); await sleep(50))
    if (performance.now() - since > withinMs) throw new Error(`not in time: ${what}`)
}

const idOf = (option: '-u' | '-g') => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))

/** In memory where there is such a place: a commit then does not wait for a disk. The temporary folder's path is a part of it. */
function room(): string {
  try {
    const { bavail, bsize } = fs.statfsSync('/dev/shm')
    if (bavail * bsize < 2e9) return tmpdir()
    const folder = join('/dev/shm', tmpdir())
    fs.mkdirSync(folder, { recursive: true })
    return folder
  } catch {
    return tmpdir()
  }
}
