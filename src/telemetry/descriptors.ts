// At the limit of open files libuv accepts a connection and closes it at once, and Node emits neither `error` nor `drop` (tried
// with Node 20). So fewer connections are allowed than there are file descriptors: Node then emits `drop` for each refused one,
// and descriptors stay free for the database, the providers and files.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const LEAST_KEPT = 128
const MOST_KEPT = 1_024
const FEWEST = 16

/** The most connections of callers; null: no limit. */
export function mostConnections(limit: number | null): number | null {
  if (limit === null) return null
  return Math.max(FEWEST, limit - Math.max(LEAST_KEPT, Math.min(MOST_KEPT, Math.floor(limit / 4))))
}

/** The limit of open files, where the system reports it (Linux). Node raises it to the hard limit at its start. */
function descriptorLimit(): number | null {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined ? null : Number(found)
  } catch {
    return null // another system
  }
}

const MOST_WAITING = 1_000

/** How many requests may wait for long: at most half of the connections. */
export const mostWaiting = (): number =>
  Math.min(MOST_WAITING, Math.floor((mostConnections(descriptorLimit()) ?? Number.POSITIVE_INFINITY) / 2))

const LOG_EVERY_MS = 10_000

/**
 * Refuses callers before the file descriptors are used up, counts them, and logs it at once and then at most every ten seconds.
 * `supervised`: connections are given to this process by its supervisor.
 */
export function boundConnections(
  server: Server,
  { metrics, log }: { metrics: Metrics; log: Log },
  supervised: boolean,
): void {
  const most = mostConnections(descriptorLimit())
  if (most === null) return
  let refused = 0
  let isQuiet = false
  const tell = () => {
    isQuiet = refused > 0
    if (!isQuiet) return
    log.error({ refused, most }, 'connections were refused: too many are open')
    refused = 0
    setTimeout(tell, LOG_EVERY_MS).unref()
  }
  const onRefused = () => {
    metrics.refusedConnections.inc()
    refused++
    if (!isQuiet) tell()
  }
  if (supervised) refuseOurselves(server, most, onRefused)
  else {
    server.maxConnections = most
    server.on('drop', onRefused)
  }
}

// A worker of node:cluster whose server has `maxConnections` gives the connection back, the supervisor gives it to the next worker,
// and so on without end while all are full (Node 20).
function refuseOurselves(server: Server, most: number, onRefused: () => void) {
  let open = 0
  server.on('connection', socket => {
    open++
    socket.once('close', () => open--)
    if (open <= most) return
    socket.destroy()
    onRefused()
  })
}
