// Reads a bounce: an abuse report (RFC 5965), a delivery report (RFC 3464), or the free text of servers that send neither.
// A vacation message must not count as a failure, so free text is accepted only with evidence.
import { createHash } from 'node:crypto'
import type { Id } from '../../../core/id.ts'
import { cleanLine } from '../../clean.ts'
import type { Receipt } from '../../port.ts'
import { type Class, classify, codeIn } from './classify.ts'
import { decodedBody, type Entity, flat, readEntity, readFields } from './mime.ts'

/** `raw` is a byte string. Null: the message says nothing about a delivery. */
export function readReport(raw: string, id: Id, now: number): Receipt | null {
  const message = readEntity(raw)
  const entities = flat(message)
  const finding = complaint(entities) ?? deliveryStatus(entities) ?? exim(message, entities) ?? prose(message, entities)
  if (!finding) return null
  return {
    ref: id,
    eventId: eventId(id, finding, message, raw),
    at: moment(finding.at ?? message.headers.get('date'), now),
    result: finding.result,
    detail: finding.detail,
    response: null,
    ...(finding.diagnosis !== undefined && { diagnosis: finding.diagnosis }),
  }
}

type Finding = Class & { at?: string; diagnosis?: string }

/** The diagnosis as one line for people, if there is one. */
function diagnosisOf(words: string): { diagnosis?: string } {
  const diagnosis = cleanLine(words.replace(/\s+/g, ' '))
  return diagnosis === '' ? {} : { diagnosis }
}

function complaint(entities: readonly Entity[]): Finding | null {
  const found = entities.find(({ type }) => type === 'message/feedback-report')
  if (!found) return null
  const kind = readFields(decodedBody(found)).get('feedback-type') ?? 'unknown'
  return { result: 'complaint', detail: `complaint ${/^[\w-]{1,30}$/.test(kind) ? kind.toLowerCase() : 'unknown'}` }
}

/** RFC 3464, 2: a block about the message, then one for each recipient. */
function deliveryStatus(entities: readonly Entity[]): Finding | null {
  const found = entities.find(({ type }) => /^message\/(?:global-)?delivery-status$/.test(type))
  if (!found) return null
  const recipients = decodedBody(found)
    .split(/(?:\r?\n){2,}/)
    .map(readFields)
    .filter(fields => fields.has('action') || fields.has('status') || fields.has('final-recipient'))
  const prose = textOf(entities)
  return worst(recipients.map(fields => recipientFinding(fields, prose)))
}

function recipientFinding(fields: ReadonlyMap<string, string>, prose: string): Finding | null {
  const action = (fields.get('action') ?? '').toLowerCase().replace(/[^a-z].*$/, '')
  const status = fields.get('status') ?? null
  const at = fields.get('last-attempt-date')
  const when = at === undefined ? {} : { at }
  const code = /^\s*([245])\./.exec(status ?? '')?.[1]
  const diagnosis = fields.get('diagnostic-code') ?? prose
  // The relay still retries, so nothing has failed yet.
  if (action === 'delayed') return { result: 'pending', detail: 'delayed', ...when, ...diagnosisOf(diagnosis) }
  if (action === 'delivered') return { result: 'delivered', detail: null, ...when }
  // Handed to a system that reports nothing, or to a list: the recipient's outcome is unknown.
  if (action === 'relayed' || action === 'expanded') return null
  if (action !== 'failed' && code === '2') return { result: 'delivered', detail: null, ...when }
  if (action !== 'failed' && code === undefined) return null
  return { ...classify(status, diagnosis), ...when, ...diagnosisOf(diagnosis) }
}

const severity: Record<Receipt['result'], number> = {
  'permanent-failure': 5,
  'temporary-failure': 4,
  'technical-failure': 3,
  complaint: 2,
  pending: 1,
  delivered: 0,
}

/** A forwarding list reports several recipients; the most severe result counts. */
function worst(found: readonly (Finding | null)[]): Finding | null {
  return found.reduce<Finding | null>(
    (one, other) => (other && (!one || severity[other.result] > severity[one.result]) ? other : one),
    null,
  )
}

/** Exim names the recipients in a header and describes the failure in free text. */
function exim(message: Entity, entities: readonly Entity[]): Finding | null {
  if (!message.headers.has('x-failed-recipients')) return null
  const text = textOf(entities)
  if (isDelay(message, text)) return { result: 'pending', detail: 'delayed' }
  return { ...classify(codeIn(text) ?? '5.0.0', text), ...diagnosisOf(text) }
}

const FAILURE =
  /undeliver|could ?n[o']t be (?:delivered|sent)|not (?:able to|been able to|be) deliver|unable to deliver|deliver\w* (?:\w+ ){0,4}fail|fail\w* (?:\w+ ){0,4}deliver|failure notice|returned (?:mail|to sender)|mail (?:system )?error|permanent (?:fatal )?error|was not delivered|message not delivered/i
const DELAY =
  /\bdelayed\b|not yet been delivered|could not send message for past|no action is required|will (?:keep|continue) (?:trying|to try)|will be retried/i
const FROM_A_SYSTEM = /mailer-?daemon|postmaster|mail delivery|mail ?system|mailadmin/i

function prose(message: Entity, entities: readonly Entity[]): Finding | null {
  const { headers } = message
  // RFC 3834: an automatic reply. Vacation messages have the empty sender <> as bounces do.
  if (/auto-replied/i.test(headers.get('auto-submitted') ?? '')) return null
  if (['x-autoreply', 'x-autorespond', 'x-auto-response-suppress'].some(name => headers.has(name))) return null
  if (!FROM_A_SYSTEM.test(headers.get('from') ?? '')) return null
  const text = textOf(entities)
  if (isDelay(message, text)) return { result: 'pending', detail: 'delayed' }
  if (!FAILURE.test(headers.get('subject') ?? '') && !FAILURE.test(text)) return null
  return { ...classify(codeIn(text), text), ...diagnosisOf(text) }
}

const isDelay = ({ headers }: Entity, text: string) => DELAY.test(headers.get('subject') ?? '') || DELAY.test(text)

const LONGEST_TEXT = 16_384
// After this line comes a copy of our own message, whose words are no evidence.
const COPY =
  /^-{2,}.{0,20}(?:below this line|original message|this is a copy|unsent message|returned message|message header)/im

function textOf(entities: readonly Entity[]): string {
  const part = entities.find(({ type, parts }) => type === 'text/plain' && parts.length === 0)
  const html = part ? undefined : entities.find(({ type }) => type === 'text/html')
  const text = part ? decodedBody(part) : html ? decodedBody(html).replace(/<[^>]{0,1000}>/g, ' ') : ''
  return (text.split(COPY, 1)[0] ?? '').slice(0, LONGEST_TEXT)
}

/** The same for a report that is sent again, different for a later report about the same message. */
function eventId(id: Id, finding: Finding, { headers }: Entity, raw: string): string {
  const name = headers.get('message-id')
  const source = name === undefined ? raw : `${name}\n${finding.result}\n${finding.detail}`
  return createHash('sha256').update(`${id}\n${source}`, 'latin1').digest('base64url')
}

const DAY = 86_400_000

/** The time the other server gives, unless it is implausible. */
function moment(text: string | undefined, now: number): number | null {
  const at = Date.parse((text ?? '').replace(/\s*\([^)]*\)\s*$/, ''))
  return Number.isNaN(at) || at > now + DAY || at < now - 60 * DAY ? null : at
}
