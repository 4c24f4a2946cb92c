// A server for clamd's INSTREAM that knows the standard test virus and misbehaves on request.
import { createServer, type Socket } from 'node:net'
import { EICAR } from './documents.ts'

export type ScannerMode = 'ok' | 'hang' | 'hang-up' | 'garbage' | 'error' | 'endless'

export async function scannerPeer(mode: ScannerMode = 'ok', onFile: (content: Buffer) => void = () => {}) {
  const state = { mode, asked: 0, seen: [] as Buffer[] }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let heard = Buffer.alloc(0)
    socket.on('data', chunk => {
      heard = Buffer.concat([heard, chunk])
      if (heard.includes('zPING\0')) return socket.end('PONG\0')
      const content = contentIn(heard)
      if (content === null) return
      heard = Buffer.alloc(0)
      state.asked += 1
      state.seen.push(content)
      onFile(content)
      if (state.mode === 'hang') return
      if (state.mode === 'hang-up') return socket.destroy()
      if (state.mode === 'endless') return socket.write('x'.repeat(100_000))
      const words =
        state.mode === 'garbage'
          ? 'OK OK OK'
          : state.mode === 'error'
            ? 'INSTREAM size limit exceeded. ERROR'
            : content.includes(EICAR)
              ? 'stream: Eicar-Signature FOUND'
              : 'stream: OK'
      socket.end(`${words}\0`)
    })
  })
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address ? address.port : 0)
      })
    })
  const port = await listen(0)
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  const down = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      hangUp()
    })
  return { url: `tcp://127.0.0.1:${port}`, state, hangUp, down, up: () => listen(port), stop: down }
}

/** The streamed content, once the zero-length chunk has arrived. */
function contentIn(heard: Buffer): Buffer | null {
  const head = 'zINSTREAM\0'
  if (!heard.subarray(0, head.length).equals(Buffer.from(head))) return null
  const chunks: Buffer[] = []
  for (let at = head.length; at + 4 <= heard.length; ) {
    const length = heard.readUInt32BE(at)
    if (length === 0) return Buffer.concat(chunks)
    if (at + 4 + length > heard.length) return null
    chunks.push(heard.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return null
}
