import { describe, expect, test } from 'vitest'
import { meaningOf } from './reply.ts'
import { type Facts, sentence } from './sentence.ts'

const NOW = '2026-11-02 14:30:00+00'
const common: Facts = {
  channel: 'email',
  keyType: 'normal',
  status: 'created',
  cause: null,
  provider: 'relay',
  detail: null,
  reply: null,
  response: null,
  attempts: 0,
  uncertain: false,
  isLastLost: false,
  createdAt: '2026-11-02 14:00:00.5+00',
  scheduledFor: null,
  lastAttemptAt: null,
  nextTryAt: null,
  completedAt: null,
  cancelledBy: null,
  isHeld: false,
  now: NOW,
}
const AT = '2026-11-02 14:05:12.123456+00'
const once = { attempts: 1, lastAttemptAt: AT } as const
const four = { attempts: 4, lastAttemptAt: AT } as const
const hard = { ...once, status: 'permanent-failure', cause: 'attempt' } as const
const soft = { ...once, status: 'temporary-failure', cause: 'receipt' } as const
const technical = { ...four, status: 'technical-failure', cause: 'attempt' } as const
const deferred = { ...four, nextTryAt: '2026-11-02 14:35:00+00' } as const
const sms = { channel: 'sms', provider: 'carrier' } as const

const CASES: readonly (readonly [string, Partial<Facts>, string])[] = [
  [
    'just accepted',
    { createdAt: '2026-11-02 14:29:00+00' },
    'Accepted at 14:29 UTC and waiting for its turn; nothing was sent yet; nothing to do.',
  ],
  [
    'accepted long ago',
    {},
    'Accepted at 14:00 UTC and waiting for its turn; nothing was sent yet; if it lasts, ask the operator.',
  ],
  [
    'scheduled',
    { scheduledFor: '2026-11-03 08:00:00+00' },
    'Scheduled for 2026-11-03 08:00 UTC; nothing was sent yet; it can be cancelled until then.',
  ],
  [
    'scheduled, due now',
    { scheduledFor: '2026-11-02 14:29:59+00' },
    'Accepted at 14:00 UTC and waiting for its turn; nothing was sent yet; nothing to do.',
  ],
  [
    'held',
    { isHeld: true },
    'Sending is held by the operator, and goes on after the release; nothing was sent yet; nothing to do.',
  ],
  [
    'held after an attempt',
    { ...deferred, isHeld: true, detail: '451 4.3.0' },
    "The recipient's provider has a temporary problem; tried 4 times until 14:05 UTC; sending is held by the operator, and goes on after the release; nothing to do.",
  ],
  [
    'waits for the scanner',
    { status: 'pending-virus-check' },
    'Its files wait for the virus scanner; the message is sent as soon as they are found clean.',
  ],
  [
    'the scanner does not answer',
    { status: 'pending-virus-check', nextTryAt: '2026-11-02 14:31:00+00' },
    'Its files wait for the virus scanner; next try at 14:31 UTC; the message is sent as soon as they are found clean.',
  ],
  [
    'a virus',
    { status: 'virus-scan-failed', cause: 'scan' },
    'A virus was found in one of its files; the message was not sent; remove the file and send again.',
  ],
  [
    'no scan result within an hour',
    { status: 'technical-failure', cause: 'scan', response: 'The virus scan gave no verdict within an hour' },
    'The virus scanner gave no result for the files; ask the operator to check the scanner, then send again.',
  ],
  [
    'cancelled by a key',
    { status: 'cancelled', cause: 'cancel', completedAt: AT, cancelledBy: 'the key website' },
    'Cancelled by the key website at 14:05 UTC; it was not sent; send again if it is still needed.',
  ],
  [
    'cancelled by somebody',
    { status: 'cancelled', completedAt: '2026-11-01 09:00:00+00' },
    'Cancelled at 2026-11-01 09:00 UTC; it was not sent; send again if it is still needed.',
  ],
  [
    'deferred: mailbox full',
    { ...deferred, detail: '452 4.2.2', reply: '452 4.2.2 The mailbox of jo@example.net is full' },
    "Mailbox full at the recipient's provider; tried 4 times until 14:05 UTC; next try at 14:35 UTC; nothing to do.",
  ],
  [
    'deferred: greylisted',
    {
      ...deferred,
      attempts: 1,
      detail: '450 4.2.0',
      reply: '450 4.2.0 <jo@example.net>: Recipient address rejected: Greylisted',
    },
    'The mail server of the recipient asks unknown senders to try again (greylisting); tried once at 14:05 UTC; next try at 14:35 UTC; nothing to do.',
  ],
  [
    'deferred: greylisted by code',
    { ...deferred, detail: '451 4.7.1' },
    'The mail server of the recipient asks unknown senders to try again (greylisting); tried 4 times until 14:05 UTC; next try at 14:35 UTC; nothing to do.',
  ],
  [
    'deferred: rate limit',
    { ...deferred, detail: '454', reply: '454 Throttling failure: Maximum sending rate exceeded.' },
    'The provider limits how much it takes at the moment; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: quota',
    { ...deferred, detail: '454', reply: '454 Throttling failure: Daily message quota exceeded.' },
    'The provider limits how much it takes at the moment; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: no room',
    { ...deferred, detail: '452 4.3.1' },
    'No room at the moment on the mail server of the recipient; tried 4 times until 14:05 UTC; next try at 14:35 UTC; nothing to do.',
  ],
  [
    'deferred: another problem of the server',
    { ...deferred, detail: '451 4.3.0' },
    "The recipient's provider has a temporary problem; tried 4 times until 14:05 UTC; next try at 14:35 UTC; nothing to do.",
  ],
  [
    'deferred: connection refused',
    { ...deferred, detail: 'connection refused' },
    'The provider refused the connection; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: timeout',
    { ...deferred, detail: 'no answer in time' },
    'The provider did not answer in time; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: DNS',
    { ...deferred, detail: 'host not found' },
    'The name of the provider could not be resolved (DNS); tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: connection lost',
    { ...deferred, detail: 'connection lost' },
    'The connection to the provider was lost; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: all providers are down',
    { ...deferred, provider: null, detail: 'no provider is up' },
    'No provider of this channel answers; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: TLS',
    { ...deferred, detail: '454 4.7.0', reply: '454 4.7.0 TLS not available due to local problem' },
    'The provider offers no encrypted connection; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
  [
    'deferred: something unknown',
    { ...deferred, detail: 'other' },
    'The provider does not take it at the moment; tried 4 times until 14:05 UTC; next try at 14:35 UTC; nothing to do.',
  ],
  [
    'deferred, and due again',
    { ...deferred, detail: 'other', nextTryAt: '2026-11-02 14:29:59+00' },
    'The provider does not take it at the moment; tried 4 times until 14:05 UTC; next try soon; nothing to do.',
  ],
  [
    'uncertain, repeated',
    { ...deferred, attempts: 1, uncertain: true, isLastLost: true, detail: 'connection lost' },
    'It may have been sent: the answer of the provider relay was lost at 14:05 UTC; next try at 14:35 UTC; the recipient may get it twice.',
  ],
  [
    'sending',
    { ...once, status: 'sending', cause: 'attempt' },
    'Accepted by the provider relay at 14:05 UTC; its receipt has not come yet (72 hours at most); nothing to do.',
  ],
  [
    'sending, after an attempt whose answer was lost',
    { ...four, status: 'sending', cause: 'attempt', uncertain: true },
    'Accepted by the provider relay at 14:05 UTC; an earlier attempt may have arrived as well, so the recipient may have it twice; its receipt has not come yet (72 hours at most); nothing to do.',
  ],
  [
    'deferred, after an attempt whose answer was lost',
    { ...deferred, uncertain: true, detail: 'connection refused' },
    'The provider refused the connection; tried 4 times until 14:05 UTC; next try at 14:35 UTC; the recipient may get it twice.',
  ],
  [
    'sending, uncertain',
    { ...once, status: 'sending', cause: 'attempt', uncertain: true, isLastLost: true },
    'It may have been sent: the answer of the provider relay was lost at 14:05 UTC; a receipt may still tell; ask the recipient before you send again.',
  ],
  [
    'pending',
    { ...once, status: 'pending', cause: 'receipt', detail: 'delayed' },
    "Accepted by the provider relay at 14:05 UTC; the recipient's provider has a temporary problem; the provider keeps trying; nothing to do.",
  ],
  [
    'pending without a reason',
    { ...sms, ...once, status: 'pending', cause: 'receipt' },
    'Accepted by the provider carrier at 14:05 UTC; not delivered yet; the provider keeps trying; nothing to do.',
  ],
  [
    'sent abroad',
    { ...sms, ...once, status: 'sent', cause: 'attempt' },
    'Accepted by the provider carrier at 14:05 UTC; for numbers of other countries no receipt is expected, so delivery is not confirmed; nothing to do.',
  ],
  [
    'delivered by receipt',
    { ...once, status: 'delivered', cause: 'receipt', completedAt: '2026-11-02 14:05:20+00' },
    'Delivered at 14:05 UTC, as the provider relay reported; nothing to do.',
  ],
  [
    'delivered without receipts',
    { ...once, status: 'delivered', cause: 'attempt', completedAt: AT },
    'Accepted by the provider relay at 14:05 UTC; that counts as delivered, but no receipt confirms it; if it does not arrive, ask the recipient to look into the junk folder.',
  ],
  [
    'a text delivered without receipts',
    { ...sms, ...once, status: 'delivered', cause: 'attempt', completedAt: AT },
    'Accepted by the provider carrier at 14:05 UTC; that counts as delivered, but no receipt confirms it; if it does not arrive, check the number.',
  ],
  [
    'captured',
    { ...once, status: 'delivered', cause: 'attempt', provider: 'capture' },
    'Kept in the inbox of Herald and not delivered to anyone; this installation has no provider for e-mails; ask the operator to configure one, then send again.',
  ],
  [
    'captured text message',
    { ...once, channel: 'sms', status: 'delivered', cause: 'attempt', provider: 'capture' },
    'Kept in the inbox of Herald and not delivered to anyone; this installation has no provider for text messages; ask the operator to configure one, then send again.',
  ],
  [
    'a test key',
    { ...once, status: 'delivered', cause: 'attempt', provider: 'simulation', keyType: 'test' },
    'Made with a test key, so nothing was sent, and the status delivered is simulated; use a live key to send it.',
  ],
  [
    'a test key, simulated failure',
    { ...once, status: 'permanent-failure', cause: 'attempt', provider: 'simulation', keyType: 'test' },
    'Made with a test key, so nothing was sent, and the status permanent-failure is simulated; use a live key to send it.',
  ],
  [
    'a simulated recipient in a job',
    { ...once, status: 'delivered', cause: 'attempt', provider: 'simulation' },
    'Addressed to a simulated recipient, so nothing was sent, and the status delivered is simulated; use a real recipient.',
  ],
  [
    'unknown user',
    {
      ...hard,
      detail: 'hard-bounce no-email',
      reply: '550 5.1.1 <jo@example.net>: Recipient address rejected: User unknown',
    },
    "There is no such address at the recipient's provider; tried once at 14:05 UTC; check the address for a typing mistake, or ask the recipient for another one.",
  ],
  [
    'unknown user, without the reply',
    { ...hard, detail: 'hard-bounce no-email' },
    "There is no such address at the recipient's provider; tried once at 14:05 UTC; check the address for a typing mistake, or ask the recipient for another one.",
  ],
  [
    'unknown domain',
    { ...hard, detail: 'hard-bounce no-email', reply: '556 5.1.10 Domain example.net does not accept mail (nullMX)' },
    'The domain of the address does not exist or takes no mail; tried once at 14:05 UTC; check the address for a typing mistake.',
  ],
  [
    'inactive mailbox',
    {
      ...hard,
      detail: 'hard-bounce no-email',
      reply: '550 5.2.1 The email account that you tried to reach is inactive',
    },
    'The mailbox is not in use any more; tried once at 14:05 UTC; ask the recipient for another address.',
  ],
  [
    'mailbox full, refused at once',
    { ...hard, detail: 'hard-bounce no-email', reply: '552 5.2.2 over quota' },
    "Mailbox full at the recipient's provider; tried once at 14:05 UTC; send again later or use another channel.",
  ],
  [
    'mailbox full, plain code',
    { ...hard, detail: 'hard-bounce no-email', reply: '552 Requested mail action aborted' },
    "Mailbox full at the recipient's provider; tried once at 14:05 UTC; send again later or use another channel.",
  ],
  [
    'blocked',
    { ...hard, detail: 'blocked', reply: '554 5.7.1 <jo@example.net>: Relay access denied' },
    "Blocked by the recipient's provider or by a block list; tried once at 14:05 UTC; use another channel; if many messages are blocked, ask the operator.",
  ],
  [
    'blocked by a list',
    { ...hard, detail: 'blocked', reply: '550 5.7.1 Client host [192.0.2.1] blocked using zen.example.net' },
    "Blocked by the recipient's provider or by a block list; tried once at 14:05 UTC; use another channel; if many messages are blocked, ask the operator.",
  ],
  [
    'spam',
    {
      ...hard,
      detail: 'hard-bounce content-rejected',
      reply: '550 5.7.1 Message rejected as spam by Content Filtering',
    },
    "The recipient's provider rejects the content as unwanted; tried once at 14:05 UTC; change the text or the links of the template and send again.",
  ],
  [
    'too large',
    { ...hard, detail: 'hard-bounce message-too-large', reply: '552 5.3.4 Message size exceeds fixed limit' },
    'The message is too large for the recipient; tried once at 14:05 UTC; send a shorter one, with smaller files or with links instead of files.',
  ],
  [
    'rejected without a reason',
    { ...hard, detail: 'hard-bounce general' },
    "The recipient's provider rejects the message; tried once at 14:05 UTC; check the address, or use another channel.",
  ],
  [
    'rejected, nothing known',
    { ...hard },
    'The address cannot receive it; tried once at 14:05 UTC; check the address, or use another channel.',
  ],
  [
    'bounced: mailbox full',
    { ...soft, detail: 'soft-bounce mailbox-full' },
    "Mailbox full at the recipient's provider; tried once at 14:05 UTC; send again later or use another channel.",
  ],
  [
    'bounced: attachment',
    { ...soft, detail: 'soft-bounce attachment-rejected' },
    "The recipient's provider rejects one of the files; tried once at 14:05 UTC; send it as a link or in another format.",
  ],
  [
    'bounced: unknown reason',
    { ...soft, detail: 'unknown-bounce unknown-bounce-subtype' },
    'It could not be delivered for the time being; tried once at 14:05 UTC; send again later or use another channel.',
  ],
  [
    'no receipt',
    { ...soft, cause: 'expiry' },
    'Accepted by the provider relay at 14:05 UTC; no receipt came within 72 hours, so nobody knows whether it arrived; ask the recipient before you send again.',
  ],
  [
    'given up after four hours',
    { ...technical, attempts: 48, response: '451 4.3.0 Error: queue file write error' },
    "The recipient's provider has a temporary problem; tried 48 times until 14:05 UTC; send again later or use another channel.",
  ],
  [
    'given up, and maybe delivered',
    { ...technical, uncertain: true, response: 'connection lost' },
    'The connection to the provider was lost; tried 4 times until 14:05 UTC; one attempt may have been delivered; send again later; if it lasts, ask the operator.',
  ],
  [
    'not sent within 72 hours',
    { status: 'technical-failure', cause: 'expiry' },
    'It could not be sent within 72 hours; send again if it is still needed.',
  ],
  [
    'not scanned within 72 hours',
    { status: 'technical-failure', cause: 'expiry', response: 'The virus scan gave no verdict within 72 hours' },
    'The virus scanner gave no result for the files; ask the operator to check the scanner, then send again.',
  ],
  [
    'service not active',
    { status: 'technical-failure', cause: 'attempt', response: 'service is not active' },
    'The service was suspended or archived when the message was due; ask the operator to make it active, then send again.',
  ],
  [
    'channel switched off',
    { ...technical, attempts: 1, provider: 'none', response: 'this channel is switched off' },
    'This channel is switched off in this installation; tried once at 14:05 UTC; use another channel, or ask the operator.',
  ],
  [
    'set aside',
    { ...technical, response: 'set aside after repeated faults' },
    'Herald failed on the message repeatedly; tried 4 times until 14:05 UTC; ask the operator to look at the log; it names the message.',
  ],
  [
    'empty',
    { ...technical, attempts: 1, response: 'empty message' },
    'The message has no text with these values; tried once at 14:05 UTC; check the template and the values, then send again.',
  ],
  [
    'a file is gone',
    { ...technical, attempts: 1, response: 'a file is not there any more' },
    'The files of the message could not be read; tried once at 14:05 UTC; send again with the files.',
  ],
  [
    'sender not accepted',
    {
      ...technical,
      attempts: 1,
      response: '553 5.7.1 <notify@example.org>: Sender address rejected: not owned by user',
    },
    'The provider does not accept this sender; tried once at 14:05 UTC; ask the operator to register the sender with the provider.',
  ],
  [
    'refused, nothing known',
    { ...technical, attempts: 1 },
    'The provider refused it; tried once at 14:05 UTC; ask the operator to look at the reply.',
  ],
  [
    'text: invalid number',
    { ...sms, ...technical, attempts: 1, response: 'Invalid phone number (21211)' },
    'The number does not exist or cannot receive text messages; tried once at 14:05 UTC; check the number, or use another channel.',
  ],
  [
    'text: invalid destination',
    { ...sms, ...technical, attempts: 1, response: 'Invalid destination address (0x0000000b)' },
    'The number does not exist or cannot receive text messages; tried once at 14:05 UTC; check the number, or use another channel.',
  ],
  [
    'text: opted out',
    { ...sms, ...technical, attempts: 1, cause: 'receipt', detail: 'opted out', response: 'Phone number is opted out' },
    'The recipient has opted out of text messages from this number; tried once at 14:05 UTC; use another channel; only the recipient can opt in again.',
  ],
  [
    'text: unreachable',
    { ...sms, ...soft, detail: 'phone unreachable' },
    'The phone could not be reached in time; tried once at 14:05 UTC; send again later or use another channel.',
  ],
  [
    'text: carrier',
    { ...sms, ...soft, detail: 'carrier congestion' },
    'The carrier could not deliver the message; tried once at 14:05 UTC; send again later or use another channel.',
  ],
  [
    'text: blocked',
    { ...sms, ...hard, cause: 'receipt', detail: 'blocked' },
    'Blocked by the carrier; tried once at 14:05 UTC; use another channel; if many messages are blocked, ask the operator.',
  ],
  [
    'text: nothing known',
    { ...sms, ...hard, cause: 'receipt', detail: 'unknown error 77' },
    'The number cannot receive it; tried once at 14:05 UTC; check the number, or use another channel.',
  ],
  [
    'text: throttled',
    { ...sms, ...deferred, detail: 'rate limit', reply: 'Throttled (0x00000058)' },
    'The provider limits how much it takes at the moment; tried 4 times until 14:05 UTC; next try at 14:35 UTC; if it lasts, ask the operator.',
  ],
]

describe('the sentence of a message', () => {
  test.each(CASES)('%s', (_name, facts, expected) => {
    expect(sentence({ ...common, ...facts })).toBe(expected)
  })
})

test('every sentence is one line, ends with a stop and says what to do', () => {
  for (const [, , said] of CASES) {
    expect(said).toMatch(/^[A-Z][^\n]+[^.;]\.$/)
    expect(said).toMatch(/; /)
  }
})

test('a reply is never quoted, because it may name the recipient', () => {
  for (const [, facts] of CASES)
    expect(sentence({ ...common, ...facts })).not.toMatch(/jo@example\.net|192\.0\.2\.1|notify@example\.org/)
})

test('the words of the provider count before our class of them', () => {
  expect(meaningOf('email', '552 5.2.2 over quota', 'hard-bounce no-email')?.name).toBe('mailbox full')
  expect(meaningOf('email', null, 'hard-bounce no-email')?.name).toBe('unknown address')
  expect(meaningOf('email', 'what is this', 'hard-bounce no-email')?.name).toBe('unknown address')
  expect(meaningOf('sms', null, null)).toBeNull()
})
