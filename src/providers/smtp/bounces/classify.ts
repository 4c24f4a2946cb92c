// Maps the status code and diagnosis of a delivery report (RFC 3463) to a result of contract 6.4.
import type { Receipt } from '../../port.ts'

export type Class = Pick<Receipt, 'result' | 'detail'>

type BounceRule = { status: RegExp; words?: RegExp; result: Receipt['result']; detail: string }

// The first rule that matches decides. Each rule has a real diagnosis above it.
const rules: readonly BounceRule[] = [
  // 5.1.1 Amazon SES did not send the message because the address is on the suppression list for your account.
  // 5.0.0 605 Not delivering to previously bounced address
  {
    status: /^5/,
    words: /suppression list|suppressed|previously bounced/i,
    result: 'permanent-failure',
    detail: 'blocked',
  },
  // 552 5.2.2 The email account that you tried to reach is over quota
  // 452 4.2.2 Mailbox full
  { status: /^[45]\.2\.2$/, result: 'temporary-failure', detail: 'soft-bounce mailbox-full' },
  // 554 5.0.0 mailbox full / 550 5.0.0 Quota exceeded
  {
    status: /^[45]\.(?:0|2)\.0$/,
    words: /mailbox (?:is )?full|over ?quota|quota exceeded|exceeded .{0,20}quota/i,
    result: 'temporary-failure',
    detail: 'soft-bounce mailbox-full',
  },
  // 552 5.3.4 Message size exceeds fixed limit
  // 550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient
  { status: /^[45]\.(?:2\.3|3\.4)$/, result: 'temporary-failure', detail: 'soft-bounce message-too-large' },
  // 552-5.7.0 This message was blocked because its content presents a potential security issue (attachment)
  {
    status: /^[45]\.[67]\.\d+$/,
    words: /attachment|file type/i,
    result: 'temporary-failure',
    detail: 'soft-bounce attachment-rejected',
  },
  // 550 5.7.1 Message rejected as spam by Content Filtering
  // 554 5.6.0 message content not allowed
  {
    status: /^[45]\.[07]\.\d+$/,
    words: /spam|junk|content|virus|malware|phish|dmarc|blocked using|blacklist|block ?list/i,
    result: 'temporary-failure',
    detail: 'soft-bounce content-rejected',
  },
  { status: /^[45]\.6\.\d+$/, result: 'temporary-failure', detail: 'soft-bounce content-rejected' },
  // 550 5.1.1 <jo@example.net>: Recipient address rejected: User unknown
  // 550 5.1.2 Host unknown / 556 5.1.10 domain does not accept mail (null MX)
  { status: /^5\.1\.(?:0|1|2|3|6|10)$/, result: 'permanent-failure', detail: 'hard-bounce no-email' },
  // 550 Unrouteable address / 554 delivery error: This user doesn't have an account
  {
    status: /^5\.(?:0|2|4)\.0$/,
    words:
      /user unknown|unknown user|no such (?:user|mailbox|address|recipient)|unrouteable|doesn't have|does not exist|no mailbox here/i,
    result: 'permanent-failure',
    detail: 'hard-bounce no-email',
  },
  // 550 5.4.1 Recipient address rejected: Access denied
  { status: /^5/, result: 'permanent-failure', detail: 'hard-bounce general' },
  // 451 4.4.7 Message expired, last answer: connection timed out
  { status: /^4/, result: 'temporary-failure', detail: 'soft-bounce general' },
]

/** `status` as `5.1.1`, or null if the report has none; then a code in the diagnosis counts. */
export function classify(status: string | null, diagnosis: string): Class {
  const known = specific(status, diagnosis)
  if (known !== null) {
    const rule = rules.find(({ status, words }) => status.test(known) && (words?.test(diagnosis) ?? true))
    if (rule) return { result: rule.result, detail: rule.detail }
  }
  return { result: 'temporary-failure', detail: 'unknown-bounce unknown-bounce-subtype' }
}

/** An unspecific code (x.0.0) is replaced by the code in the diagnosis, if there is one. */
function specific(status: string | null, diagnosis: string): string | null {
  const given = /^\s*([245]\.\d{1,3}\.\d{1,3})\b/.exec(status ?? '')?.[1] ?? null
  if (given !== null && !given.endsWith('.0.0')) return given
  return codeIn(diagnosis, given?.[0]) ?? given
}

/** The first enhanced code in a text (RFC 2034), or a plain reply code as x.0.0. With `family` only codes of that class count. */
export function codeIn(text: string, family?: string): string | null {
  for (const [, code] of text.matchAll(/(?<![\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/g))
    if (code !== undefined && (family === undefined || code.startsWith(family))) return code
  for (const [, code] of text.matchAll(/(?<![\d.@/:-])([45][0-5]\d)(?=[ :-])/g))
    if (code !== undefined && (family === undefined || code.startsWith(family))) return `${code[0]}.0.0`
  return null
}
