// A small, strict SMTP server (RFC 5321) for bounces alone: it takes mail for our own signed return paths, reads it,
// has the receipt stored, and only then says 250. It relays nothing, lists nobody and keeps nothing.
import { createServer, type Server, type Socket } from 'node:net'
import type { Id } from '../../../core/id.ts'
import type { ProviderWorld, Receipt } from '../../port.ts'
import type { ReturnPaths } from '../verp.ts'
import { readReport } from './report.ts'

export type BounceSettings = {
  host: string
  port: number
  /** The domain of the return paths; its MX must lead here. */
  domain: string
  /** Sign the return paths: today's first, then earlier ones. */
  secrets: readonly string[]
}

export type BounceReceiver = {
  /** The port listened on, once it is. */
  listening: Promise<number>
  stop(): Promise<void>
}

const KEPT = 1_048_576
/** A report with the whole message behind it is read to its end, but only its beginning is kept. */
const LARGEST = 33_554_432
const LONGEST_LINE = 512
const MOST_CONNECTIONS = 50
const MOST_MISTAKES = 10
const SILENCE_MS = 60_000
const SESSION_MS = 600_000
const AGAIN_MS = 10_000

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
    converse(socket, { domain, paths, accept, world })
  })
  const { listening, stopTrying } = listen(server, host, port, world)
  let ended: Promise<void> | undefined
  const stop = async () => {
    stopTrying()
    const closed = new Promise<void>(resolve => {
      if (server.listening) server.close(() => resolve())
      else resolve()
    })
    // Whoever is in the middle of a bounce has no 250 yet and will come again.
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    listening,
    stop() {
      ended ??= stop()
      return ended
    },
  }
}

/** Another process of ours may hold the port; bounces then reach that one, and this one takes over when it ends. */
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
    timer = setTimeout(attempt, AGAIN_MS)
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

type Hall = {
  domain: string
  paths: ReturnPaths
  accept: (receipts: readonly Receipt[]) => Promise<void>
  world: Pick<ProviderWorld, 'now' | 'warn'>
}

function converse(socket: Socket, { domain, paths, accept, world }: Hall) {
  let pending = ''
  let data: ReturnType<typeof createData> | null = null
  let greeted = false
  let sender = false
  let about: Id | null = null
  let mistakes = 0
  let working = false

  socket.setTimeout(SILENCE_MS, () => leave('421 4.4.2 you took too long'))
  const limit = setTimeout(() => leave('421 4.4.2 you took too long'), SESSION_MS)
  limit.unref()
  socket.on('close', () => clearTimeout(limit))
  socket.on('data', chunk => {
    pending += chunk.toString('latin1')
    advance()
  })
  say(`220 ${domain} ESMTP`)

  function say(...lines: string[]) {
    if (!socket.destroyed && socket.writable) socket.write(`${lines.join('\r\n')}\r\n`)
  }
  function leave(line: string) {
    if (!socket.destroyed && socket.writable) socket.end(`${line}\r\n`)
    setTimeout(() => socket.destroy(), 1_000).unref()
  }
  function mistake(line: string) {
    mistakes += 1
    if (mistakes > MOST_MISTAKES) leave('421 4.7.0 too many errors')
    else say(line)
  }

  function advance() {
    while (!working && !socket.destroyed && socket.writable) {
      if (data) {
        const rest = data.take(pending)
        pending = rest ?? ''
        if (rest === null) {
          if (data.size() > LARGEST) leave('552 5.3.4 too large')
          return
        }
        void finish(data.text())
        return
      }
      const at = pending.indexOf('\r\n')
      if (at > LONGEST_LINE || (at === -1 && pending.length > LONGEST_LINE)) return leave('500 5.5.2 line too long')
      if (at === -1) return
      const line = pending.slice(0, at)
      pending = pending.slice(at + 2)
      obey(line)
    }
  }

  async function finish(text: string) {
    working = true
    socket.pause()
    const id = about
    reset()
    const answer = await take(text, id)
    working = false
    say(answer)
    socket.resume()
    advance()
  }

  async function take(text: string, id: Id | null): Promise<string> {
    if (id === null) return '554 5.5.1 no valid recipients'
    try {
      const receipt = readReport(text, id, world.now())
      if (receipt) await accept([receipt])
      else world.warn({ provider: 'smtp', id }, 'Mail to a return path is no delivery report')
      return '250 2.0.0 ok'
    } catch {
      // Not on disk, so not ours yet: the other side keeps it and comes again.
      return '451 4.3.0 try again later'
    }
  }

  function reset() {
    data = null
    sender = false
    about = null
  }

  function obey(line: string) {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(line)) return mistake('500 5.5.2 syntax error')
    const verb = line.slice(0, 4).toUpperCase()
    switch (/^[A-Za-z]{4}(?: |$)/.test(line) ? verb : '') {
      case 'EHLO':
        reset()
        greeted = true
        return say(`250-${domain}`, '250-PIPELINING', '250-8BITMIME', '250-ENHANCEDSTATUSCODES', `250 SIZE ${LARGEST}`)
      case 'HELO':
        reset()
        greeted = true
        return say(`250 ${domain}`)
      case 'MAIL':
        return mail(line)
      case 'RCPT':
        return rcpt(line)
      case 'DATA':
        if (about === null) return mistake('503 5.5.1 no valid recipients')
        data = createData()
        return say('354 go on')
      case 'RSET':
        reset()
        return say('250 2.0.0 ok')
      case 'NOOP':
        return say('250 2.0.0 ok')
      case 'QUIT':
        return leave('221 2.0.0 bye')
      case 'VRFY':
        return mistake('252 2.1.5 send some mail')
      default:
        return mistake('502 5.5.1 not implemented')
    }
  }

  function mail(line: string) {
    if (!greeted || sender) return mistake('503 5.5.1 not now')
    const parsed = /^MAIL FROM:\s?<([^<>\s]*)>((?: [A-Z0-9-]+(?:=[\x21-\x3c\x3e-\x7e]+)?)*)$/i.exec(line)
    if (!parsed) return mistake('501 5.5.4 syntax error')
    const size = Number(/ SIZE=(\d+)/i.exec(parsed[2] ?? '')?.[1] ?? 0)
    if (size > LARGEST) return mistake('552 5.3.4 too large')
    sender = true
    say('250 2.1.0 ok')
  }

  function rcpt(line: string) {
    if (!sender) return mistake('503 5.5.1 not now')
    const parsed = /^RCPT TO:\s?<([^<>\s]{1,320})>(?: .*)?$/i.exec(line)
    if (!parsed) return mistake('501 5.5.4 syntax error')
    if (about !== null) return mistake('452 4.5.3 one recipient at a time')
    const id = paths.read(parsed[1] ?? '')
    if (id === null) return mistake('550 5.1.1 no such address here')
    about = id
    say('250 2.1.5 ok')
  }
}

/** Collects until CRLF.CRLF and nothing else (reliability S-12), keeping the beginning. */
function createData() {
  const kept: string[] = []
  let keptSize = 0
  let size = 0
  // The end mark may stand at the very beginning, and may be torn between two chunks.
  let tail = '\r\n'
  return {
    size: () => size,
    /** What follows the end; null: the end has not come yet. */
    take(chunk: string): string | null {
      const joined = tail + chunk
      const at = joined.indexOf('\r\n.\r\n')
      const mine = at === -1 ? chunk : joined.slice(tail.length, Math.max(at + 2, tail.length))
      size += mine.length
      if (keptSize < KEPT) {
        kept.push(mine.slice(0, KEPT - keptSize))
        keptSize += mine.length
      }
      if (at !== -1) return joined.slice(at + 5)
      tail = joined.slice(-4)
      return null
    },
    text: () => `\r\n${kept.join('')}`.replaceAll('\r\n..', '\r\n.').slice(2),
  }
}
