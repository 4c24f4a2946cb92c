// One SMTP session of the bounce receiver. Everything a client can make us do is bounded: the length of a line, the number of
// errors, the size of a message, the time, and the replies that wait for a client that does not read them.
import type { Socket } from 'node:net'
import type { Id } from '../../../core/id.ts'
import type { ProviderWorld, Receipt } from '../../port.ts'
import type { ReturnPaths } from '../verp.ts'
import { createData } from './data.ts'
import { readReport } from './report.ts'

const LARGEST_MESSAGE = 33_554_432
const LONGEST_LINE = 512
const MOST_ERRORS = 10
const IDLE_MS = 60_000
const SESSION_MS = 600_000
const CLOSE_MS = 1_000

export type SessionOptions = {
  domain: string
  paths: ReturnPaths
  accept: (receipts: readonly Receipt[]) => Promise<void>
  world: Pick<ProviderWorld, 'now' | 'warn'>
}

export function serve(socket: Socket, { domain, paths, accept, world }: SessionOptions) {
  let input = ''
  let data: ReturnType<typeof createData> | null = null
  let hasGreeted = false
  let hasSender = false
  let recipient: Id | null = null
  let errors = 0
  let isStoring = false

  socket.setTimeout(IDLE_MS, () => end('421 4.4.2 you took too long'))
  const limit = setTimeout(() => end('421 4.4.2 you took too long'), SESSION_MS)
  limit.unref()
  socket.on('close', () => clearTimeout(limit))
  socket.on('data', chunk => {
    input += chunk.toString('latin1')
    advance()
  })
  socket.on('drain', () => {
    if (isStoring) return
    socket.resume()
    advance()
  })
  reply(`220 ${domain} ESMTP`)

  function reply(...lines: string[]) {
    if (isOpen()) socket.write(`${lines.join('\r\n')}\r\n`)
  }
  function end(line: string) {
    if (isOpen()) socket.end(`${line}\r\n`)
    setTimeout(() => socket.destroy(), CLOSE_MS).unref()
  }
  function error(line: string) {
    errors += 1
    if (errors > MOST_ERRORS) end('421 4.7.0 too many errors')
    else reply(line)
  }
  function isOpen() {
    return !socket.destroyed && socket.writable
  }

  /** Reads commands and data as far as they have come. Replies to pipelined commands leave in one write. */
  function advance() {
    socket.cork()
    while (!isStoring && isOpen()) {
      // Backpressure: a client that does not read its replies is not read either.
      if (socket.writableNeedDrain) {
        socket.pause()
        break
      }
      if (!(data ? readData(data) : readCommand())) break
    }
    socket.uncork()
  }

  /** False: more input is needed. */
  function readCommand(): boolean {
    const at = input.indexOf('\r\n')
    if (at > LONGEST_LINE || (at === -1 && input.length > LONGEST_LINE)) {
      end('500 5.5.2 line too long')
      return false
    }
    if (at === -1) return false
    const line = input.slice(0, at)
    input = input.slice(at + 2)
    handle(line)
    return true
  }

  function readData(message: ReturnType<typeof createData>): boolean {
    const rest = message.take(input)
    input = rest ?? ''
    if (rest !== null) void finish(message.text())
    else if (message.size() > LARGEST_MESSAGE) end('552 5.3.4 too large')
    return false
  }

  async function finish(text: string) {
    isStoring = true
    socket.pause()
    const id = recipient
    reset()
    const answer = await store(text, id)
    isStoring = false
    reply(answer)
    socket.resume()
    advance()
  }

  async function store(text: string, id: Id | null): Promise<string> {
    if (id === null) return '554 5.5.1 no valid recipients'
    try {
      const receipt = readReport(text, id, world.now())
      if (receipt) await accept([receipt])
      else world.warn({ provider: 'smtp', id }, 'Mail to a return path is no delivery report')
      return '250 2.0.0 ok'
    } catch {
      // The receipt is not on disk: the client keeps the bounce and retries.
      return '451 4.3.0 try again later'
    }
  }

  function reset() {
    data = null
    hasSender = false
    recipient = null
  }

  function handle(line: string) {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(line)) return error('500 5.5.2 syntax error')
    const verb = line.slice(0, 4).toUpperCase()
    switch (/^[A-Za-z]{4}(?: |$)/.test(line) ? verb : '') {
      case 'EHLO':
        return greet(`250-${domain}`, '250-PIPELINING', '250-8BITMIME', '250-ENHANCEDSTATUSCODES', SIZE_LINE)
      case 'HELO':
        return greet(`250 ${domain}`)
      case 'MAIL':
        return mail(line)
      case 'RCPT':
        return rcpt(line)
      case 'DATA':
        if (recipient === null) return error('503 5.5.1 no valid recipients')
        data = createData()
        return reply('354 go on')
      case 'RSET':
        reset()
        return reply('250 2.0.0 ok')
      case 'NOOP':
        return reply('250 2.0.0 ok')
      case 'QUIT':
        return end('221 2.0.0 bye')
      case 'VRFY':
        return error('252 2.1.5 send some mail')
      default:
        return error('502 5.5.1 not implemented')
    }
  }

  function greet(...lines: string[]) {
    reset()
    hasGreeted = true
    reply(...lines)
  }

  function mail(line: string) {
    if (!hasGreeted || hasSender) return error('503 5.5.1 not now')
    const parsed = /^MAIL FROM:\s?<([^<>\s]*)>((?: [A-Z0-9-]+(?:=[\x21-\x3c\x3e-\x7e]+)?)*)$/i.exec(line)
    if (!parsed) return error('501 5.5.4 syntax error')
    const size = Number(/ SIZE=(\d+)/i.exec(parsed[2] ?? '')?.[1] ?? 0)
    if (size > LARGEST_MESSAGE) return error('552 5.3.4 too large')
    hasSender = true
    reply('250 2.1.0 ok')
  }

  function rcpt(line: string) {
    if (!hasSender) return error('503 5.5.1 not now')
    const parsed = /^RCPT TO:\s?<([^<>\s]{1,320})>(?: .*)?$/i.exec(line)
    if (!parsed) return error('501 5.5.4 syntax error')
    if (recipient !== null) return error('452 4.5.3 one recipient at a time')
    const id = paths.read(parsed[1] ?? '')
    if (id === null) return error('550 5.1.1 no such address here')
    recipient = id
    reply('250 2.1.5 ok')
  }
}

const SIZE_LINE = `250 SIZE ${LARGEST_MESSAGE}`
