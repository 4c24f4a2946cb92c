// An HTTP provider in the test that can also misbehave. The test decides how it answers.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type HttpMode = 'ok' | 'hang' | 'drop' | 'garbage' | 'half' | 'huge' | 'redirect'
export type Got = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
export type Given = { status: number; headers?: Record<string, string>; body: string }

export type HttpPeer = Awaited<ReturnType<typeof startHttpPeer>>

export async function startHttpPeer(answer: (got: Got) => Given) {
  const requests: Got[] = []
  let mode: HttpMode = 'ok'
  let give = answer

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const got = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      requests.push(got)
      const { status, headers = {}, body: text } = give(got)
      const { socket } = request
      switch (mode) {
        case 'ok':
          return void response.writeHead(status, headers).end(text)
        case 'hang':
          return
        case 'drop':
          return void socket.destroy()
        case 'garbage':
          return void socket.end('\x00\x01\x02 not HTTP at all\r\n\r\n')
        case 'half':
          socket.write(`HTTP/1.1 ${status} OK\r\ncontent-length: ${text.length}\r\n\r\n`)
          return void socket.end(text.slice(0, 5))
        case 'huge':
          return void response.writeHead(status, { 'content-type': 'text/html' }).end('x'.repeat(1_048_576))
        case 'redirect':
          return void response.writeHead(307, { location: `${url}/elsewhere` }).end()
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    requests,
    mode(next: HttpMode) {
      mode = next
    },
    answer(next: typeof answer) {
      give = next
    },
    interrupt: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
