// PostgreSQL 15 of Debian: one server, or a primary with a synchronous standby, on Unix sockets, with the settings of the embedded one.
// The npm package of PostgreSQL cannot replicate: it has no pg_basebackup.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Environment } from './environment.ts'
import { until } from './wait.ts'

const BIN = '/usr/lib/postgresql/15/bin'
export const hasPair = () => existsSync(join(BIN, 'pg_basebackup'))

type Server = Environment['database']
export type Pair = {
  /** Without a standby. */
  alone: Server
  /** With one, which has every commit on disk before it is answered. */
  primary: Server
  standby: Pick<Server, 'pid'>
  stop(): Promise<void>
}

const SETTINGS = { listen_addresses: '', max_connections: '200', shared_buffers: '128MB', max_wal_size: '2GB' }

export async function startPair(): Promise<Pair> {
  const home = mkdtempSync(join(tmpdir(), 'herald-pair-'))
  const user = owner()
  if (user) chownSync(home, user.uid, user.gid)
  const started: { child: ChildProcess; gone: Promise<void> }[] = []

  function tool(name: string, ...args: string[]) {
    execFileSync(join(BIN, name), args, { ...user, cwd: '/', env: ENV, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  function make(name: string): string {
    const data = join(home, name)
    tool(
      'initdb',
      '-D',
      data,
      '-U',
      'herald',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--data-checksums',
    )
    return data
  }
  async function launch(name: string): Promise<Server> {
    const host = join(home, `${name}.sockets`)
    mkdirSync(host)
    if (user) chownSync(host, user.uid, user.gid)
    const settings = Object.entries({ ...SETTINGS, unix_socket_directories: host })
    const args = ['-D', join(home, name), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    const child = spawn(join(BIN, 'postgres'), args, { ...user, cwd: '/', env: ENV, stdio: 'ignore' })
    const end = () => child.kill('SIGINT')
    process.once('exit', end)
    const gone = new Promise<void>(resolve => {
      child.once('exit', () => {
        process.off('exit', end)
        resolve()
      })
    })
    started.push({ child, gone })
    const server = { host, user: 'herald', database: 'postgres', pid: child.pid ?? 0 }
    await until(`PostgreSQL in ${home}`, () =>
      ask(server, 'select 1').then(
        () => true,
        () => false,
      ),
    )
    return server
  }

  async function stop() {
    // The standby first: a primary that stops waits for it.
    for (const { child, gone } of started.toReversed()) {
      child.kill('SIGINT')
      await gone
    }
    rmSync(home, { recursive: true, force: true })
  }

  try {
    make('alone')
    make('primary')
    const alone = await launch('alone')
    const primary = await launch('primary')
    tool('pg_basebackup', '-D', join(home, 'standby'), '-R', '-X', 'stream', '-h', primary.host, '-U', 'herald')
    const standby = await launch('standby')
    await ask(primary, `alter system set synchronous_standby_names = '*'`)
    await ask(primary, 'select pg_reload_conf()')
    const state = `select 1 from pg_stat_replication where sync_state = 'sync'`
    await until('the synchronous standby', async () => (await ask(primary, state)) > 0)
    return { alone, primary, standby, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** PostgreSQL refuses root. */
function owner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return { uid: Number(entry?.[1]), gid: Number(entry?.[2]) }
}

async function ask({ host, user, database }: Server, text: string): Promise<number> {
  const client = new pg.Client({ host, user, database, port: 5432 })
  client.on('error', () => {}) // the statement fails with the same error
  await client.connect()
  try {
    return (await client.query(text)).rowCount ?? 0
  } finally {
    await client.end()
  }
}
