// What the reply of a provider means for a person, as a table: the first rule that matches counts. Above a rule are real replies.
import type { Channel } from '../channels/plain.ts'

/** `is`: what happened. `advice`: what to do. */
export type Meaning = { name: string; is: string; advice: string }

type Rule = Meaning & { words: RegExp; channel?: Channel }

const LATER = 'send again later or use another channel'
const RULES: readonly Rule[] = [
  // 454 Throttling failure / Throttled (0x00000058) / 20429 / daily quota
  {
    name: 'rate limit',
    words:
      /throttl|rate limit|rate used up|too many (?:requests|messages|connections)|rate exceeded|(?:daily|sending|message) .{0,20}quota|queue full|\b429\b/i,
    is: 'The provider limits how much it takes at the moment',
    advice: 'send again later, or ask the operator to raise the quota with the provider',
  },
  // 452 4.2.2 Mailbox full / 552 5.2.2 over quota / soft-bounce mailbox-full
  {
    name: 'mailbox full',
    words: /\b[45]\.2\.2\b|mailbox-full|mailbox (?:is )?full|over ?quota|quota exceeded|exceeded .{0,20}quota/i,
    is: "Mailbox full at the recipient's provider",
    advice: LATER,
  },
  // 552 5.3.4 Message size exceeds fixed limit / hard-bounce message-too-large
  {
    name: 'message too large',
    words: /\b[45]\.(?:3\.4|2\.3)\b|message-too-large|message size|message (?:is )?too (?:large|long)/i,
    is: 'The message is too large for the recipient',
    advice: 'send a shorter one, with smaller files or with links instead of files',
  },
  // 552 Exceeded storage allocation
  { name: 'mailbox full', words: /^552(?! 5\.[013-9])/, is: "Mailbox full at the recipient's provider", advice: LATER },
  // 452 4.3.1 Insufficient system storage
  {
    name: 'no storage',
    words: /\b4\.3\.1\b|^452(?! 4\.[02-9])|insufficient (?:system )?storage/i,
    is: 'No room at the moment on the mail server of the recipient',
    advice: LATER,
  },
  // 454 4.7.0 TLS not available due to local problem
  {
    name: 'no encryption',
    words: /\bTLS\b/,
    is: 'The provider offers no encrypted connection',
    advice: 'ask the operator (herald doctor checks the providers)',
  },
  {
    name: 'login refused',
    words:
      /^53[0-8]\b|authentication|credentials refused|account not (?:active|found)|invalid (?:password|system id)|bind failed/i,
    is: 'The provider does not accept the credentials of this installation',
    advice: 'ask the operator to correct them',
  },
  // 450 4.2.0 Recipient address rejected: Greylisted / 451 4.7.1 Greylisting in action
  {
    name: 'greylisted',
    words: /grey-?list|gray-?list|^4\d\d 4\.7\.\d/i,
    is: 'The mail server of the recipient asks unknown senders to try again (greylisting)',
    advice: LATER,
  },
  // soft-bounce attachment-rejected
  {
    name: 'attachment rejected',
    words: /attachment-rejected|attachment|file type/i,
    is: "The recipient's provider rejects one of the files",
    advice: 'send it as a link or in another format',
  },
  // 550 5.7.1 Message rejected as spam by Content Filtering / hard-bounce content-rejected
  {
    name: 'content rejected',
    words: /content-rejected|\bspam\b|\bjunk\b|\b5\.6\.\d/i,
    is: "The recipient's provider rejects the content as unwanted",
    advice: 'change the text or the links of the template and send again',
  },
  // 21610 Phone number is opted out
  {
    name: 'opted out',
    words: /opted[ -]out/i,
    is: 'The recipient has opted out of text messages from this number',
    advice: 'use another channel; only the recipient can opt in again',
  },
  // 30007 carrier filtered / 30034 sender not registered
  {
    name: 'sender not accepted',
    words:
      /sender (?:is )?not (?:registered|verified|provisioned|enabled)|invalid sender|\bsender address rejected\b|not verified/i,
    is: 'The provider does not accept this sender',
    advice: 'ask the operator to register the sender with the provider',
  },
  // suppression list / carrier filtered / 550 5.7.1 Relay access denied
  {
    name: 'blocked',
    words: /\bblocked\b|suppress|carrier filtered|code filtered|\b5\.7\.\d|block ?list/i,
    is: "Blocked by the recipient's provider or by a block list",
    advice: 'use another channel; if many messages are blocked, ask the operator',
    channel: 'email',
  },
  {
    name: 'blocked',
    words: /\bblocked\b|carrier filtered|code filtered/i,
    is: 'Blocked by the carrier',
    advice: 'use another channel; if many messages are blocked, ask the operator',
    channel: 'sms',
  },
  // 550 5.2.1 The email account is inactive
  {
    name: 'mailbox inactive',
    words: /\b5\.2\.1\b|account .{0,30}(?:inactive|disabled)|mailbox .{0,12}(?:inactive|disabled)/i,
    is: 'The mailbox is not in use any more',
    advice: 'ask the recipient for another address',
  },
  // 550 5.1.2 Host unknown / 556 5.1.10 nullMX
  {
    name: 'domain unknown',
    words: /\b5\.1\.(?:2|10)\b|nullmx|domain .{0,40}(?:not found|does not accept)/i,
    is: 'The domain of the address does not exist or takes no mail',
    advice: 'check the address for a typing mistake',
  },
  // 550 5.1.1 User unknown / hard-bounce no-email / 550 Unrouteable address
  {
    name: 'unknown address',
    words:
      /\b5\.1\.\d\b|no-email|user unknown|unknown user|no such (?:user|mailbox|address|recipient)|unrouteable|does(?:n't| not) (?:exist|have)/i,
    is: "There is no such address at the recipient's provider",
    advice: 'check the address for a typing mistake, or ask the recipient for another one',
    channel: 'email',
  },
  // 21211 Invalid phone number / 21614 Not a mobile phone number / invalid number / 0x0000000b
  {
    name: 'invalid number',
    words:
      /invalid (?:phone )?number|not a mobile|invalid destination|phone number is missing|no route to this phone|no-number|unknown subscriber/i,
    is: 'The number does not exist or cannot receive text messages',
    advice: 'check the number, or use another channel',
    channel: 'sms',
  },
  // phone unreachable / absent subscriber / expired
  {
    name: 'phone unreachable',
    words: /unreachable|absent|switched off phone|\bexpired\b/i,
    is: 'The phone could not be reached in time',
    advice: LATER,
    channel: 'sms',
  },
  {
    name: 'carrier problem',
    words: /\bcarrier\b|segment missing|price cap|queue overflow|undeliver/i,
    is: 'The carrier could not deliver the message',
    advice: LATER,
    channel: 'sms',
  },
  {
    name: 'no provider',
    words: /no provider is up/i,
    is: 'No provider of this channel answers',
    advice: 'ask the operator (herald doctor shows which provider is down)',
  },
  {
    name: 'host not found',
    words: /host not found|ENOTFOUND|EAI_AGAIN|was not found/i,
    is: 'The name of the provider could not be resolved (DNS)',
    advice: 'ask the operator (herald doctor checks the providers)',
  },
  {
    name: 'connection refused',
    words: /connection refused|TLS connection|ECONNREFUSED|not bound|no connection/i,
    is: 'The provider refused the connection',
    advice: 'ask the operator (herald doctor checks the providers)',
  },
  {
    name: 'no answer',
    words: /in time|timed? ?out|ETIMEDOUT/i,
    is: 'The provider did not answer in time',
    advice: 'send again later; if it lasts, ask the operator',
  },
  {
    name: 'connection lost',
    words: /connection lost|line broken|ECONNRESET|EPIPE|connection/i,
    is: 'The connection to the provider was lost',
    advice: 'send again later; if it lasts, ask the operator',
  },
  {
    name: 'provider restarting',
    words: /^stopping$|being stopped/i,
    is: 'Herald was being restarted',
    advice: 'send again',
  },
  {
    name: 'no scan result',
    words: /no scan result|virus scan gave no verdict/i,
    is: 'The virus scanner gave no result for the files',
    advice: 'ask the operator to check the scanner, then send again',
  },
  {
    name: 'files not available',
    words: /files (?:not available|cannot be read)|a file (?:is not there any more|was not scanned)/i,
    is: 'The files of the message could not be read',
    advice: 'send again with the files',
  },
  {
    name: 'service not active',
    words: /service is not active/i,
    is: 'The service was suspended or archived when the message was due',
    advice: 'ask the operator to make it active, then send again',
  },
  {
    name: 'channel off',
    words: /channel is switched off/i,
    is: 'This channel is switched off in this installation',
    advice: 'use another channel, or ask the operator',
  },
  {
    name: 'empty message',
    words: /empty message|message is empty/i,
    is: 'The message has no text with these values',
    advice: 'check the template and the values, then send again',
  },
  {
    name: 'set aside',
    words: /set aside after repeated faults/i,
    is: 'Herald failed on the message repeatedly',
    advice: 'ask the operator to look at the log; it names the message',
  },
  // 550 5.4.1 Access denied / 5xx without an enhanced code
  {
    name: 'rejected',
    words: /^5\d\d\b|hard-bounce|\b5\.\d\.\d/i,
    is: "The recipient's provider rejects the message",
    advice: 'check the address, or use another channel',
    channel: 'email',
  },
  // 451 4.3.0 Error: queue file write error
  {
    name: 'temporary problem',
    words: /^4\d\d\b|soft-bounce|\b4\.\d\.\d|delayed/i,
    is: "The recipient's provider has a temporary problem",
    advice: LATER,
    channel: 'email',
  },
  {
    name: 'temporary problem',
    words: /provider answered 5|system error|temporary problem|submit failed|delivery failed|unknown error \(0x/i,
    is: 'The provider has a problem of its own',
    advice: 'send again later; if it lasts, ask the operator',
  },
]

/** The meaning of the texts about a failure: our class, and the reply if there is one. Null: none that is known. */
export function meaningOf(channel: Channel, ...texts: readonly (string | null)[]): Meaning | null {
  for (const text of texts) {
    const rule = text && RULES.find(one => (one.channel ?? channel) === channel && one.words.test(text))
    if (rule) return { name: rule.name, is: rule.is, advice: rule.advice }
  }
  return null
}
