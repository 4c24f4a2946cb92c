// Messages over one open connection. Where the server offers PIPELINING (RFC 2920) the commands of a message are one write,
// and those of the next message are written together with the end of this one's data. The session always knows whether the
// end of a message's data was written, because only then can the server have accepted it.
import { crashPoint } from '../../telemetry/crash.ts'
import type { Connection } from './client/connection.ts'
import { NO_ANSWER, OUT_OF_TURN } from './client/dialogue.ts'
import { type Envelope, unfit } from './client/envelope.ts'
import type { Extensions } from './client/extensions.ts'
import { openConnection } from './client/handshake.ts'
import { decoded } from './client/reply.ts'
import { afterReply, begin, broken, type Transaction } from './client/transaction.ts'
import type { Relay } from './relay.ts'
import type { Fault } from './replies.ts'

export type SentMail = { ok: true; reply: string } | { ok: false; fault: Fault }

export type Session = {
  /** How many messages it has carried. */
  carried(): number
  isOpen(): boolean
  /** Whether a message is in progress. */
  isBusy(): boolean
  /**
   * Sends one message. The next one may be started when this one is settled, or inside `onEnd`, which is called when the end of
   * the data is written. `data` has CRLF line ends only, and is ASCII unless the envelope says utf8.
   */
  transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<SentMail>
  quit(): void
  destroy(): void
}

export type OpenedSession = { ok: true; session: Session } | { ok: false; fault: Fault }

/** `onClosed` is called once when a session that had been opened ends, for any reason. */
export async function open(relay: Relay, onClosed: () => void, giveUp: AbortSignal): Promise<OpenedSession> {
  const opened = await openConnection(relay, giveUp)
  if (!opened.ok) return opened
  return { ok: true, session: createSession(opened.connection, opened.extensions, relay.replySeconds, onClosed) }
}

/** A message in progress and what waits for its result. */
type Underway = {
  transaction: Transaction
  envelope: Envelope
  data: string
  onEnd: (() => void) | undefined
  resolve(sent: SentMail): void
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
  /** The last message was refused, so RSET is needed before the next. */
  let isUnfinished = false
  let isQuitting = false
  /** At most two, in the order of their replies: the commands of the second were sent behind the data of the first. */
  const underway: Underway[] = []
  let mayFollow = false

  const deadline = setTimeout(() => {
    if (underway.length > 0 || isQuitting) end(NO_ANSWER)
  }, replySeconds * 1000)
  deadline.unref()
  connection.listen({ onReply, onEnded: end })
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

  function onReply(reply: string) {
    const current = underway[0]
    if (isQuitting && !current) return end('We said goodbye')
    // A server that closes (421), or one whose replies are out of step.
    if (!current) return end(OUT_OF_TURN, decoded(reply))
    const { transaction } = current
    const next = afterReply(transaction, reply, pipelining)
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
      case 'untrusted':
        isUnfinished = true
        if (transaction.fault) settle(current, { ok: false, fault: transaction.fault })
        if (next !== 'refused') end('The provider is closing')
    }
  }

  function settle(current: Underway, sent: SentMail) {
    underway.shift()
    if (underway.length > 0) deadline.refresh()
    current.resolve(sent)
  }

  function write(text: string, { envelope }: Underway) {
    deadline.refresh()
    connection.write(text, envelope.utf8 ? 'utf8' : 'latin1')
  }

  function transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<SentMail> {
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
      // Also behind another message: it may still be refused.
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
    // In pieces, each with a new timeout, so that a slow connection does not time out. The end is written after the last piece.
    const octets = Buffer.from(stuffed, encoding)
    const next = (from: number) => {
      if (isClosed) return
      if (from >= octets.length) return writeEnd(current, '.\r\n')
      deadline.refresh()
      connection.write(octets.subarray(from, from + PIECE), encoding, () => next(from + PIECE))
    }
    next(0)
  }

  /** Writes the end of the data, in one system call with the commands of the next message if one waits. */
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
