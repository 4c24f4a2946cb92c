// Runs the PostgreSQL server of an npm package in the data folder: as root or not, on a Unix socket, shared by all Herald processes
// with the same data folder, and found again after kill -9. The first process starts it, the last one stops it.
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, hasUsers, join, processStartOf, ps, withLock } from './embedded-lock.ts'
import {
  binaries,
  childEnv,
  choosePlace,
  makeCluster,
  type Owner,
  ownerOf,
  preparePlace,
  prepareSocketFolder,
  programsIn,
  refuseDuringUpgrade,
  refuseForeignFolder,
  refuseOtherVersion,
  refuseUnfinished,
  socketFolderOf,
  user,
  writeAccess,
} from './embedded-place.ts'

export type Embedded = {
  /** The folder of the socket, to be given to the driver as its host, with port 5432. */
  host: string
  user: string
  database: string
  /** The folder of the database; not always the one that was requested. */
  home: string
  pid: number
  /** False: it was running already, started by another process. */
  started: boolean
  /** The last process that calls this stops the server. */
  stop(): Promise<void>
}
type Say = (line: string) => void
/** `programs`: a folder with the PostgreSQL to start, instead of the one that this Herald includes. */
type Options = { settings?: Record<string, string>; say?: Say; signal?: AbortSignal; programs?: string }

const socketName = '.s.PGSQL.5432'
const patienceMs = 300_000 // recovery replays up to max_wal_size

export const EMBEDDED_CONNECTIONS = 200

const defaults = {
  listen_addresses: '',
  max_connections: String(EMBEDDED_CONNECTIONS),
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // No personal data in the log: no statements, no parameters, no "Failing row contains …". Sessions are quieter still,
  // see makeCluster.
  log_min_messages: 'warning',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off', // otherwise a line every five minutes
} satisfies Record<string, string>

export async function startEmbedded(home: string, options: Options = {}): Promise<Embedded> {
  const { say = () => {}, signal } = options
  let place = home
  try {
    place = choosePlace(home, say)
    preparePlace(place)
    return await withLock(path.join(place, 'lock'), say, () => enter(place, options, say, signal), signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw explained(place, error)
  }
}

async function enter(place: string, options: Options, say: Say, signal: AbortSignal | undefined): Promise<Embedded> {
  const users = path.join(place, 'users')
  if (!options.programs) refuseDuringUpgrade(place)
  const server = await findOrStart(place, options, say, signal).catch(async error => {
    if (signal?.aborted && !hasUsers(users)) await shutDown(place)
    throw error
  })
  const leave = join(users)
  const stop = async () => {
    leave()
    if (!hasUsers(users)) await shutDown(place)
  }
  let stopped: Promise<void> | undefined
  return {
    ...server,
    user,
    database: 'postgres',
    home: place,
    stop() {
      stopped ??= withLock(path.join(place, 'lock'), say, stop)
      return stopped
    },
  }
}

type Server = { pid: number; host: string; started: boolean }

async function findOrStart(
  place: string,
  options: Options,
  say: Say,
  signal: AbortSignal | undefined,
): Promise<Server> {
  const log = path.join(place, 'postgres.log')
  let child: ChildProcess | undefined
  let logFrom = 0
  let hasSaid = false
  for (const since = performance.now(); ; await sleep(15)) {
    signal?.throwIfAborted()
    const seen = postmaster(place)
    const socket = seen?.isReady ? await knock(seen.host) : 'not yet'
    if (seen && socket === 'open') {
      refuseForeignFolder(seen.host, ownerOf(place))
      return { pid: seen.pid, host: seen.host, started: seen.pid === child?.pid }
    }
    if (seen && socket === 'gone') await stopUnreachable(place)

    const waited = performance.now() - since
    if (waited > patienceMs) throw new Error(`PostgreSQL is still not ready after minutes.\n${tail(log, logFrom)}`)
    if (waited > 5_000 && !hasSaid) say(`PostgreSQL is still starting; after a crash it first replays its log (${log})`)
    hasSaid = waited > 5_000

    if (child ? isRunning(child) : seen?.isAlive) continue
    if (child && !(isHeldBack(tail(log, logFrom)) && waited < 20_000))
      throw new Error(`PostgreSQL ended while starting.\n${tail(log, logFrom)}`)
    if (child) await sleep(200)
    logFrom = turnLog(log)
    child = await launch(place, options, log, seen?.pid)
  }
}

type Postmaster = { pid: number; host: string; isAlive: boolean; isReady: boolean }

// The format of postmaster.pid: src/include/utils/pidfile.h. Line 5 is the folder of the socket, which is not the expected one when the
// server was started with another TMPDIR.
function postmaster(place: string): Postmaster | undefined {
  const data = path.join(place, 'data')
  try {
    const [pid, , , , host = '', , , status] = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
    const isAlive = isPostgres(Number(pid), data)
    return { pid: Number(pid), host, isAlive, isReady: isAlive && status?.trim() === 'ready' }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Ends a server whose data folder was removed or moved away while it ran, and which therefore no postmaster.pid names. It must end
 * before a new cluster is created: it would write its control file into the new one, and remove the new socket when it ends.
 */
async function endOrphan(folder: string, data: string, owner: Owner): Promise<void> {
  if (!fs.existsSync(folder)) return
  refuseForeignFolder(folder, owner)
  const pid = socketOwner(folder)
  if (!pid || commandOf(pid)?.includes(`postgres -D ${data} `) !== true) return
  const now = folderOf(pid)
  const users = now && path.join(path.dirname(now), 'users')
  if (users && fs.existsSync(users) && hasUsers(users))
    throw new Error(
      `The database was moved from ${data} to ${now} while Herald was running, and still runs there (process ${pid}). Stop that` +
        ' Herald first.',
    )
  // Not "fast": its last checkpoint would go to the old path. A moved folder is recovered from its log when it is used.
  await end(pid, 'SIGQUIT')
}

/** The process that the lock file of the socket names (CreateLockFile in miscinit.c). */
function socketOwner(folder: string): number | undefined {
  try {
    return Number(fs.readFileSync(path.join(folder, `${socketName}.lock`), 'utf8').split('\n')[0]) || undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function commandOf(pid: number): string | undefined {
  if (!processStartOf(pid)) return undefined
  if (process.platform !== 'linux') return ps('command', pid)
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return undefined // it has just ended
  }
}

/** The data folder of a running server, which is its working folder, with " (deleted)" if it is. Undefined: unknown, as without /proc. */
function folderOf(pid: number): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

// After a reboot or in a new container the process id in postmaster.pid may belong to any process.
function isPostgres(pid: number, data: string): boolean {
  if (!pid || !processStartOf(pid)) return false
  if (process.platform !== 'linux') return ps('command', pid)?.includes(`postgres -D ${data}`) ?? false
  try {
    const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? ''
    if (path.basename(command) !== 'postgres') return false
    return fs.statSync(`/proc/${pid}/cwd`).ino === fs.statSync(data).ino // the postmaster stays in its data folder
  } catch (error) {
    return codeOf(error) === 'EACCES' // a postgres that we may not inspect: assume it is ours rather than start a second one
  }
}

function knock(host: string): Promise<'open' | 'gone' | 'not yet'> {
  return new Promise(answer => {
    const socket = net.connect(path.join(host, socketName))
    socket.on('connect', () => {
      socket.destroy()
      answer('open')
    })
    socket.on('error', error => answer(codeOf(error) === 'ENOENT' ? 'gone' : 'not yet'))
  })
}

// The temporary folder was emptied: the server cannot create its socket again and must be restarted.
async function stopUnreachable(place: string): Promise<void> {
  if (hasUsers(path.join(place, 'users')))
    throw new Error(
      'PostgreSQL runs, but its socket cannot be seen from here: it was removed, or lies in the private /tmp of a' +
        ' systemd service (PrivateTmp). Stop all Herald processes and start them again.',
    )
  await shutDown(place)
}

async function launch(
  place: string,
  { settings = {}, programs }: Options,
  log: string,
  stalePid = 0,
): Promise<ChildProcess> {
  const owner = ownerOf(place)
  const data = path.join(place, 'data')
  await endOrphan(socketFolderOf(place, owner), data, owner)
  const { bin, major } = programs ? await programsIn(programs, owner) : await binaries(place, owner)
  refuseUnfinished(place)
  if (!fs.existsSync(data)) await makeCluster(bin, data, owner)
  refuseOtherVersion(place, major)
  const socket = { unix_socket_directories: prepareSocketFolder(place, owner) }
  const all = { ...socket, ...(await writeAccess(place)), ...defaults, ...settings }
  const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = fs.constants
  const output = fs.openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600) // a pipe would break when we end
  try {
    const { uid, gid } = fs.statSync(place)
    if (owner) fs.fchownSync(output, uid, gid)
    const child = spawn(bin('postgres'), args, {
      ...owner,
      cwd: '/',
      detached: true, // Ctrl-C must not reach the server: we drain first and stop it last
      stdio: ['ignore', output, output],
      // As pg_ctl does: names a running process in a stale postmaster.pid that is not a server (CreateLockFile in miscinit.c). The
      // check of the shared memory, which finds old backends, is still made.
      env: { ...childEnv, PG_GRANDPARENT_PID: String(stalePid) },
    })
    child.unref()
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    return child
  } finally {
    fs.closeSync(output)
  }
}

async function shutDown(place: string): Promise<void> {
  const server = postmaster(place)
  if (!server?.isAlive) return
  await end(server.pid, 'SIGINT')
  if (!path.basename(server.host).startsWith('herald-')) return
  try {
    fs.rmdirSync(server.host)
  } catch {
    // Not empty or missing: the next start rejects or reuses it.
  }
}

/** SIGINT, "fast", ends the sessions and writes a checkpoint; SIGQUIT, "immediate", is as a crash. */
async function end(pid: number, by: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  const startedAt = processStartOf(pid)
  signal(pid, by)
  let hasInsisted = false
  // Waits for the end of the process, which removes postmaster.pid a moment earlier.
  for (const since = performance.now(); processStartOf(pid) === startedAt; await sleep(10)) {
    const waited = performance.now() - since
    if (waited > 60_000) throw new Error(`PostgreSQL (process ${pid}) does not stop.`)
    if (waited > 30_000 && !hasInsisted) signal(pid, 'SIGQUIT') // nothing acknowledged is lost
    hasInsisted = waited > 30_000
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error // already ended, as intended
  }
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null

// After kill -9 of the postmaster its backends end a moment later; until then a new server does not start.
const isHeldBack = (output: string) => /pre-existing shared memory block|lock file .* already exists/.test(output)

/** Returns where the next lines of the log begin. A log over 8 MB is rotated; one old log is kept. */
function turnLog(log: string): number {
  const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size < 8_000_000) return size
  fs.renameSync(log, `${log}.old`)
  return 0
}

function tail(log: string, from: number): string {
  if (!fs.existsSync(log)) return ''
  return fs.readFileSync(log).subarray(from).toString().trim().split('\n').slice(-12).join('\n')
}

export class DiskFull extends Error {}

const FULL = /ENOSPC|No space left|Check free disk space|EDQUOT|Disk quota exceeded/

const remedies: [RegExp, string][] = [
  [/look up effective user ID/, 'This user id has no entry in /etc/passwd, which initdb needs: add one.'],
  [
    /wrong ownership|invalid permissions/,
    'The folder data must be that of the user who runs PostgreSQL (for root: nobody), mode 0700.',
  ],
  [
    /EACCES|EPERM|EROFS|Permission denied|Read-only/i,
    'The folder cannot be used by this user: change its owner or choose another with HERALD_DATA.',
  ],
  [/shared memory|semaphores|Cannot allocate/i, 'The machine gives too little (shared) memory: raise its limits.'],
]

/** Adds to an error what to do about it. */
function explained(place: string, error: unknown): Error {
  const problem = error instanceof Error ? error.message : String(error)
  if (problem.includes('DATABASE_URL')) return error instanceof Error ? error : new Error(problem)
  // /dev/shm can be full, too.
  if (FULL.test(problem) && !problem.includes('shared memory segment'))
    return new DiskFull(fullDisk(place), { cause: error })
  const remedy = remedies.find(([sign]) => sign.test(problem))?.[1]
  const log = path.join(place, 'postgres.log')
  const wayOut = `${fs.existsSync(log) ? `See ${log}, or set` : 'Set'} DATABASE_URL to a PostgreSQL server of your own.`
  const lines = [`The database in ${place} could not be started.`, remedy, wayOut, problem]
  return new Error(lines.filter(Boolean).join('\n'), { cause: error })
}

/** One sentence: initdb says the same in forty lines. */
function fullDisk(place: string): string {
  const space = fs.existsSync(path.join(place, 'data')) ? 'some space' : 'at least 100 MB'
  return `The disk of ${place} is full: free ${space} and start again, or choose another folder with HERALD_DATA.`
}
