// Settings of the SMPP adapter, from the table in config.ts.
import type { ErrorMeaning, IdForm } from './receipts.ts'
import type { SmppSettings } from './send.ts'

export type SmppConfig = {
  smppUrl: string | null
  smppCa: string | null
  smppSystemType: string
  smppBinds: number
  smppWindow: number
  smppPerSecond: number
  smppSender: string | null
  smppLong: 'parts' | 'payload'
  smppReceipts: boolean
  smppIds: IdForm
  smppErrors: readonly string[]
  smppReplySeconds: number
  smppEnquireSeconds: number
}

/** Null: SMPP is not configured. Throws a sentence that names the setting when it is configured wrongly. */
export function smppSettings(config: SmppConfig): SmppSettings | null {
  if (config.smppUrl === null) return null
  const address = addressOf(config.smppUrl)
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

function addressOf(text: string) {
  const wrong = new Error('HERALD_SMPP_URL must be an address like smpp://system_id:password@host:2775, or smpps://')
  if (!URL.canParse(text)) throw wrong
  const url = new URL(text)
  const secure = url.protocol === 'smpps:'
  if ((!secure && url.protocol !== 'smpp:') || url.hostname === '' || url.username === '') throw wrong
  const systemId = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
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

function errorsOf(rows: readonly string[]): Record<string, ErrorMeaning> {
  const table: Record<string, ErrorMeaning> = {}
  for (const row of rows) {
    const [code = '', word = ''] = row.split('=').map(part => part.trim())
    const meaning = meanings.find(known => known === word)
    if (!/^[0-9a-zA-Z]{1,10}$/.test(code) || !meaning)
      throw new Error(`HERALD_SMPP_ERRORS holds "${row}"; each entry is code=${meanings.join(', code=')}`)
    table[code] = meaning
  }
  return table
}
