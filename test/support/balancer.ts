// A load balancer in the test, as far as Herald can tell: each request goes to the next process, over connections that are kept alive.
// Nothing is tried again: a process that fails a request fails it for the caller.
import http from 'node:http'
import type { AddressInfo } from 'node:net'

type Backend = { address: string; agent: http.Agent; isReady: boolean }

export type Balancer = {
  address: string
  /** Requests that got no answer from their process. */
  broken: string[]
  /** Requests that went to each process, by address. */
  passed: Map<string, number>
  /** Replaces the processes; with health checks, a new one gets requests when it is ready. */
  set(addresses: readonly string[]): void
  readyCount(): number
  stop(): Promise<void>
}

/** `healthMs`: how often /health/ready of each process is asked; 0: never, and all get requests. */
export async function balancer(addresses: readonly string[], { healthMs = 0 } = {}): Promise<Balancer> {
  const broken: string[] = []
  const passed = new Map<string, number>()
  let backends: Backend[] = []
  let turn = 0

  function set(next: readonly string[]) {
    const kept = backends.filter(one => next.includes(one.address))
    for (const gone of backends.filter(one => !kept.includes(one))) gone.agent.destroy()
    const fresh = next.filter(address => !kept.some(one => one.address === address))
    backends = [
      ...kept,
      ...fresh.map(address => ({
        address,
        agent: new http.Agent({ keepAlive: true, maxSockets: 64 }),
        isReady: healthMs === 0,
      })),
    ]
  }

  async function check(backend: Backend) {
    const { status } = await fetch(`${backend.address}/health/ready`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(2_000),
    }).catch(() => ({ status: 0 }))
    backend.isReady = status === 200
  }

  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const ready = backends.filter(one => one.isReady)
    const backend = ready[turn++ % Math.max(1, ready.length)]
    const what = `${request.method} ${request.url?.split('?')[0]}`
    const fail = (why: string) => {
      broken.push(`${what}: ${why}`)
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    }
    if (!backend) return fail('no process is ready')
    passed.set(backend.address, (passed.get(backend.address) ?? 0) + 1)
    const onward = http.request(
      backend.address + (request.url ?? '/'),
      { method: request.method, headers: { ...request.headers, connection: 'keep-alive' }, agent: backend.agent },
      answer => {
        // The connection to the caller is another one.
        const { connection: _, 'keep-alive': __, ...headers } = answer.headers
        response.writeHead(answer.statusCode ?? 502, headers)
        answer.on('aborted', () => fail('the answer was cut'))
        answer.pipe(response)
      },
    )
    onward.on('error', error => {
      if (!response.destroyed) fail(error.message)
    })
    response.on('close', () => {
      if (!response.writableFinished) onward.destroy()
    })
    request.pipe(onward)
  })

  set(addresses)
  const checks = healthMs
    ? setInterval(() => {
        for (const backend of backends) void check(backend)
      }, healthMs)
    : undefined
  if (healthMs) await Promise.all(backends.map(check))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broken,
    passed,
    set,
    readyCount: () => backends.filter(one => one.isReady).length,
    async stop() {
      clearInterval(checks)
      for (const { agent } of backends) agent.destroy()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
