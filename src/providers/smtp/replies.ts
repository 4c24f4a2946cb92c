// Translates the reply of an SMTP server, or its absence, into an outcome. The first rule that matches counts; above each
// rule are real replies. An outcome is never "accepted" here.
import { cleanLine } from '../clean.ts'
import type { Outcome } from '../port.ts'

/** How far a message had come. `open`: connecting, greeting, TLS. `login`: authentication. */
export type Stage = 'open' | 'login' | 'mail' | 'rcpt' | 'data' | 'end'

export type Fault = {
  stage: Stage
  /** The server's reply with its codes; null when there was none that could be read. */
  reply: string | null
  /** What happened, in our words. */
  problem: string
  /** The same for operators: with the host, the port and the setting to change. */
  reason?: string
  /** The end of the data had been sent: the server may have accepted the message. */
  ended?: true
  /** The server was not asked, because its EHLO reply excludes this message. */
  refused?: true
  /** The server offers BDAT, but does not know it. It has not taken the message. */
  unknownChunk?: true
}

type ReplyVerdict = 'rejected' | 'deferred' | 'down'
type ReplyRule = { stages: readonly Stage[]; code: RegExp; verdict: ReplyVerdict; permanent?: string }

const BEFORE: readonly Stage[] = ['open', 'login']
const DURING: readonly Stage[] = ['mail', 'rcpt', 'data', 'end']
const AT_RCPT: readonly Stage[] = ['rcpt']
const NOT_RCPT: readonly Stage[] = ['mail', 'data', 'end']
const AFTER_RCPT: readonly Stage[] = ['data', 'end']

// RFC 5321, 4.2; RFC 3463; RFC 4954, 6.
const table: readonly ReplyRule[] = [
  // 554 5.7.1 mx.example.net Service unavailable; client host [192.0.2.1] blocked
  // 421 4.3.2 All server ports are busy
  // 535 5.7.8 Error: authentication failed
  // 454 4.7.0 TLS not available due to local problem
  { stages: BEFORE, code: /./, verdict: 'down' },
  // 530 5.7.0 Must issue a STARTTLS command first
  // 530 5.7.1 Authentication required
  // 535 5.7.8 Authentication credentials invalid
  // 538 5.7.11 Encryption required for requested authentication mechanism
  { stages: DURING, code: /^53[0-8]/, verdict: 'down' },
  // 502 5.5.1 Error: command not implemented
  // 503 5.5.1 Error: need MAIL command
  // The server does not accept our sequence of commands, so the next message would fail, too.
  { stages: DURING, code: /^50[23]/, verdict: 'down' },
  // 421 4.7.0 mx.example.net Error: too many errors
  // 450 4.2.0 <jo@example.net>: Recipient address rejected: Greylisted
  // 451 4.3.0 Error: queue file write error
  // 452 4.3.1 Insufficient system storage
  // 454 Throttling failure: Maximum sending rate exceeded.
  { stages: DURING, code: /^4\d\d/, verdict: 'deferred' },
  // 554 5.7.1 <jo@example.net>: Relay access denied
  // 550 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org
  // 550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required
  { stages: AT_RCPT, code: /^5\d\d[ -]5\.7\.\d/, verdict: 'rejected', permanent: 'blocked' },
  // 550 5.1.1 <jo@example.net>: Recipient address rejected: User unknown in virtual mailbox table
  // 501 5.1.3 Bad recipient address syntax
  // 556 5.1.10 <jo@example.net>: Recipient address rejected: Domain example.net does not accept mail (nullMX)
  // 550 5.2.1 The email account that you tried to reach is inactive
  // 550 Unrouteable address
  { stages: AT_RCPT, code: /^5\d\d/, verdict: 'rejected', permanent: 'hard-bounce no-email' },
  // 552 5.3.4 Message size exceeds fixed limit
  // 550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient
  {
    stages: NOT_RCPT,
    code: /^5\d\d[ -]5\.(?:2\.\d|3\.4(?!\d))/,
    verdict: 'rejected',
    permanent: 'hard-bounce message-too-large',
  },
  // 554 5.6.0 Message content rejected
  // 550 5.7.1 Message rejected as spam by Content Filtering
  // 552-5.7.0 This message was blocked because its content presents a potential security issue
  // At MAIL a 5.7.x is about the sender: the server has not seen the content.
  {
    stages: AFTER_RCPT,
    code: /^5\d\d[ -]5\.[67]\.\d/,
    verdict: 'rejected',
    permanent: 'hard-bounce content-rejected',
  },
  // 553 5.7.1 <notify@example.org>: Sender address rejected: not owned by user
  // 550 5.1.8 <notify@example.org>: Sender address rejected: Domain not found
  // 554 Message rejected: Email address is not verified.
  { stages: NOT_RCPT, code: /^5\d\d/, verdict: 'rejected' },
  // 999 what
  // HTTP/1.1 400 Bad Request
  { stages: DURING, code: /./, verdict: 'down' },
]

export function outcomeOf(fault: Fault): Exclude<Outcome, { kind: 'accepted' }> {
  const { verdict, permanent } = verdictOn(fault)
  const detail = detailOf(fault)
  const reason = fault.reason !== undefined && { reason: fault.reason }
  if (verdict === 'rejected') return { kind: 'rejected', detail, ...(permanent !== undefined && { permanent }) }
  // A 4xx or 5xx after the end of data is a refusal; no reply or an unreadable one leaves it uncertain (rule R8). This message
  // itself may be the cause, so the provider is not marked as down.
  if (fault.ended && !isRefusal(fault.reply)) return { kind: 'deferred', detail, uncertain: true }
  return { kind: 'deferred', detail, ...(verdict === 'down' && { down: true as const }), ...reason }
}

function verdictOn({ stage, reply, refused }: Fault): Pick<ReplyRule, 'verdict' | 'permanent'> {
  if (refused) return { verdict: 'rejected' }
  if (reply === null) return { verdict: 'down' }
  return table.find(rule => rule.stages.includes(stage) && rule.code.test(reply)) ?? { verdict: 'down' }
}

const isRefusal = (reply: string | null) => reply !== null && /^[45]\d\d(?:[ -]|$)/.test(reply)

/** One line for people. The reply to a login is left out, because it may contain the account's name. */
function detailOf({ stage, reply, problem }: Fault): string {
  if (reply === null) return cleaned(problem)
  if (stage === 'login') return cleaned(`${reply.slice(0, 3)} ${problem}`)
  return cleaned(reply) || cleaned(problem)
}

/** Removes the repeated codes of a reply with several lines: "550-5.1.1 The account\n550 5.1.1 does not exist". */
export const cleaned = (text: string): string => cleanLine(text.slice(0, 4_000).replace(/\r?\n\d{3}[ -]/g, ' '))
