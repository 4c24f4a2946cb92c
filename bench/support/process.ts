// CPU time and memory of processes (Linux): rates vary with other work on the machine, these hardly.
import { readdirSync, readFileSync } from 'node:fs'
import type { Environment } from './environment.ts'

const TICKS = 100

/** CPU seconds used so far by a process; with `family`, also by its children (a database server and its sessions). */
export function cpuSeconds(pid: number, { family = false } = {}): number {
  const pids = family ? readdirSync('/proc').map(Number).filter(Boolean) : [pid]
  return pids.reduce((sum, one) => {
    const stat = statOf(one)
    if (!stat) return sum
    // The CPU time of ended children is added to their parent's.
    if (one === pid) return sum + stat.seconds + (family ? stat.ended : 0)
    return sum + (stat.parent === pid ? stat.seconds : 0)
  }, 0)
}

/**
 * The same to the nanosecond, for many processes that each use little: with ticks of 10 ms their rounding would add up. Processes and
 * threads that end meanwhile count with a tick's precision, or not at all if they are threads.
 */
export function exactCpuSeconds(pids: readonly number[], { family = false } = {}): number {
  return pids.reduce((sum, pid) => {
    const others = family
      ? readdirSync('/proc')
          .map(Number)
          .filter(one => one && statOf(one)?.parent === pid)
      : []
    const ended = family ? (statOf(pid)?.ended ?? 0) : 0
    return sum + ended + [pid, ...others].reduce((all, one) => all + scheduledSeconds(one), 0)
  }, 0)
}

/** The time that all threads of a process have run. */
function scheduledSeconds(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      const [nanos] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      return sum + Number(nanos) / 1e9
    }, 0)
  } catch {
    return 0 // ended meanwhile
  }
}

/** Starts to measure; the returned function gives what the service and its database have used since. */
export function watchCpu(environment: Environment, pids: readonly number[]): () => { node: number; database: number } {
  const read = () => ({
    // With the processes of a supervisor.
    node: pids.reduce((sum, pid) => sum + cpuSeconds(pid, { family: true }), 0),
    database: cpuSeconds(environment.database.pid, { family: true }),
  })
  const before = read()
  return () => {
    const after = read()
    return { node: after.node - before.node, database: after.database - before.database }
  }
}

/** Megabytes in memory: now and at the peak. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

function statOf(pid: number): { parent: number; seconds: number; ended: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const seconds = (at: number) => (Number(fields[at]) + Number(fields[at + 1])) / TICKS
    return { parent: Number(fields[1]), seconds: seconds(11), ended: seconds(13) }
  } catch {
    return null // ended meanwhile
  }
}
