// At the limit of open files libuv accepts a connection and closes it at once, and Node emits neither `error` nor `drop` (tried
// with Node 20). So fewer connections are allowed than there are file descriptors, and descriptors stay free for the database, the
// providers and files.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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

const BUSY_BODY = '{"errors":[{"error":"Exception","message":"Internal server error"}],"status_code":503}'
const BUSY = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: ${BUSY_BODY.length}\r\nConnection: close\r\n\r\n${BUSY_BODY}`

/**
 * Closes a connection for each one beyond `most`, of all servers of this process together, counts them, and logs it immediately and
 * then at most every ten seconds. When all are in use, the new one is answered with 503 first. `server.maxConnections` would always refuse the newest: callers that connect and stay silent would
 * keep all others out.
 */
export function boundConnections(
  servers: readonly Server[],
  { metrics, log }: { metrics: Metrics; log: Log },
  most = mostConnections(descriptorLimit()),
): void {
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
  const { add, takeSpare } = watchRequests(servers)
  let open = 0
  const admit = (socket: Socket) => {
    open++
    socket.once('close', () => open--)
    const leaving = open > most ? (takeSpare() ?? socket) : null
    if (leaving !== socket) add(socket)
    if (!leaving) return
    // All others are in use. Nothing of the request was read, so nothing happened; the answer leaves in this same call.
    if (leaving === socket) leaving.write(BUSY)
    leaving.destroy()
    metrics.refusedConnections.inc()
    refused++
    if (!isQuiet) tell()
  }
  for (const server of servers) server.on('connection', admit)
}

/**
 * `takeSpare` returns the connection that is missed least: the oldest that has not sent the head of a request yet, or else the one that
 * has been idle between two requests for the longest; null while all are in use. HERALD_HEADER_SECONDS and HERALD_KEEP_ALIVE_SECONDS
 * bound both.
 */
function watchRequests(servers: readonly Server[]): { add(socket: Socket): void; takeSpare(): Socket | null } {
  const silent = new Set<Socket>()
  const idle = new Set<Socket>()
  // Requests may be pipelined.
  const running = new WeakMap<Socket, number>()
  const watch = ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket)
    idle.delete(socket)
    running.set(socket, (running.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (running.get(socket) ?? 1) - 1
      running.set(socket, left)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    })
  }
  for (const server of servers) server.on('request', watch)
  const taken = (sockets: Set<Socket>) => {
    const [oldest] = sockets
    if (oldest) sockets.delete(oldest)
    return oldest
  }
  return {
    add(socket) {
      silent.add(socket)
      socket.once('close', () => {
        silent.delete(socket)
        idle.delete(socket)
      })
    },
    takeSpare: () => taken(silent) ?? taken(idle) ?? null,
  }
}
