// An SMTP server (RFC 5321) for bounces only. It accepts mail for our own signed return paths, reads it, stores the receipt and
// then answers 250. It relays nothing and keeps no mail.
import { createServer, type Server, type Socket } from 'node:net'
import type { ProviderWorld, Receipt } from '../../port.ts'
import type { ReturnPaths } from '../verp.ts'
import { serve } from './session.ts'

export type BounceSettings = {
  host: string
  port: number
  /** The domain of the return paths; its MX must lead here. */
  domain: string
  /** Keys that sign the return paths: the current one first, then earlier ones. */
  secrets: readonly string[]
}

export type BounceReceiver = {
  /** The port, once the server listens. */
  listening: Promise<number>
  stop(): Promise<void>
}

const MOST_CONNECTIONS = 50
const RETRY_MS = 10_000

export function createBounceReceiver(
  { host, port, domain }: Pick<BounceSettings, 'host' | 'port' | 'domain'>,
  paths: ReturnPaths,
  accept: (receipts: readonly Receipt[]) => Promise<void>,
  world: Pick<ProviderWorld, 'now' | 'warn'>,
): BounceReceiver {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    if (sockets.size >= MOST_CONNECTIONS) {
      socket.end('421 4.3.2 too many connections\r\n')
      return
    }
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serve(socket, { domain, paths, accept, world })
  })
  const { listening, stopTrying } = listen(server, host, port, world)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopTrying()
    const closed = new Promise<void>(resolve => {
      if (server.listening) server.close(() => resolve())
      else resolve()
    })
    // A client that has no 250 yet delivers its bounce again later.
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    listening,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Retries while the port is taken: another process of ours may receive the bounces, and this one takes over when it ends. */
function listen(server: Server, host: string, port: number, world: Pick<ProviderWorld, 'warn'>) {
  let stopped = false
  let warned = false
  let timer: NodeJS.Timeout | undefined
  const attempt = () => {
    if (!stopped) server.listen({ host, port })
  }
  const listening = new Promise<number>(resolve => {
    server.on('listening', () => {
      const address = server.address()
      if (stopped) server.close()
      else if (typeof address === 'object' && address) resolve(address.port)
    })
  })
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (!warned) world.warn({ provider: 'smtp', code: error.code ?? null }, 'Bounces cannot be listened for')
    warned = true
    timer = setTimeout(attempt, RETRY_MS)
    timer.unref()
  })
  attempt()
  return {
    listening,
    stopTrying() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
