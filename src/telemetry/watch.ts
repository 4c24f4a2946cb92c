// Serves health and metrics on a port of its own, for a process that runs only the engine.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type About, type MetricsPage, type Readiness, readyAnswer } from './routes.ts'

export async function createWatch(
  { host, port }: { host: string; port: number },
  { figures, readiness, about }: { figures: MetricsPage; readiness: Readiness; about: About },
): Promise<{ port: number; stop(): Promise<void> }> {
  const pages: Record<string, () => Promise<{ status: number; type: string; text: string | Buffer }>> = {
    '/metrics': async () => {
      const text = await figures.text()
      return { status: text ? 200 : 503, type: figures.type, text: text ?? '' }
    },
    '/health/live': async () => answer(200, { status: 'ok' }),
    '/health/ready': async () => {
      const { status, body } = readyAnswer(readiness.missing(), false, about)
      return answer(status, body)
    },
  }
  const server = createServer((request, response) => {
    const page = request.method === 'GET' ? pages[request.url ?? ''] : undefined
    if (!page || (request.url === '/metrics' && !figures.isFor(request))) return void response.writeHead(404).end()
    page().then(
      ({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const answer = (status: number, body: unknown) => ({ status, type: 'application/json', text: JSON.stringify(body) })
