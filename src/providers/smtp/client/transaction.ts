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
  /** The server took DATA although it refused the recipient. */
  | 'untrusted'

/** `isReset`: begin with RSET, because an earlier message was or may be refused. */
export function begin(envelope: Envelope, size: number, extensions: Extensions, isReset: boolean): Transaction {
  const commands = [mailCommand(envelope, size, extensions), `RCPT TO:<${envelope.to}>`, 'DATA']
  if (isReset) commands.unshift('RSET')
  return { commands, stages: isReset ? AFTER_RESET : STAGES, answered: 0, fault: null, isEnded: false }
}

const STAGES: readonly Stage[] = ['mail', 'rcpt', 'data']
const AFTER_RESET: readonly Stage[] = ['mail', ...STAGES]

export function afterReply(transaction: Transaction, reply: string, isPipelined: boolean): Next {
  const stage = transaction.stages[transaction.answered]
  if (stage === undefined) return afterEnd(transaction, reply)
  transaction.answered += 1
  const isExpected = stage === 'data' ? isGoAhead(reply) : isPositive(reply)
  if (!isExpected) transaction.fault ??= refusal(stage, reply)
  if (!transaction.fault) return stage === 'data' ? 'data' : isPipelined ? 'wait' : 'command'
  if (isClosing(reply)) return 'refused-closing'
  // The replies to the other commands are still to come.
  if (isPipelined && stage !== 'data') return 'wait'
  // RFC 2920, 3.1 would have us send an empty message. A server that does this is not trusted: nothing is sent.
  if (isPipelined && isGoAhead(reply)) return 'untrusted'
  return ending(transaction.fault)
}

function afterEnd(transaction: Transaction, reply: string): Next {
  if (isPositive(reply)) return 'accepted'
  transaction.fault = { ...refusal('end', reply), ended: true }
  return isClosing(reply) ? 'refused-closing' : ending(transaction.fault)
}

const isGoAhead = (reply: string) => reply.startsWith('354')

const refusal = (stage: Stage, reply: string): Fault => ({
  stage,
  reply: decoded(reply),
  problem: 'The provider refused the message',
})

/** After any reply but 4xx or 5xx it is not known which state the server is in. */
const ending = ({ reply }: Fault): Next => (/^[45]/.test(reply ?? '') ? 'refused' : 'refused-closing')

/** The fault of a message whose connection broke. A refusal that came before stays the reason. */
export function broken(
  { fault, isEnded, stages, answered }: Transaction,
  reply: string | null,
  problem: string,
): Fault {
  if (fault) return fault
  if (isEnded) return { stage: 'end', reply, problem, ended: true }
  return { stage: stages[answered] ?? 'end', reply, problem }
}
