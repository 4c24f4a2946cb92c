// clamd(8): INSTREAM over TCP or a Unix socket, one connection per file. An unknown reply is no verdict.
import { connect, type Socket } from 'node:net'
import type { Scanner, Verdict } from './scanner.ts'

const CHUNK = 64 * 1024
/** A reply is one line; a longer one does not come from clamd. */
const MOST_ANSWER = 1_024
const PROBE_MS = 3_000

export function createClamd(url: string): Scanner {
  const place = placeOf(url)

  // Sends one command and returns the reply; null when it is not complete in time.
  function ask(write: (socket: Socket) => Promise<void>, patienceMs: number): Promise<string | { failed: string }> {
    return new Promise(resolve => {
      let answer = ''
      const socket = connect(place)
      const end = (result: string | { failed: string }) => {
        clearTimeout(timer)
        socket.destroy()
        resolve(result)
      }
      const timer = setTimeout(() => end({ failed: 'clamd did not answer in time' }), Math.max(1, patienceMs))
      socket.on('error', (error: NodeJS.ErrnoException) => end({ failed: `clamd cannot be reached: ${error.code}` }))
      socket.on('close', () => end({ failed: 'clamd hung up without an answer' }))
      socket.on('data', chunk => {
        answer += chunk.toString('latin1')
        const stop = answer.indexOf('\0')
        if (stop !== -1) end(answer.slice(0, stop).trim())
        else if (answer.length > MOST_ANSWER) end({ failed: 'clamd answered something else' })
      })
      // The daemon may reply and close the connection while we still write. Its reply counts.
      socket.on('connect', () => void write(socket).catch(() => {}))
    })
  }

  return {
    name: 'clamd',
    async scan(content, patienceMs) {
      const answer = await ask(socket => stream(socket, content), patienceMs)
      return typeof answer === 'string' ? read(answer) : { kind: 'none', detail: answer.failed }
    },
    async probe() {
      const answer = await ask(async socket => void socket.write('zPING\0'), PROBE_MS)
      if (answer === 'PONG') return { ok: true }
      return { ok: false, detail: typeof answer === 'string' ? 'clamd answered something else' : answer.failed }
    },
  }
}

function placeOf(url: string): { path: string } | { host: string; port: number } {
  if (url.startsWith('unix:')) return { path: url.slice('unix:'.length).replace(/^\/\/(?=\/)/, '') }
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 3310) }
}

async function stream(socket: Socket, content: Buffer): Promise<void> {
  socket.write('zINSTREAM\0')
  for (let at = 0; at < content.length; at += CHUNK) {
    const chunk = content.subarray(at, at + CHUNK)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(chunk.length)
    socket.write(length)
    if (!socket.write(chunk)) await drained(socket)
    if (socket.destroyed) return
  }
  socket.write(Buffer.alloc(4))
}

const drained = (socket: Socket) =>
  new Promise<void>(resolve => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.once('drain', done).once('close', done)
  })

// "stream: OK", "stream: Win.Test.EICAR_HDB-1 FOUND", anything else (a size limit, an error) is no verdict.
function read(answer: string): Verdict {
  if (answer === 'stream: OK') return { kind: 'clean' }
  const name = /^stream: (.{1,200}) FOUND$/.exec(answer)?.[1]
  return name === undefined ? { kind: 'none', detail: 'clamd gave no verdict' } : { kind: 'virus', name }
}
