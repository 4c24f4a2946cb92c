// One connection to an SMSC: writes requests, keeps those that are not answered yet, and fails all of them when the connection
// breaks. The package does not call back on a disconnect, a hang or invalid data, so the table of pending requests is ours.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import smpp, { type Pdu } from 'smpp'
import {
  type Peer,
  refusedCertificate,
  type SettingNames,
  type Trouble,
  troubleOf,
  unreachable,
} from '../unreachable.ts'
import { createFrames, isWholeDeliver } from './frames.ts'

export type Reply =
  | { kind: 'answer'; pdu: Pdu }
  /** No answer in time; the connection is still open. */
  | { kind: 'silence' }
  /** `written`: the request may have reached the SMSC. */
  | { kind: 'broken'; written: boolean; why: string }

export type ConnectionOptions = {
  host: string
  port: number
  /** `ca`: PEM certificates to trust instead of the well-known ones; null: the well-known ones. Absent: no TLS. */
  tls?: { ca: string | null }
  connectMillis: number
  replyMillis: number
  /** Absent: the variables of SMPP. */
  names?: SettingNames
}

export type Connection = {
  request(command: string, fields?: Record<string, unknown>, replyMillis?: number): Promise<Reply>
  respond(to: Pdu, fields?: Record<string, unknown>): void
  /** Idempotent; every pending request is answered as broken. */
  close(why: string, trouble?: Trouble): void
}

type Events = {
  onOpen(connection: Connection): void
  /** The SMSC sent a request. */
  onRequest(connection: Connection, pdu: Pdu): void
  /** A deliver_sm whose lengths do not add up. */
  onMalformed(connection: Connection, pdu: Pdu): void
  /** `reason`: why it cannot be reached, for operators. */
  onClosed(why: string, reason?: string): void
}

/** How long PDUs are handled before other work gets its turn. */
const TURN_MS = 5
/** Octets that the peer has not read yet. What we send is bounded by the window, so only responses can be as many. */
const MOST_UNREAD = 1_048_576

export function createConnection(options: ConnectionOptions, events: Events): Connection {
  const pending = new Map<number, { settle(reply: Reply): void; timer: NodeJS.Timeout }>()
  let sequence = 0
  let state: 'connecting' | 'open' | 'closed' = 'connecting'

  const socket = connect(options)
  const connectTimer = setTimeout(() => close('no connection in time', { code: 'timeout' }), options.connectMillis)
  socket.setNoDelay(true)
  socket.once(options.tls ? 'secureConnect' : 'connect', () => {
    clearTimeout(connectTimer)
    if (state !== 'connecting') return
    const trouble = socket instanceof TLSSocket ? refusedCertificate(socket) : null
    if (trouble) return close(`connection failed: ${trouble.code}`, trouble)
    state = 'open'
    events.onOpen(connection)
  })
  // Without a listener an error of the socket would end the process.
  socket.on('error', error =>
    close('code' in error ? `connection failed: ${String(error.code)}` : 'connection failed', troubleOf(error)),
  )
  socket.on('close', () => close('connection closed', { code: 'closed' }))
  const frames = createFrames()
  socket.on('data', chunk => {
    frames.add(chunk)
    readFrames()
  })

  // A peer can send PDUs faster than they are handled, and can leave the responses unread: reading pauses.
  function readFrames() {
    socket.pause()
    const until = performance.now() + TURN_MS
    socket.cork()
    while (state === 'open') {
      const frame = frames.next()
      if (frame === 'garbage') return close('garbage instead of a PDU')
      if (frame === null) break
      receive(frame)
      if (performance.now() < until) continue
      setImmediate(readFrames)
      return socket.uncork()
    }
    socket.uncork()
    if (state !== 'open') return
    if (socket.writableLength > MOST_UNREAD) socket.once('drain', () => socket.resume())
    else socket.resume()
  }

  function receive(frame: Buffer) {
    if (state !== 'open') return
    const pdu = decode(frame)
    if (!pdu) return close('unreadable PDU')
    if (!pdu.isResponse()) {
      if (pdu.command === 'deliver_sm' && !isWholeDeliver(frame)) events.onMalformed(connection, pdu)
      else events.onRequest(connection, pdu)
      return
    }
    const entry = pending.get(pdu.sequence_number)
    if (!entry) return // too late, or never requested
    pending.delete(pdu.sequence_number)
    clearTimeout(entry.timer)
    entry.settle({ kind: 'answer', pdu })
  }

  function close(why: string, trouble?: Trouble) {
    if (state === 'closed') return
    state = 'closed'
    clearTimeout(connectTimer)
    socket.destroy()
    for (const { settle, timer } of pending.values()) {
      clearTimeout(timer)
      settle({ kind: 'broken', written: true, why })
    }
    pending.clear()
    events.onClosed(why, trouble && unreachable(peerOf(options), trouble))
  }

  const connection: Connection = {
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
    close,
  }
  return connection
}

function connect({ host, port, tls }: ConnectionOptions): Socket {
  if (!tls) return connectPlain({ host, port })
  // The certificate is judged when the connection is there (refusedCertificate).
  return connectTls({ host, port, servername: host, rejectUnauthorized: false, ...(tls.ca !== null && { ca: tls.ca }) })
}

export const namesBy = (called: (variable: string) => string): SettingNames => ({
  address: called('HERALD_SMPP_URL'),
  login: `system_id and password in ${called('HERALD_SMPP_URL')}`,
  ca: called('HERALD_SMPP_CA_FILE'),
  tls: null,
})
const NAMES = namesBy(variable => variable)
const peerOf = ({ host, port, names }: ConnectionOptions): Peer => ({ host, port, names: names ?? NAMES })

function decode(frame: Buffer): Pdu | null {
  try {
    return new smpp.PDU(frame)
  } catch {
    return null // the package throws on fields that run over the end
  }
}
