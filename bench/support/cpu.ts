// Processor time of processes (Linux): rates drift with what else the machine does, this hardly.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS = 100

/** Seconds used so far by a process; with `family`, by its children too (a database server and its sessions). */
export function cpuSeconds(pid: number, { family = false } = {}): number {
  const pids = family ? readdirSync('/proc').map(Number).filter(Boolean) : [pid]
  return pids.reduce((sum, one) => {
    const stat = statOf(one)
    return sum + (stat && (one === pid || stat.parent === pid) ? stat.seconds : 0)
  }, 0)
}

function statOf(pid: number): { parent: number; seconds: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / TICKS }
  } catch {
    return null // ended meanwhile
  }
}
