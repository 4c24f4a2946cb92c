// One open connection and the messages it carries. Where the server offers PIPELINING (RFC 2920) an envelope is one write,
// and that of the next message leaves with the end of this one's data. It is known exactly whether an end of data was written.
import { crashPoint } from '../../telemetry/crash.ts'
import type { Connection } from './client/connection.ts'
import { NO_ANSWER, OUT_OF_TURN } from './client/dialogue.ts'
import { type Envelope, unfit } from './client/envelope.ts'
import type { Extensions } from './client/extensions.ts'
import { openConnection } from './client/handshake.ts'
import { decoded } from './client/reply.ts'
import { begin, broken, heard, type Transaction } from './client/transaction.ts'
import type { Relay } from './relay.ts'
import type { Fault } from './replies.ts'

export type { Envelope, Relay }
export { NO_ANSWER }

export type Sent = { ok: true; reply: string } | { ok: false; fault: Fault }

export type Session = {
  /** How many messages it has carried. */
  carried(): number
  isOpen(): boolean
  /** Whether a message is under way. */
  isBusy(): boolean
  /**
   * One at a time; only while `onEnd` is called, with the end of the data, the next may be begun. `data` is ASCII unless the
   * envelope says utf8, with CRLF line ends only.
   */
  transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<Sent>
  quit(): void
  destroy(): void
}

export type Opened = { ok: true; session: Session } | { ok: false; fault: Fault }

/** `onClosed` is called once when a session that had been opened ends, whoever ended it. */
export async function open(relay: Relay, onClosed: () => void, giveUp: AbortSignal): Promise<Opened> {
  const opened = await openConnection(relay, giveUp)
  if (!opened.ok) return opened
  return { ok: true, session: createSession(opened.connection, opened.extensions, relay.replySeconds, onClosed) }
}

/** A message under way, and who waits for what becomes of it. */
type Underway = {
  transaction: Transaction
  envelope: Envelope
  data: string
  onEnd: (() => void) | undefined
  resolve(sent: Sent): void
}

function createSession(
  connection: Connection,
  extensions: Extensions,
  replySeconds: number,
  onClosed: () => void,
): Session {
  const { pipelining } = extensions
  let carried = 0
  let isClosed = false
  /** A refused message must be reset before the next begins. */
  let isUnfinished = false
  let isQuitting = false
  /** In the order of the replies to come. The envelope of the second has been sent behind the data of the first. */
  const underway: Underway[] = []
  let mayFollow = false

  const deadline = setTimeout(() => {
    if (underway.length > 0 || isQuitting) end(NO_ANSWER)
  }, replySeconds * 1000)
  deadline.unref()
  connection.listen({ hear, ended: end })
  if (!connection.isOpen()) queueMicrotask(() => end('The connection broke'))

  function end(problem: string, reply: string | null = null) {
    if (isClosed) return
    isClosed = true
    clearTimeout(deadline)
    connection.close()
    underway.splice(0).forEach(({ transaction, resolve }, at) => {
      resolve({ ok: false, fault: broken(transaction, at === 0 ? reply : null, problem) })
    })
    onClosed()
  }

  function hear(reply: string) {
    const current = underway[0]
    if (isQuitting && !current) return end('We said goodbye')
    // A server that closes (421), or one that has lost the thread.
    if (!current) return end(OUT_OF_TURN, decoded(reply))
    const { transaction } = current
    const next = heard(transaction, reply, pipelining)
    switch (next) {
      case 'wait':
        return
      case 'command':
        return write(`${transaction.commands[transaction.answered]}\r\n`, current)
      case 'data':
        isUnfinished = false
        return transfer(current)
      case 'accepted':
        isUnfinished = false
        return settle(current, { ok: true, reply: decoded(reply) })
      case 'refused':
      case 'refused-closing':
      case 'mistrusted':
        isUnfinished = true
        if (transaction.fault) settle(current, { ok: false, fault: transaction.fault })
        if (next !== 'refused') end('The provider is closing')
    }
  }

  function settle(current: Underway, sent: Sent) {
    underway.shift()
    if (underway.length > 0) deadline.refresh()
    current.resolve(sent)
  }

  function write(text: string, { envelope }: Underway) {
    deadline.refresh()
    connection.write(text, envelope.utf8 ? 'utf8' : 'latin1')
  }

  function transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<Sent> {
    return new Promise(resolve => {
      if (isClosed || isQuitting || (underway.length > 0 && !mayFollow)) {
        const problem = isClosed ? 'The connection is closed' : 'The connection is busy'
        return resolve({ ok: false, fault: { stage: 'mail', reply: null, problem } })
      }
      const size = envelope.utf8 ? Buffer.byteLength(data) : data.length
      const problem = unfit(envelope, size, extensions)
      if (problem) return resolve({ ok: false, fault: { stage: 'mail', reply: null, problem, refused: true } })
      carried += 1
      mayFollow = false
      // Behind another message, too: it is not known yet what becomes of that.
      const transaction = begin(envelope, size, extensions, isUnfinished || underway.length > 0)
      const current = { transaction, envelope, data, onEnd, resolve }
      underway.push(current)
      const commands = pipelining ? transaction.commands.join('\r\n') : transaction.commands[0]
      write(`${commands}\r\n`, current)
    })
  }

  function transfer(current: Underway) {
    const { envelope, data } = current
    const stuffed = data.includes('\r\n.') ? data.replaceAll('\r\n.', '\r\n..') : data
    const encoding = envelope.utf8 ? 'utf8' : 'latin1'
    if (stuffed.length <= PIECE) return writeEnd(current, `${stuffed}.\r\n`)
    // In pieces, so that a slow connection is not taken for a dead one; the end is written only when the rest has left.
    const octets = Buffer.from(stuffed, encoding)
    const next = (from: number) => {
      if (isClosed) return
      if (from >= octets.length) return writeEnd(current, '.\r\n')
      deadline.refresh()
      connection.write(octets.subarray(from, from + PIECE), encoding, () => next(from + PIECE))
    }
    next(0)
  }

  /** The end of the data, and with the same system call the next message's envelope if there is one. */
  function writeEnd(current: Underway, last: string) {
    current.transaction.isEnded = true
    deadline.refresh()
    connection.cork()
    connection.write(last, current.envelope.utf8 ? 'utf8' : 'latin1', afterEndOfData)
    mayFollow = pipelining
    if (mayFollow) current.onEnd?.()
    mayFollow = false
    connection.uncork()
  }

  return {
    carried: () => carried,
    isOpen: () => !isClosed,
    isBusy: () => underway.length > 0 || isQuitting,
    transact,
    quit() {
      if (isClosed) return
      isQuitting = true
      deadline.refresh()
      connection.write('QUIT\r\n', 'latin1')
      setTimeout(() => end('We said goodbye'), GOODBYE_MS).unref()
    },
    destroy: () => end('We closed the connection'),
  }
}

const afterEndOfData = () => crashPoint('after-end-of-data', () => [])

const PIECE = 65_536
const GOODBYE_MS = 1_000
