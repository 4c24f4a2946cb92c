// How many processes a start runs.
import { availableParallelism, totalmem } from 'node:os'

export const MOST_PROCESSES = 64

/** A process that runs alone, and leaves the second core to PostgreSQL. */
const FEW_CORES = 2
/** PostgreSQL uses 0.4 cores while Herald uses one (docs/performance.md): of ten cores seven are Herald's. */
const SHARE_OF_CORES = 0.7
const MEMORY_OF_EACH = 512 * 1024 * 1024

export type Machine = { cores: number; bytes: number }

/** `auto` by the machine, before the database is known. */
export function countOf(wanted: number | 'auto', { cores, bytes } = thisMachine()): number {
  if (wanted !== 'auto') return wanted
  const byCores = cores <= FEW_CORES ? 1 : Math.round(cores * SHARE_OF_CORES)
  return Math.max(1, Math.min(byCores, Math.floor(bytes / MEMORY_OF_EACH), MOST_PROCESSES))
}

/** Of a container, its limit. */
function thisMachine(): Machine {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return { cores: availableParallelism(), bytes: Math.min(totalmem(), limit) }
}

/** Beside those of the pool: for notifications and for the election of the leader. */
const CONNECTIONS_BESIDE = 2
/** For the supervisor, maintenance, commands and backups. */
const CONNECTIONS_OF_OTHERS = 20

const connectionsOf = (count: number, ofPool: number) => count * (ofPool + CONNECTIONS_BESIDE)

/** `max_connections` for an embedded database: half of them for others, as `auto` expects it. */
export const connectionsNeeded = (count: number, ofPool: number) => 2 * connectionsOf(count, ofPool)

/**
 * `most`: max_connections of the database. `auto` uses at most half of it, so that a second machine, or the next version during a
 * rolling upgrade, has room as well. A number that does not fit throws.
 */
export function fitting(wanted: number | 'auto', ofPool: number, most: number): number {
  const count = countOf(wanted)
  if (wanted === 'auto') return Math.max(1, Math.min(count, Math.floor(most / 2 / (ofPool + CONNECTIONS_BESIDE))))
  const needed = connectionsOf(count, ofPool) + CONNECTIONS_OF_OTHERS
  if (needed > most)
    throw new Error(
      `HERALD_PROCESSES is ${count}. With ${ofPool + CONNECTIONS_BESIDE} connections for each and ${CONNECTIONS_OF_OTHERS} for others they need ${needed}, but the database allows ${most}: lower HERALD_PROCESSES or HERALD_DATABASE_CONNECTIONS, or raise max_connections.`,
    )
  return count
}
