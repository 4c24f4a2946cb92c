// A TCP relay between Herald and the database or a provider: slow, narrow, silent, reset, or half-open. And a small load balancer
// between callers and several processes.
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** silent: bytes are kept back until it ends, also those of new connections, as when packets are lost. */
export type Trouble = { latencyMs: number; bytesPerSecond: number; isSilent: boolean }

export type Relay = {
  port: number
  set(trouble: Partial<Trouble>): void
  /** Resets (RST) every connection; returns how many there were. */
  reset(): number
  /** Half-open: connections that are open now stay open but never receive anything again. New connections work. */
  strand(): number
  /** The number of open connections on the client side. */
  open(): number
  stop(): Promise<void>
}

const NO_TROUBLE: Trouble = { latencyMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY, isSilent: false }
const MOST_KEPT_BYTES = 1024 * 1024

export async function createRelay(target: { path: string } | { host?: string; port: number }): Promise<Relay> {
  type Line = { ends: [net.Socket, net.Socket]; isStranded: boolean }
  const lines = new Set<Line>()
  let trouble = NO_TROUBLE

  const server = net.createServer(near => {
    const far = 'path' in target ? net.connect(target.path) : net.connect(target.port, target.host ?? '127.0.0.1')
    const line: Line = { ends: [near, far], isStranded: false }
    lines.add(line)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true)
      from.on('error', () => {}) // an error of one end is passed on by its close event
      from.on('close', () => {
        if (line.isStranded) return
        lines.delete(line)
        to.destroy()
      })
      carry(from, to, line)
    }
  })

  function carry(from: net.Socket, to: net.Socket, line: Line) {
    let kept = 0
    let order = Promise.resolve()
    const pass = async (chunk: Buffer | null, since: number) => {
      while (trouble.isSilent && !from.destroyed) await sleep(20)
      const wait = since + trouble.latencyMs - performance.now()
      if (wait > 1) await sleep(wait)
      if (chunk && Number.isFinite(trouble.bytesPerSecond)) await sleep((chunk.length / trouble.bytesPerSecond) * 1000)
      kept -= chunk?.length ?? 0
      if (line.isStranded || to.destroyed) return
      if (chunk) to.write(chunk)
      else to.end()
      if (from.isPaused() && kept < MOST_KEPT_BYTES) from.resume()
    }
    from.on('data', chunk => {
      kept += chunk.length
      if (kept >= MOST_KEPT_BYTES) from.pause()
      const since = performance.now()
      order = order.then(() => pass(chunk, since))
    })
    from.on('end', () => {
      const since = performance.now()
      order = order.then(() => pass(null, since))
    })
  }

  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const cut = () => {
    const open = [...lines].filter(line => !line.isStranded)
    for (const { ends } of open) {
      ends[0].resetAndDestroy()
      if ('path' in target) ends[1].destroy()
      else ends[1].resetAndDestroy()
    }
    return open.length
  }
  return {
    port: portOf(server),
    set(change) {
      trouble = { ...trouble, ...change }
    },
    reset: cut,
    strand() {
      const open = [...lines].filter(line => !line.isStranded)
      for (const line of open) line.isStranded = true
      return open.length
    },
    open: () => [...lines].filter(({ ends }) => !ends[0].destroyed).length,
    async stop() {
      trouble = NO_TROUBLE
      for (const { ends } of lines) for (const end of ends) end.destroy()
      await new Promise(done => server.close(done))
    },
  }
}

export type Balancer = { address: string; stop(): Promise<void> }

/** Sends a request to a process that is ready, and to the next one where the connection is refused; nothing is sent twice. */
export async function createBalancer(addresses: readonly string[], everyMs = 100): Promise<Balancer> {
  const ready = new Map<string, boolean>()
  const sockets = new Set<net.Socket>()
  let turn = 0
  const look = () =>
    Promise.all(
      addresses.map(async address => {
        ready.set(address, await isReady(address))
      }),
    )
  await look()
  const timer = setInterval(() => void look(), everyMs)

  const server = net.createServer({ pauseOnConnect: true }, caller => {
    sockets.add(caller)
    caller.on('error', () => {})
    caller.on('close', () => sockets.delete(caller))
    const first = turn++
    const inTurn = addresses.map((_, at) => addresses[(first + at) % addresses.length] as string)
    connect(caller, [...inTurn.filter(one => ready.get(one)), ...inTurn.filter(one => !ready.get(one))])
  })

  function connect(caller: net.Socket, [address, ...others]: string[]) {
    if (address === undefined) return void caller.destroy()
    const { hostname, port } = new URL(address)
    const process = net.connect(Number(port), hostname)
    const next = () => connect(caller, others)
    process.once('error', next)
    process.once('connect', () => {
      process.off('error', next)
      process.on('error', () => {})
      process.on('close', () => caller.destroy())
      caller.on('close', () => process.destroy())
      for (const socket of [process, caller]) socket.setNoDelay(true)
      process.pipe(caller)
      caller.pipe(process)
    })
  }

  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    address: `http://127.0.0.1:${portOf(server)}`,
    async stop() {
      clearInterval(timer)
      for (const socket of sockets) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}

const isReady = (address: string) => statusOf(`${address}/health/ready`).then(status => status === 200)

/** Status of a GET on a connection of its own; 0 without an answer in time. */
export function statusOf(url: string, withinMs = 2_000): Promise<number> {
  return new Promise(resolve => {
    const request = http.get(url, { agent: false, timeout: withinMs }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(0))
  })
}

function portOf(server: net.Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
