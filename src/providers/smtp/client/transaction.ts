// One message in progress: the commands it needs, and what each reply means for it. It does not touch the connection.
import type { Fault, Stage } from '../replies.ts'
import { type Envelope, mailCommand } from './envelope.ts'
import type { Extensions } from './extensions.ts'
import { decoded, isClosing, isPositive } from './reply.ts'

export type Transaction = {
  commands: readonly string[]
  stages: readonly Stage[]
  /** How many commands have been answered. */
  answered: number
  fault: Fault | null
  /** The content is sent with the commands, by BDAT. */
  isChunk: boolean
  /** Set when the end of the data is written. */
  isEnded: boolean
}

/** What to do after a reply. */
export type Next =
  /** Wait for the replies to the commands that have been sent. */
  | 'wait'
  /** Send the next command: the server does not take several at once. */
  | 'command'
  | 'data'
  | 'accepted'
  /** Refused; the connection can be used for the next message. */
  | 'refused'
  /** Refused, and the connection cannot be used any more. */
  | 'refused-closing'
  /** The server took the content although it refused the sender or the recipient. */
  | 'untrusted'

/**
 * `isReset`: begin with RSET, because an earlier message was or may be refused. `isChunk`: the content follows the commands at once
 * (RFC 3030), so there is no reply between them.
 */
export function begin(
  envelope: Envelope,
  size: number,
  extensions: Extensions,
  { isReset, isChunk }: { isReset: boolean; isChunk: boolean },
): Transaction {
  const last = isChunk ? `BDAT ${size} LAST` : 'DATA'
  const commands = [mailCommand(envelope, size, extensions), `RCPT TO:<${envelope.to}>`, last]
  if (isReset) commands.unshift('RSET')
  const stages = (isChunk ? CHUNK_STAGES : STAGES)[isReset ? 'afterReset' : 'first']
  return { commands, stages, answered: 0, fault: null, isChunk, isEnded: false }
}

type Stages = { first: readonly Stage[]; afterReset: readonly Stage[] }
const STAGES: Stages = { first: ['mail', 'rcpt', 'data'], afterReset: ['mail', 'mail', 'rcpt', 'data'] }
const CHUNK_STAGES: Stages = { first: ['mail', 'rcpt', 'end'], afterReset: ['mail', 'mail', 'rcpt', 'end'] }

export function afterReply(transaction: Transaction, reply: string, isPipelined: boolean): Next {
  const stage = transaction.stages[transaction.answered]
  if (stage === undefined || (stage === 'end' && !transaction.fault)) return afterEnd(transaction, reply)
  transaction.answered += 1
  const isExpected = stage === 'data' ? isGoAhead(reply) : isPositive(reply)
  if (!isExpected) transaction.fault ??= refusal(stage, reply)
  if (!transaction.fault) return stage === 'data' ? 'data' : isPipelined ? 'wait' : 'command'
  if (isClosing(reply)) return 'refused-closing'
  // The replies to the other commands are still to come.
  if (isPipelined && stage !== 'data' && stage !== 'end') return 'wait'
  // RFC 2920, 3.1 would have us send an empty message. A server that does this is not trusted: nothing is sent.
  if (isPipelined && (stage === 'end' ? isPositive(reply) : isGoAhead(reply))) return 'untrusted'
  return ending(transaction.fault)
}

function afterEnd(transaction: Transaction, reply: string): Next {
  if (isPositive(reply)) return 'accepted'
  const fault = { ...refusal('end', reply), ended: true as const }
  const isUnknown = transaction.isChunk && UNKNOWN_COMMAND.test(reply)
  transaction.fault = isUnknown ? { ...fault, unknownChunk: true } : fault
  // A server that does not know BDAT may have read the content as commands.
  return isClosing(reply) || isUnknown ? 'refused-closing' : ending(transaction.fault)
}

const UNKNOWN_COMMAND = /^50[0-4]/

const isGoAhead = (reply: string) => reply.startsWith('354')

const refusal = (stage: Stage, reply: string): Fault => ({
  stage,
  reply: decoded(reply),
  problem: 'The provider refused the message',
})

/** After any reply but 4xx or 5xx it is not known which state the server is in. */
const ending = ({ reply }: Fault): Next => (/^[45]/.test(reply ?? '') ? 'refused' : 'refused-closing')

/**
 * The fault of a message whose connection broke. A refusal that came before stays the reason. `isUnread`: the server closed the
 * connection at an earlier message, and has not read this one.
 */
export function broken(
  { fault, isEnded, stages, answered }: Transaction,
  reply: string | null,
  problem: string,
  isUnread = false,
): Fault {
  if (fault) return fault
  if (isEnded && !isUnread) return { stage: 'end', reply, problem, ended: true }
  return { stage: stages[answered] ?? 'end', reply, problem }
}
