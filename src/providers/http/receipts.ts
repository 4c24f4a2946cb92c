// Webhook endpoint for receipts of a generic provider: a signature authenticates it, configured paths read it.
import { createHash } from 'node:crypto'
import { cleanRef } from '../clean.ts'
import { failed } from '../failure.ts'
import type { ProviderWorld, Receipt, WebhookEndpoint } from '../port.ts'
import { type JsonPath, parseJson, textAt, valueAt } from './json-path.ts'
import { isRecent, isSigned } from './signature.ts'

/** The meaning of a status word of the provider. */
export type Word =
  | 'delivered'
  | 'pending'
  | 'permanent-failure'
  | 'temporary-failure'
  | 'technical-failure'
  | 'blocked'
  | 'opted-out'
  | 'ignored'

export type WebhookSettings = {
  secret: string
  /** In lower case. */
  signatureHeader: string
  timestampHeader: string
  /** Path of the list of receipts; the empty path: the body itself, a list or a single receipt. */
  listPath: JsonPath
  refPath: JsonPath
  statusPath: JsonPath
  timePath: JsonPath
  eventPath: JsonPath
  /** By the status word in lower case. */
  words: Readonly<Record<string, Word>>
}

/** Common status words; settings override them. */
export const commonWords: Readonly<Record<string, Word>> = {
  delivered: 'delivered',
  delivrd: 'delivered',
  success: 'delivered',
  successful: 'delivered',
  accepted: 'ignored',
  queued: 'ignored',
  sending: 'ignored',
  submitted: 'ignored',
  sent: 'pending',
  acceptd: 'pending',
  enroute: 'pending',
  buffered: 'pending',
  pending: 'pending',
  failed: 'permanent-failure',
  undelivered: 'permanent-failure',
  undeliv: 'permanent-failure',
  undeliverable: 'permanent-failure',
  deleted: 'permanent-failure',
  invalid: 'permanent-failure',
  unknown: 'permanent-failure',
  rejected: 'blocked',
  rejectd: 'blocked',
  blocked: 'blocked',
  spam: 'blocked',
  expired: 'temporary-failure',
  unreachable: 'temporary-failure',
  'opted-out': 'opted-out',
  unsubscribed: 'opted-out',
}

const mostOctets = 1_048_576
const mostReceipts = 1_000

export function createWebhookEndpoint(
  name: string,
  settings: WebhookSettings,
  world: Pick<ProviderWorld, 'now' | 'warn'>,
): WebhookEndpoint {
  return {
    name,
    read({ headers, body }) {
      const signature = headers[settings.signatureHeader]
      const timestamp = headers[settings.timestampHeader]
      if (typeof signature !== 'string' || typeof timestamp !== 'string') return refuse(401, 'signature missing')
      if (body.length > mostOctets) return refuse(400, 'body too long')
      if (!isSigned(signature, settings.secret, timestamp, body)) return refuse(401, 'signature wrong')
      if (!isRecent(timestamp, world.now())) return refuse(401, 'timestamp too far away')
      const found = valueAt(parseJson(body.toString('utf8')), settings.listPath)
      const items: readonly unknown[] = Array.isArray(found) ? found : [found]
      if (items.length > mostReceipts) return refuse(400, 'too many receipts')
      const receipts: Receipt[] = []
      for (const item of items) {
        const receipt = readItem(item, settings)
        if (receipt === 'malformed') return refuse(400, 'receipt without reference or status')
        if (receipt === 'unknown') world.warn({ provider: name }, 'A receipt with an unknown status was ignored')
        else if (receipt !== 'ignored') receipts.push(receipt)
      }
      return Promise.resolve({ ok: true, receipts })
    },
  }
}

function readItem(item: unknown, settings: WebhookSettings): Receipt | 'malformed' | 'unknown' | 'ignored' {
  const ref = cleanRef(textAt(item, settings.refPath))
  const status = textAt(item, settings.statusPath).toLowerCase()
  if (ref === '' || status === '') return 'malformed'
  const word = Object.hasOwn(settings.words, status) ? settings.words[status] : undefined
  if (!word) return 'unknown'
  if (word === 'ignored') return 'ignored'
  const eventId = cleanRef(textAt(item, settings.eventPath)) || digest(item)
  return { ref, eventId, at: timeOf(valueAt(item, settings.timePath)), ...meaning(word) }
}

function meaning(word: Exclude<Word, 'ignored'>): Pick<Receipt, 'result' | 'detail' | 'response'> {
  switch (word) {
    case 'blocked':
    case 'opted-out':
      return failed(word, word)
    default:
      return { result: word, detail: null, response: null }
  }
}

/** ISO 8601, seconds or milliseconds since 1970; null for anything else or for an implausible year. */
function timeOf(value: unknown): number | null {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^[0-9]{10,13}$/.test(value))
  const number = isNumber ? Number(value) : typeof value === 'string' ? Date.parse(value.slice(0, 40)) : Number.NaN
  const millis = isNumber && number < 1e11 ? number * 1000 : number
  return millis > 9e11 && millis < 5e12 ? Math.floor(millis) : null
}

const digest = (item: unknown) => createHash('sha256').update(JSON.stringify(item)).digest('base64url')
const refuse = (status: 400 | 401 | 403, why: string) => Promise.resolve({ ok: false, status, why } as const)
