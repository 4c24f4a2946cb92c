// At the limit of open files libuv accepts a connection and closes it at once, and Node tells nobody: neither `error` nor `drop`
// comes (tried with Node 20). So fewer connections are taken than there are descriptors: Node then emits `drop` for each that it
// refuses, and the database, the providers and files keep descriptors of their own.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const LEAST_KEPT = 128
const MOST_KEPT = 1_024
const FEWEST = 16

/** How many callers may be connected; null: as many as come. */
export function mostConnections(limit: number | null): number | null {
  if (limit === null) return null
  return Math.max(FEWEST, limit - Math.max(LEAST_KEPT, Math.min(MOST_KEPT, Math.floor(limit / 4))))
}

/** Open files that this process may have, where the system says so (Linux). Node raises it to the hard limit when it starts. */
function descriptorLimit(): number | null {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined ? null : Number(found)
  } catch {
    return null // another system
  }
}

const LOG_EVERY_MS = 10_000

/** Refuses callers before the descriptors are used up, counts them, and says so at once and then every ten seconds at most. */
export function boundConnections(server: Server, { metrics, log }: { metrics: Metrics; log: Log }): void {
  const most = mostConnections(descriptorLimit())
  if (most === null) return
  server.maxConnections = most
  let refused = 0
  let isQuiet = false
  const tell = () => {
    isQuiet = refused > 0
    if (!isQuiet) return
    log.error({ refused, most }, 'connections were refused: too many are open')
    refused = 0
    setTimeout(tell, LOG_EVERY_MS).unref()
  }
  server.on('drop', () => {
    metrics.refusedConnections.inc()
    refused++
    if (!isQuiet) tell()
  })
}
