// Bytes on a socket, for requests that no client library would make.
import net from 'node:net'

export type Wire = {
  socket: net.Socket
  /** The bytes that have arrived so far. */
  heard(): string
  /** Resolves with the first whole response, or with what was received when the connection ends. */
  answer: Promise<string>
}

/** Opens a connection and writes `bytes`. */
export function dial(address: string, bytes: string | Buffer): Promise<Wire> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    let heard = ''
    const isHead = Buffer.from(bytes).subarray(0, 5).toString() === 'HEAD '
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(bytes)
      resolve({ socket, heard: () => heard, answer })
    })
    const answer = new Promise<string>(done => {
      socket.on('data', data => {
        heard += data.toString('latin1')
        if (isWhole(heard, isHead)) done(heard)
      })
      socket.on('close', () => done(heard))
    })
    socket.on('error', reject)
  })
}

/** One request and its first answer; the connection is closed afterwards. */
export async function exchange(address: string, bytes: string | Buffer): Promise<string> {
  const { socket, answer } = await dial(address, bytes)
  const timer = setTimeout(() => socket.destroy(), 5_000)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function isWhole(heard: string, isHead: boolean): boolean {
  const end = heard.indexOf('\r\n\r\n')
  if (end < 0 || isHead) return end >= 0
  const length = /^content-length: (\d+)/im.exec(heard.slice(0, end))
  return heard.length >= end + 4 + Number(length?.[1] ?? 0)
}

export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
