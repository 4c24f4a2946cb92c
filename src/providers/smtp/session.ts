// Messages over one open connection, with as few writes as the server allows. Where it offers PIPELINING (RFC 2920) the commands of a
// message are one write, and those of the next message are written together with the end of this one's data. Where it also offers
// CHUNKING (RFC 3030) the content goes with the commands, and several messages may be in flight. The session always knows whether
// the end of a message's data was written, because only then can the server have accepted it.
import { crashPoint } from '../../telemetry/crash.ts'
import type { Connection } from './client/connection.ts'
import { NO_ANSWER, OUT_OF_TURN } from './client/dialogue.ts'
import { type Envelope, unfit } from './client/envelope.ts'
import type { Extensions } from './client/extensions.ts'
import { openConnection } from './client/handshake.ts'
import { byteString, decoded, isClosing } from './client/reply.ts'
import { afterReply, begin, broken, type Transaction } from './client/transaction.ts'
import { base64Pieces, type Content, sizeOf } from './content.ts'
import type { Relay } from './relay.ts'
import type { Fault } from './replies.ts'

/** `isRecalled`: the content was not written, because the message had been recalled. */
export type SentMail = { ok: true; reply: string } | { ok: false; fault: Fault; isRecalled?: true }

export type Mail = {
  envelope: Envelope
  /** The whole message, one character per octet in texts, with CRLF line ends only. Files may be gone once it is sent or has failed. */
  data: Content
  /** Asked when the server is ready for the content. True: the connection is closed instead, so nothing of the message arrives. */
  isRecalled?(): boolean
}

export type Listener = {
  /** The end of the data is written. If the session has room, the next message may be started here, to be part of the same write. */
  onEnd?(): void
  /** Called once, and never before `transact` returns. */
  onSent(sent: SentMail): void
}

export type Session = {
  /** How many messages it has carried. */
  carried(): number
  isOpen(): boolean
  /** Whether a message is in progress. */
  isBusy(): boolean
  /** Whether a message may be started. */
  hasRoom(): boolean
  /** Whether the server takes the content with the envelope. */
  hasChunks(): boolean
  transact(mail: Mail, listener: Listener): void
  quit(): void
  destroy(): void
}

export type OpenedSession = { ok: true; session: Session } | { ok: false; fault: Fault }

export type SessionOptions = {
  /** Called once when a session that had been opened ends, for any reason. */
  onClosed(): void
  /** Whether BDAT may be used where the server offers it. */
  mayChunk(): boolean
}

export async function open(relay: Relay, options: SessionOptions, giveUp: AbortSignal): Promise<OpenedSession> {
  const opened = await openConnection(relay, giveUp)
  if (!opened.ok) return opened
  return { ok: true, session: createSession(opened.connection, opened.extensions, relay.replySeconds, options) }
}

/** A message in progress and what waits for its result. */
type Underway = { transaction: Transaction; mail: Mail; listener: Listener }

function createSession(
  connection: Connection,
  extensions: Extensions,
  replySeconds: number,
  { onClosed, mayChunk }: SessionOptions,
): Session {
  const { pipelining } = extensions
  const hasChunks = pipelining && extensions.chunking
  let carried = 0
  let isClosed = false
  /** The last message was refused, so RSET is needed before the next. */
  let isUnfinished = false
  let isQuitting = false
  /** In the order of their replies. Only the last one may be without an end of data. */
  const underway: Underway[] = []
  let settledAt = performance.now()

  const deadline = setTimeout(() => {
    if (underway.length > 0 || isQuitting) end(NO_ANSWER)
  }, replySeconds * 1000)
  deadline.unref()
  connection.listen({ onReply, onEnded: problem => end(problem) })
  if (!connection.isOpen()) queueMicrotask(() => end('The connection broke'))

  /** `isUnread`: the server has closed the connection (421), so it has not read the messages that are still in progress. */
  function end(problem: string, isUnread = false) {
    if (isClosed) return
    isClosed = true
    clearTimeout(deadline)
    connection.close()
    for (const { transaction, listener } of underway.splice(0))
      listener.onSent({ ok: false, fault: broken(transaction, null, problem, isUnread) })
    onClosed()
  }

  function onReply(reply: string) {
    const current = underway[0]
    if (isQuitting && !current) return end('We said goodbye')
    // A server that closes (421), or one whose replies are out of step.
    if (!current) return end(OUT_OF_TURN)
    const { transaction } = current
    const isCutShort = isTransferring(transaction)
    const next = afterReply(transaction, reply, pipelining)
    // The rest of the content is not written, so the connection cannot be used for another message.
    if (isCutShort) {
      underway.shift()
      end(OUT_OF_TURN, isClosing(reply))
      const fault = next === 'accepted' ? broken(transaction, null, OUT_OF_TURN) : null
      return current.listener.onSent(fault ? { ok: false, fault } : refused(transaction))
    }
    switch (next) {
      case 'wait':
        return
      case 'command':
        return write(`${transaction.commands[transaction.answered]}\r\n`, current)
      case 'data':
        isUnfinished = false
        return current.mail.isRecalled?.() ? abandon(current) : transfer(current)
      case 'accepted':
        isUnfinished = false
        return settle(current, { ok: true, reply: decoded(reply) })
      case 'refused':
        isUnfinished = true
        return settle(current, refused(transaction))
      case 'refused-closing':
      case 'untrusted':
        underway.shift()
        // Before the result is reported, so that nothing more is started on this connection.
        end('The provider is closing', isClosing(reply))
        current.listener.onSent(refused(transaction))
    }
  }

  // A server that asks for the content takes nothing but content: only the end of the connection ends the message.
  function abandon(current: Underway) {
    underway.shift()
    end(ABANDONED)
    const fault = broken(current.transaction, null, ABANDONED)
    current.listener.onSent({ ok: false, fault, isRecalled: true })
  }

  function settle(current: Underway, sent: SentMail) {
    underway.shift()
    if (underway.length > 0) deadline.refresh()
    else settledAt = performance.now()
    current.listener.onSent(sent)
  }

  function write(text: string, { mail }: Underway) {
    deadline.refresh()
    connection.write(mail.envelope.utf8 ? byteString(text) : text)
  }

  function hasRoom(): boolean {
    if (isClosed || isQuitting) return false
    const last = underway.at(-1)
    return !last || (pipelining && last.transaction.isEnded && underway.length < MOST_IN_FLIGHT)
  }

  function transact(mail: Mail, listener: Listener) {
    const { envelope, data } = mail
    const fault = unable(mail)
    if (fault) return queueMicrotask(() => listener.onSent({ ok: false, fault }))
    carried += 1
    const size = sizeOf(data)
    const chunk = hasChunks && mayChunk() && typeof data === 'string' && size <= PIECE && isSurelyOpen() ? data : null
    // Also behind another message: it may still be refused.
    const isReset = isUnfinished || underway.length > 0
    const transaction = begin(envelope, size, extensions, { isReset, isChunk: chunk !== null })
    const current = { transaction, mail, listener }
    underway.push(current)
    if (!pipelining) return write(`${transaction.commands[0]}\r\n`, current)
    if (chunk === null) return write(`${transaction.commands.join('\r\n')}\r\n`, current)
    connection.cork()
    write(`${transaction.commands.join('\r\n')}\r\n`, current)
    writeEnd(current, chunk)
    connection.uncork()
  }

  function unable({ envelope, data }: Mail): Fault | null {
    const busy = isClosed ? 'The connection is closed' : hasRoom() ? null : 'The connection is busy'
    if (busy) return { stage: 'mail', reply: null, problem: busy }
    const problem = unfit(envelope, sizeOf(data), extensions)
    return problem === null ? null : { stage: 'mail', reply: null, problem, refused: true }
  }

  /**
   * The server may have closed a connection that was idle for long. Sent with the envelope, the content would then be lost without a
   * reply, and the message uncertain; so the envelope goes first, with DATA.
   */
  const isSurelyOpen = () => underway.length > 0 || performance.now() - settledAt < IDLE_MS

  function transfer(current: Underway) {
    const { data } = current.mail
    if (typeof data === 'string' && data.length <= PIECE) return writeEnd(current, `${stuffed(data)}.\r\n`)
    // In pieces, each with a new timeout, so that a slow connection does not time out. The end is written after the last piece.
    const pieces = piecesOf(data)
    const next = () => {
      if (isClosed) return
      const piece = pieces.next()
      if (piece.done) return writeEnd(current, '.\r\n')
      deadline.refresh()
      connection.writePiece(piece.value, next)
    }
    next()
  }

  /** Writes the end of the data, in one system call with the next message if one waits. */
  function writeEnd({ transaction, listener }: Underway, last: string) {
    transaction.isEnded = true
    deadline.refresh()
    connection.cork()
    connection.write(last, afterEndOfData)
    if (hasRoom()) listener.onEnd?.()
    connection.uncork()
  }

  return {
    carried: () => carried,
    isOpen: () => !isClosed,
    isBusy: () => underway.length > 0 || isQuitting,
    hasRoom,
    hasChunks: () => hasChunks,
    transact,
    quit() {
      if (isClosed) return
      isQuitting = true
      deadline.refresh()
      connection.write('QUIT\r\n')
      setTimeout(() => end('We said goodbye'), GOODBYE_MS).unref()
    },
    destroy: () => end('We closed the connection'),
  }
}

/** The server waits for the content, and it is not written whole. */
const isTransferring = ({ answered, stages, isEnded }: Transaction) => answered === stages.length && !isEnded

/** A text begins with a line. A dot at the start of a line is doubled (RFC 5321, 4.5.2). */
function stuffed(text: string): string {
  const rest = text.includes('\r\n.') ? text.replaceAll('\r\n.', '\r\n..') : text
  return rest.startsWith('.') ? `.${rest}` : rest
}

/** A piece is used up when the next one is taken. */
function* piecesOf(data: Content): Generator<Buffer> {
  for (const part of typeof data === 'string' ? [data] : data) {
    if (typeof part !== 'string') yield* base64Pieces(part)
    else {
      const octets = Buffer.from(stuffed(part), 'latin1')
      for (let from = 0; from < octets.length; from += PIECE) yield octets.subarray(from, from + PIECE)
    }
  }
}

const refused = (transaction: Transaction): SentMail => ({
  ok: false,
  fault: broken(transaction, null, 'The provider refused the message'),
})

const afterEndOfData = () => crashPoint('after-end-of-data', () => [])

/** Messages on one connection at the same time: all of them are uncertain if it breaks. Without CHUNKING there are never more than two. */
const MOST_IN_FLIGHT = 4
const IDLE_MS = 1_000
const ABANDONED = 'The message was recalled'
const PIECE = 65_536
const GOODBYE_MS = 1_000
