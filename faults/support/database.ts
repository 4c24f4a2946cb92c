// PostgreSQL as a direct child of the test run, with production settings: killed, frozen and restarted on demand.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { binaries, childEnv, makeCluster, ownerOf } from '../../src/db/embedded-place.ts'
import { endsWithUs } from './children.ts'

export type Server = {
  url: string
  /** Its socket, for a relay. */
  socket: string
  start(): Promise<void>
  /** kill -9 of the postmaster; resolves when it has been reaped. */
  kill(): Promise<void>
  /** An immediate shutdown (SIGQUIT): its sessions are aborted, nothing is finished or written back. */
  abort(): Promise<void>
  /** Freezes every process of the server (SIGSTOP), as a hanging disk would. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

/** `more`: further settings of PostgreSQL, by name. */
export async function createServer(folder: string, more: Record<string, string> = {}): Promise<Server> {
  const place = join(folder, 'postgres')
  mkdirSync(place, { recursive: true, mode: 0o711 })
  const owner = ownerOf(place)
  const { bin } = await binaries(place, owner)
  const data = join(place, 'data')
  if (!existsSync(data)) await makeCluster(bin, data, owner)
  const sockets = join(folder, 's')
  mkdirSync(sockets)
  chmodSync(sockets, 0o777)
  if (owner) chownSync(sockets, owner.uid, owner.gid)
  const url = `postgresql://herald@/postgres?host=${encodeURIComponent(sockets)}`
  let child: ChildProcess | null = null
  let gone: Promise<void> = Promise.resolve()

  async function start() {
    // After kill -9 the backends need a moment to notice; until then a new server refuses to start.
    for (const until = performance.now() + 30_000; ; await sleep(100)) {
      launch()
      if (await answers()) return
      if (performance.now() > until) throw new Error(`PostgreSQL does not start; see ${place}/log`)
    }
  }

  function launch() {
    if (child && child.exitCode === null && child.signalCode === null) return
    const output = openSync(join(place, 'log'), 'a', 0o600)
    if (owner) fchownSync(output, owner.uid, owner.gid)
    const settings = { listen_addresses: '', unix_socket_directories: sockets, max_connections: '100', timezone: 'UTC' }
    const args = Object.entries({ ...settings, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const started = endsWithUs(
      spawn(bin('postgres'), ['-D', data, ...args], {
        ...owner,
        cwd: '/',
        stdio: ['ignore', output, output],
        env: childEnv,
      }),
    )
    closeSync(output)
    child = started
    gone = new Promise(resolve => started.once('exit', () => resolve()))
  }

  async function answers(): Promise<boolean> {
    for (let tries = 0; tries < 100; tries++) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return false
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.end()
        return true
      } catch {
        await sleep(50) // not ready yet: keep polling
      }
    }
    return false
  }

  async function end(signal: NodeJS.Signals) {
    child?.kill(signal)
    await gone
    child = null
  }

  // Backends are sessions of their own, so each gets the signal; the postmaster first and last, so that no backend is started
  // meanwhile.
  const frozen = new Set<number>()
  function freeze() {
    const pid = child?.pid
    if (pid === undefined) return
    for (const one of [pid, ...childrenOf(pid)]) if (signal(one, 'SIGSTOP')) frozen.add(one)
  }
  function thaw() {
    for (const one of [...frozen].reverse()) signal(one, 'SIGCONT')
    frozen.clear()
  }
  process.on('exit', thaw) // a stopped backend would outlive its server

  await start()
  return {
    url,
    socket: join(sockets, '.s.PGSQL.5432'),
    start,
    kill: () => end('SIGKILL'),
    abort: () => end('SIGQUIT'),
    freeze,
    thaw,
    stop: () => end('SIGINT'),
  }
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false // it has already ended
  }
}

function childrenOf(pid: number): number[] {
  const parentOf = (one: string) => {
    try {
      return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1])
    } catch {
      return 0 // it has ended meanwhile
    }
  }
  if (existsSync('/proc/self/status'))
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name) && parentOf(name) === pid)
      .map(Number)
  const list = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return list.split('\n').flatMap(line => {
    const [one, parent] = line.trim().split(/\s+/).map(Number)
    return parent === pid && one !== undefined ? [one] : []
  })
}
