// One connection to an SMSC: writes requests, keeps what is not answered yet, and fails all of it when the line breaks.
// The package calls no one back on a drop, a hang or garbage, so the table of what is pending is ours.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import smpp, { type Pdu } from 'smpp'
import { createFrames, isWholeDeliver } from './frames.ts'

export type Reply =
  | { kind: 'answer'; pdu: Pdu }
  /** No answer in time; the line is still there. */
  | { kind: 'silence' }
  /** `written`: the request may have reached the other side. */
  | { kind: 'broken'; written: boolean; why: string }

export type LineOptions = {
  host: string
  port: number
  /** Certificates to trust besides or instead of the well-known ones; undefined: no TLS. */
  tls?: { ca: string | null }
  connectMillis: number
  replyMillis: number
}

export type Line = {
  request(command: string, fields?: Record<string, unknown>, replyMillis?: number): Promise<Reply>
  respond(to: Pdu, fields?: Record<string, unknown>): void
  outstanding(): number
  isOpen(): boolean
  /** Idempotent; everything pending is answered as broken. */
  close(why: string): void
}

type Events = {
  open(line: Line): void
  /** A request of the other side. */
  hear(line: Line, pdu: Pdu): void
  /** A deliver_sm whose lengths do not add up. */
  torn(line: Line, pdu: Pdu): void
  closed(why: string): void
}

export function createLine(options: LineOptions, events: Events): Line {
  const pending = new Map<number, { settle(reply: Reply): void; timer: NodeJS.Timeout }>()
  let sequence = 0
  let state: 'connecting' | 'open' | 'closed' = 'connecting'

  const socket = connect(options)
  const patience = setTimeout(() => close('no connection in time'), options.connectMillis)
  socket.setNoDelay(true)
  socket.once(options.tls ? 'secureConnect' : 'connect', () => {
    clearTimeout(patience)
    if (state !== 'connecting') return
    state = 'open'
    events.open(line)
  })
  // Without a listener an error of the socket would end the process.
  socket.on('error', error => close('code' in error ? `connection failed: ${String(error.code)}` : 'connection failed'))
  socket.on('close', () => close('connection closed'))
  const read = createFrames(hearFrame)
  socket.on('data', chunk => {
    if (state === 'open' && !read(chunk)) close('garbage instead of a PDU')
  })

  function hearFrame(frame: Buffer) {
    if (state !== 'open') return
    const pdu = decode(frame)
    if (!pdu) return close('unreadable PDU')
    if (!pdu.isResponse()) {
      if (pdu.command === 'deliver_sm' && !isWholeDeliver(frame)) events.torn(line, pdu)
      else events.hear(line, pdu)
      return
    }
    const entry = pending.get(pdu.sequence_number)
    if (!entry) return // too late, or never asked
    pending.delete(pdu.sequence_number)
    clearTimeout(entry.timer)
    entry.settle({ kind: 'answer', pdu })
  }

  function close(why: string) {
    if (state === 'closed') return
    state = 'closed'
    clearTimeout(patience)
    socket.destroy()
    for (const { settle, timer } of pending.values()) {
      clearTimeout(timer)
      settle({ kind: 'broken', written: true, why })
    }
    pending.clear()
    events.closed(why)
  }

  const line: Line = {
    request(command, fields = {}, replyMillis = options.replyMillis) {
      if (state !== 'open' || !socket.writable)
        return Promise.resolve({ kind: 'broken', written: false, why: 'not connected' })
      sequence = sequence === 0x7fffffff ? 1 : sequence + 1
      const number = sequence
      const octets = new smpp.PDU(command, { ...fields, sequence_number: number }).toBuffer()
      return new Promise<Reply>(settle => {
        const timer = setTimeout(() => {
          pending.delete(number)
          settle({ kind: 'silence' })
        }, replyMillis)
        pending.set(number, { settle, timer })
        socket.write(octets)
      })
    },
    respond(to, fields = {}) {
      if (state === 'open' && socket.writable) socket.write(to.response(fields).toBuffer())
    },
    outstanding: () => pending.size,
    isOpen: () => state === 'open',
    close,
  }
  return line
}

function connect({ host, port, tls }: LineOptions): Socket {
  if (!tls) return connectPlain({ host, port })
  return connectTls({ host, port, servername: host, ...(tls.ca !== null && { ca: tls.ca }) })
}

function decode(frame: Buffer): Pdu | null {
  try {
    return new smpp.PDU(frame)
  } catch {
    // The package throws on fields that run over the end: what cannot be read cannot be trusted either.
    return null
  }
}
