// A connection to a relay: writes bytes, reads whole replies, and reports once why it ended.
import { isIPv6, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { type Trouble, troubleOf } from '../../unreachable.ts'
import type { Relay } from '../relay.ts'
import { createReplyReader } from './reply.ts'
import { addressesOf } from './resolve.ts'
import { encrypt } from './tls.ts'

export type Listener = {
  /** One whole reply, one character per octet (see reply.ts). */
  onReply(reply: string): void
  /** Called once, but not after `close`. `trouble`: what the system or TLS said. */
  onEnded(problem: string, trouble?: Trouble): void
}

export type Connection = {
  /** Replies and the end are reported here from now on. */
  listen(listener: Listener): void
  connect(done: () => void): void
  /** Starts TLS. Fails if the server sent more before it: those bytes may come from an attacker (RFC 3207, 6). */
  secure(done: () => void): void
  isSecure(): boolean
  isOpen(): boolean
  /** Writes a string with one character per octet. */
  write(octets: string, onWritten?: () => void): void
  /** Writes part of something large; `onWritten` is called when the system has taken it. */
  writePiece(octets: Buffer, onWritten: () => void): void
  /**
   * Everything written until the matching `uncork` is sent with one system call, and so is everything that is written while the
   * replies of one packet are reported.
   */
  cork(): void
  uncork(): void
  /** Closes it and reports the problem. */
  end(problem: string, trouble?: Trouble): void
  close(): void
}

const KEEP_ALIVE_MS = 30_000
/** Replies to several messages; what does not fit is read in the next turn. */
const READ_BYTES = 16_384

export function createConnection(relay: Relay, first: Listener): Connection {
  let listener = first
  let socket: Socket | null = null
  let isSecure = false
  let isClosed = false
  let corks = 0
  let corked = ''
  let onCorkedWritten: (() => void) | undefined
  const reader = createReplyReader()
  // Reused for every read: Node would otherwise allocate 64 KB for each.
  const arrived = Buffer.allocUnsafeSlow(READ_BYTES)

  function close() {
    isClosed = true
    socket?.destroy()
  }

  function end(problem: string, trouble?: Trouble) {
    if (isClosed) return
    close()
    listener.onEnded(problem, trouble)
  }

  function read(octets: string) {
    cork()
    reader.feed(octets)
    for (let reply = reader.next(); reply !== null && !isClosed; reply = reader.next()) listener.onReply(reply)
    const violation = reader.violation()
    if (violation !== null) end(violation)
    uncork()
  }

  function write(octets: string, onWritten?: () => void) {
    if (corks === 0) return void socket?.write(octets, 'latin1', onWritten)
    corked += octets
    onCorkedWritten = onWritten ?? onCorkedWritten
  }

  function cork() {
    corks += 1
  }

  function uncork() {
    corks -= 1
    if (corks === 0) flush()
  }

  function flush() {
    const [octets, onWritten] = [corked, onCorkedWritten]
    corked = ''
    onCorkedWritten = undefined
    if (octets !== '' && !isClosed) socket?.write(octets, 'latin1', onWritten)
  }

  /** From now on this socket is used: the TCP one, or TLS over it. */
  function use(opened: Socket) {
    socket = opened
    socket.on('error', onBroken)
    socket.on('close', onBroken)
    socket.on('end', onClosed)
  }

  const onBroken = () => end('The connection broke', { code: 'closed' })
  const onClosed = () => end('The provider closed the connection', { code: 'closed' })

  async function connect(done: () => void) {
    const addresses = await addressesOf(relay)
    if (isClosed) return
    if (addresses.length === 0) return end('The name of the provider was not found', { code: 'ENOTFOUND' })
    const onread = {
      buffer: arrived,
      callback: (length: number) => {
        read(arrived.toString('latin1', 0, length))
        return true
      },
    }
    const opened = netConnect({ host: relay.host, port: relay.port, ...attempts(relay, addresses), onread })
    socket = opened
    const failed = (error: Error) => end('No connection to the provider', troubleOf(error))
    opened.on('error', failed)
    opened.once('connect', () => {
      opened.off('error', failed)
      opened.setNoDelay(true)
      opened.setKeepAlive(true, KEEP_ALIVE_MS)
      use(opened)
      done()
    })
  }

  function secure(done: () => void) {
    const plain = socket
    if (!plain || isClosed) return
    if (reader.hasUnread()) return end('No TLS connection to the provider')
    plain.off('end', onClosed).off('close', onBroken).off('error', onBroken)
    plain.on('error', () => {}) // the TLS socket reports it
    encrypt(plain, relay, result => {
      if (isClosed) return
      if (!result.socket) return end('No TLS connection to the provider', result.trouble)
      const encrypted = result.socket
      isSecure = true
      use(encrypted)
      // TLS over a socket cannot read into a buffer of ours.
      encrypted.on('data', (octets: Buffer) => read(octets.toString('latin1')))
      done()
    })
  }

  return {
    listen(next) {
      listener = next
    },
    connect: done => void connect(done),
    secure,
    isSecure: () => isSecure,
    isOpen: () => !isClosed,
    write,
    writePiece(octets, onWritten) {
      flush()
      socket?.write(octets, onWritten)
    },
    cork,
    uncork,
    end,
    close,
  }
}

/** How to try several addresses: in random order, to spread connections over them, IPv6 and IPv4 alternating (RFC 8305). */
function attempts(relay: Relay, addresses: readonly string[]) {
  const shuffled = addresses.map(address => ({ address, order: Math.random() })).sort((a, b) => a.order - b.order)
  const all = shuffled
    .map(({ address }) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    .sort((a, b) => b.family - a.family)
  const lookup: LookupFunction = (_host, options, found) => {
    if (options.all) return found(null, all)
    found(null, all[0]?.address ?? '', all[0]?.family)
  }
  // Node's default of 250 ms per address is for an address family that does not work. Addresses of one family get more.
  const isOneFamily = all.every(({ family }) => family === all[0]?.family)
  const share = Math.max(10, Math.floor((relay.connectSeconds * 1000) / all.length))
  return { lookup, autoSelectFamily: true, ...(isOneFamily && { autoSelectFamilyAttemptTimeout: share }) }
}
