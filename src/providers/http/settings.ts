// Parses the settings of the generic text provider.
import type { ValuesOf } from '../../core/setting.ts'
import { type JsonPath, parseJson, readPath } from './json-path.ts'
import { commonWords, type WebhookSettings, type Word } from './receipts.ts'
import type { HttpSmsSettings } from './send.ts'
import { isSafeAddress } from './template.ts'
import type { settings } from './variables.ts'

export type HttpSmsConfig = ValuesOf<typeof settings>

/** Null: not configured. Throws an error that names the setting when it is wrong. */
export function httpSmsSettings(config: HttpSmsConfig): HttpSmsSettings | null {
  const url = config.httpSmsUrl
  if (url === null) return null
  if (!isSafeAddress(url))
    throw new Error('HERALD_HTTP_SMS_URL must be an http(s) address, with placeholders only after its question mark')
  const { httpSmsMethod: method, httpSmsFormat: format } = config
  const isQuery = format === 'query' || method === 'GET'
  if (!isQuery && config.httpSmsBody === null)
    throw new Error('HERALD_HTTP_SMS_BODY is missing; or set HERALD_HTTP_SMS_FORMAT to query')
  if (format === 'json' && !isQuery && parseJson(config.httpSmsBody ?? '') === undefined)
    throw new Error('HERALD_HTTP_SMS_BODY is not JSON; placeholders stand inside quotes, like {"to": "{to}"}')
  return {
    method,
    url,
    headers: headersOf(config.httpSmsHeaders),
    body: isQuery ? null : config.httpSmsBody,
    format: format === 'json' ? 'json' : 'form',
    sender: config.httpSmsSender,
    refPath: config.httpSmsRefPath === null ? null : path('HERALD_HTTP_SMS_REF_PATH', config.httpSmsRefPath),
    rejectStatuses: config.httpSmsRejectStatuses.map(status),
    errorPath: path('HERALD_HTTP_SMS_ERROR_PATH', config.httpSmsErrorPath ?? ''),
    rejectPattern: pattern(config.httpSmsRejectPattern),
    webhook: webhookSettingsOf(config),
    perSecond: config.httpSmsPerSecond === 0 ? null : config.httpSmsPerSecond,
    timeoutMillis: 30_000,
  }
}

function webhookSettingsOf(config: HttpSmsConfig): WebhookSettings | null {
  const secret = config.httpSmsReceiptSecret
  if (secret === null) return null
  return {
    secret,
    signatureHeader: config.httpSmsReceiptSignatureHeader.toLowerCase(),
    timestampHeader: config.httpSmsReceiptTimestampHeader.toLowerCase(),
    listPath: path('HERALD_HTTP_SMS_RECEIPT_LIST_PATH', config.httpSmsReceiptListPath ?? ''),
    refPath: path('HERALD_HTTP_SMS_RECEIPT_REF_PATH', config.httpSmsReceiptRefPath),
    statusPath: path('HERALD_HTTP_SMS_RECEIPT_STATUS_PATH', config.httpSmsReceiptStatusPath),
    timePath: path('HERALD_HTTP_SMS_RECEIPT_TIME_PATH', config.httpSmsReceiptTimePath),
    eventPath: path('HERALD_HTTP_SMS_RECEIPT_EVENT_PATH', config.httpSmsReceiptEventPath),
    words: { ...commonWords, ...wordsOf(config.httpSmsReceiptStatuses) },
  }
}

function headersOf(text: string | null): Record<string, string> {
  if (text === null) return {}
  const wrong = new Error('HERALD_HTTP_SMS_HEADERS must be a JSON object of texts, like {"Authorization": "Bearer …"}')
  const json = parseJson(text)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(json)) {
    // RFC 9110, 5.1 and 5.5: a wrong name or a control character would make every request fail, or smuggle one.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value)) throw wrong
    headers[name.toLowerCase()] = value
  }
  return headers
}

function path(name: string, text: string): JsonPath {
  const steps = readPath(text)
  if (!steps) throw new Error(`${name} is "${text}"; it must be a path like messages[0].id`)
  return steps
}

function status(text: string): number {
  if (!/^[45][0-9][0-9]$/.test(text)) throw new Error(`HERALD_HTTP_SMS_REJECT_STATUSES holds "${text}"; e.g. 400,422`)
  return Number(text)
}

function pattern(text: string | null): RegExp | null {
  if (text === null) return null
  try {
    return new RegExp(text, 'iu')
  } catch {
    throw new Error('HERALD_HTTP_SMS_REJECT_PATTERN is not a regular expression')
  }
}

const meanings = [
  'delivered',
  'pending',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'blocked',
  'opted-out',
  'ignored',
] as const satisfies readonly Word[]

function wordsOf(rows: readonly string[]): Record<string, Word> {
  const words: Record<string, Word> = {}
  for (const row of rows) {
    const [word = '', meant = ''] = row.split('=').map(part => part.trim())
    const meaning = meanings.find(known => known === meant)
    if (word === '' || !meaning)
      throw new Error(
        `HERALD_HTTP_SMS_RECEIPT_STATUSES holds "${row}"; each entry is word=meaning, one of ${meanings.join(', ')}`,
      )
    words[word.toLowerCase()] = meaning
  }
  return words
}
