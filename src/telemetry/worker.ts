// The thread of health.ts. It answers from the last update of the process, so an answer does not depend on the process's event loop.
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { HealthReply, HealthUpdate } from './health.ts'

/** A process that tells nothing for this long serves no requests either. Longer than any turn of a busy event loop. */
const SILENT_MS = { ready: 10_000, live: 60_000 } as const
/** Probes take milliseconds. Beyond this number the oldest connection is closed, so that silent callers cannot keep probes out. */
const MOST_CONNECTIONS = 64
const SLOWEST_MS = 2_000
const IDLE_MS = 15_000

const { host, port } = workerData as { host: string; port: number }
let update: HealthUpdate = { status: 503, text: '{"status":"starting"}' }
let updatedAt = performance.now()
parentPort?.on('message', (given: HealthUpdate) => {
  update = given
  updatedAt = performance.now()
})

const SILENT: HealthUpdate = { status: 503, text: '{"status":"the process does not respond"}' }
const LIVE: HealthUpdate = { status: 200, text: '{"status":"ok"}' }
const isSilent = (ms: number) => performance.now() - updatedAt > ms

const pages: Readonly<Record<string, () => HealthUpdate>> = {
  '/health/live': () => (isSilent(SILENT_MS.live) ? SILENT : LIVE),
  '/health/ready': () => (isSilent(SILENT_MS.ready) ? SILENT : update),
}

const server = createServer(
  {
    ...{ headersTimeout: SLOWEST_MS, requestTimeout: SLOWEST_MS, connectionsCheckingInterval: 500 },
    ...{ keepAliveTimeout: IDLE_MS, maxHeaderSize: 4_096, requireHostHeader: false },
  },
  ({ method, url = '' }, response) => {
    const page = method === 'GET' || method === 'HEAD' ? pages[url] : undefined
    if (!page) return void response.writeHead(404, { connection: 'close' }).end()
    const { status, text } = page()
    const length = Buffer.byteLength(text)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(text)
  },
)

const open = new Set<Socket>()
server.on('connection', socket => {
  open.add(socket)
  socket.once('close', () => open.delete(socket))
  const [oldest] = open
  if (open.size > MOST_CONNECTIONS) oldest?.destroy()
})

const reply = (message: HealthReply) => parentPort?.postMessage(message)
server.once('error', (error: NodeJS.ErrnoException) => reply({ failed: error.message, code: error.code ?? null }))
server.listen(port, host, () => reply({ port: (server.address() as AddressInfo).port }))
