// Which processes use the embedded database, and which one may start or stop it. Names of files contain a process id and its start
// time, so that stale files are recognised after kill -9, a reboot or a reused process id. Works within one machine: processes in two
// containers cannot see each other, and must not share a data folder.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 300_000

/** Runs `work` under an exclusive lock between processes, and between calls in this one. The signal ends the wait for it. */
export async function withLock<T>(
  file: string,
  say: (line: string) => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const own = ownName()
  let hasSaid = false
  for (const since = performance.now(); !take(file, own); await sleep(20)) {
    signal?.throwIfAborted()
    const waited = performance.now() - since
    const other = holderOf(file)?.split('.')[0] ?? 'unknown'
    if (waited > patienceMs)
      throw new Error(
        `Process ${other} has been starting or stopping the database for minutes (${file}): end it first.`,
      )
    if (waited > 5_000 && !hasSaid) say(`waiting for process ${other}, which starts or stops the database`)
    hasSaid = waited > 5_000
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

// A symbolic link is created atomically with its content; a file would exist for a moment without its owner. A stale lock is removed
// under a second lock: otherwise two processes that both found it stale might remove the new lock of a third.
function take(file: string, own: string): boolean {
  try {
    symlinkSync(own, file)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const other = holderOf(file)
  if (other === undefined || isLive(other)) return false
  const breaking = `${file}.break`
  if (!take(breaking, own)) return false
  try {
    if (holderOf(file) === other) rmSync(file)
  } finally {
    rmSync(breaking)
  }
  return false
}

function holderOf(file: string): string | undefined {
  try {
    return readlinkSync(file)
  } catch {
    return undefined // released meanwhile
  }
}

/** Registers this process as a user of the database until the returned function is called. Call both under the lock. */
export function join(folder: string): () => void {
  const entry = path.join(folder, ownName())
  writeFileSync(entry, '', { mode: 0o600 })
  return () => rmSync(entry, { force: true })
}

/** Whether a running process is registered; removes stale entries. Call under the lock. */
export function hasUsers(folder: string): boolean {
  const entries = readdirSync(folder)
  for (const entry of entries.filter(entry => !isLive(entry))) rmSync(path.join(folder, entry), { force: true })
  return entries.some(isLive)
}

const ownName = () => `${process.pid}.${processStartOf(process.pid)}.${randomBytes(6).toString('hex')}`

function isLive(name: string): boolean {
  const [pid, startedAt] = name.split('.')
  return startedAt !== undefined && processStartOf(Number(pid)) === startedAt
}

/** Identifies a process even if its id is reused. Undefined: it has ended, or is a zombie, which kill(pid, 0) would find. */
export function processStartOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps('lstart', pid)?.replace(/\W+/g, '_')
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // proc(5): the name before it may contain any character
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${fields[19]}_${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}`
  } catch {
    return undefined // no such process
  }
}

/** One column of ps(1), for systems without /proc. */
export function ps(column: string, pid: number): string | undefined {
  try {
    const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }
    const args = ['-o', `${column}=`, '-p', String(pid)]
    return execFileSync('ps', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || undefined
  } catch {
    return undefined // ps ends with 1 when there is no such process
  }
}

export const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)
