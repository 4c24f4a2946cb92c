// A receiver of webhooks in the test. The test decides how it answers, and may make it slow or hostile.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from './certificates.ts'

export type Hook = { url: string; headers: Record<string, string>; body: string; at: number }
type Answer = (hook: Hook, response: ServerResponse, request: IncomingMessage) => unknown

export const ok: Answer = (_hook, response) => response.writeHead(204).end()
export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_hook, response) =>
    response.writeHead(code, headers).end(body)

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export async function startReceiver(answer: Answer = ok, certificate?: Certificate) {
  const hooks: Hook[] = []
  let give = answer
  let connections = 0
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const hook = {
        url: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      }
      hooks.push(hook)
      give(hook, response, request)
    })
  }
  const server = certificate
    ? createTlsServer({ key: certificate.key, cert: certificate.certificate }, onRequest)
    : createServer(onRequest)
  server.on('connection', () => connections++)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/hooks`,
    hooks,
    connections: () => connections,
    answer(next: Answer) {
      give = next
    },
    closeIdle: () => server.closeIdleConnections(),
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
