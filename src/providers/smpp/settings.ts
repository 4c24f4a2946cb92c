// Settings of the SMPP adapter: its variables, and how they become SmppSettings.
import { flag, list, oneOf, text, whole } from '../../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../../core/setting.ts'
import type { TextFailure } from '../failure.ts'
import type { SmppSettings } from './send.ts'

export const settings = {
  smppUrl: setting<string | null>(
    'HERALD_SMPP_URL',
    text,
    null,
    'SMSC for text messages, `smpp://system_id:password@host:2775` or `smpps://` for TLS.',
    { shown: 'none', secret: true, inline: true },
  ),
  smppCa: setting<string | null>(
    'HERALD_SMPP_CA',
    text,
    null,
    'Certificates (PEM) to trust for `smpps://` instead of the well-known ones; usually given as HERALD_SMPP_CA_FILE.',
    { shown: 'well-known ones' },
  ),
  smppSystemType: setting('HERALD_SMPP_SYSTEM_TYPE', text, '', 'The system_type of the bind, if the SMSC wants one.', {
    shown: 'none',
  }),
  smppBinds: setting('HERALD_SMPP_BINDS', whole(1, 20), 1, 'Binds of one `herald start` to the SMSC.'),
  smppWindow: setting(
    'HERALD_SMPP_WINDOW',
    whole(1, 1_000),
    10,
    'How many messages may wait for an answer of the SMSC on each bind.',
  ),
  smppPerSecond: setting(
    'HERALD_SMPP_PER_SECOND',
    whole(0, 100_000),
    0,
    'Parts per second the SMSC allows one `herald start`; 0: no limit.',
  ),
  smppSender: setting<string | null>(
    'HERALD_SMPP_SENDER',
    text,
    null,
    'Sender of text messages by SMPP whose service has none.',
    { shown: "the SMSC's own" },
  ),
  smppLong: setting(
    'HERALD_SMPP_LONG',
    oneOf('parts', 'payload'),
    'parts' as 'parts' | 'payload',
    'How long texts are sent: as parts with a header, or as one message in message_payload.',
  ),
  smppReceipts: setting(
    'HERALD_SMPP_RECEIPTS',
    flag,
    true,
    'Whether the SMSC is asked for receipts; without them acceptance counts as delivery.',
  ),
  smppIds: setting(
    'HERALD_SMPP_IDS',
    oneOf('same', 'hex-in-answer', 'hex-in-receipt'),
    'same' as 'same' | 'hex-in-answer' | 'hex-in-receipt',
    'Whether the SMSC writes message ids hexadecimally in one place and decimally in the other.',
  ),
  smppErrors: setting(
    'HERALD_SMPP_ERRORS',
    list,
    [] as string[],
    'What `err:` codes of receipts mean, `code=temporary`, `permanent`, `blocked` or `opted-out`, separated by commas.',
    { shown: 'none: permanent' },
  ),
  smppReplySeconds: setting(
    'HERALD_SMPP_REPLY_SECONDS',
    whole(1, 600),
    30,
    'How long the SMSC may take to answer before a message counts as uncertain and is retried.',
  ),
  smppEnquireSeconds: setting(
    'HERALD_SMPP_ENQUIRE_SECONDS',
    whole(1, 3_600),
    30,
    'How often an idle bind is checked with enquire_link.',
  ),
} satisfies Settings

/** In the providers file the password stands apart from the address. */
export const fileSettings = {
  smppPassword: setting<string | null>(
    'HERALD_SMPP_PASSWORD',
    text,
    null,
    'Password of the system_id that the address names.',
    { shown: 'none', secret: true },
  ),
} satisfies Settings

export type SmppConfig = ValuesOf<typeof settings> & Partial<ValuesOf<typeof fileSettings>>

/** Null: SMPP is not configured. Throws a sentence that names the setting when it is configured wrongly. */
export function smppSettings(config: SmppConfig): SmppSettings | null {
  if (config.smppUrl === null) return null
  const address = addressOf(config.smppUrl, config.smppPassword ?? null)
  return {
    ...address,
    ...(address.secure && { tls: { ca: config.smppCa } }),
    systemType: config.smppSystemType,
    binds: config.smppBinds,
    window: config.smppWindow,
    perSecond: config.smppPerSecond === 0 ? null : config.smppPerSecond,
    sender: config.smppSender,
    long: config.smppLong,
    reports: config.smppReceipts,
    ids: config.smppIds,
    errors: errorsOf(config.smppErrors),
    enquireMillis: config.smppEnquireSeconds * 1000,
    connectMillis: 10_000,
    replyMillis: config.smppReplySeconds * 1000,
    patienceMillis: 10_000,
    retryMillis: [1_000, 30_000],
  }
}

function addressOf(text: string, given: string | null) {
  const wrong = new Error('HERALD_SMPP_URL must be an address like smpp://system_id:password@host:2775, or smpps://')
  if (!URL.canParse(text)) throw wrong
  const url = new URL(text)
  const secure = url.protocol === 'smpps:'
  if ((!secure && url.protocol !== 'smpp:') || url.hostname === '' || url.username === '') throw wrong
  const systemId = decodeURIComponent(url.username)
  if (given !== null && url.password !== '')
    throw new Error('HERALD_SMPP_PASSWORD is given, and HERALD_SMPP_URL holds one too; keep one')
  const password = given ?? decodeURIComponent(url.password)
  // SMPP 3.4, 4.1.5: 16 and 9 octets with the closing zero. Some SMSCs take longer passwords, so only the text is checked.
  if (systemId.length > 15 || !/^[\x21-\x7e]*$/.test(systemId + password)) throw wrong
  return {
    // Brackets of an IPv6 address belong to the address as text, not to the socket.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 3550 : 2775) : Number(url.port),
    systemId,
    password,
    secure,
  }
}

const meanings = ['temporary', 'permanent', 'blocked', 'opted-out'] as const

function errorsOf(rows: readonly string[]): Record<string, TextFailure> {
  const table: Record<string, TextFailure> = {}
  for (const row of rows) {
    const [code = '', word = ''] = row.split('=').map(part => part.trim())
    const meaning = meanings.find(known => known === word)
    if (!/^[0-9a-zA-Z]{1,10}$/.test(code) || !meaning)
      throw new Error(`HERALD_SMPP_ERRORS holds "${row}"; each entry is code=${meanings.join(', code=')}`)
    table[code] = meaning
  }
  return table
}
