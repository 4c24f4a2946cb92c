// Reads a deliver_sm as a receipt of a message we sent. Sources: SMPP 3.4, 5.2.12 (esm_class), 5.2.28 (message_state),
// 5.3.2.12 (receipted_message_id), 5.3.2.35 (message_state) and Appendix B, the text form:
// "id:IIIIIIIIII sub:SSS dlvrd:DDD submit date:YYMMDDhhmm done date:YYMMDDhhmm stat:DDDDDDD err:E text: …"
import type { Pdu } from 'smpp'
import { cleanRef } from '../clean.ts'
import { failed, type TextFailure } from '../failure.ts'
import type { Receipt } from '../port.ts'

export type ReceiptOptions = {
  ids: IdForm
  /** The meaning of `err:` codes of the SMSC, as configured. */
  errors: Readonly<Record<string, TextFailure>>
}

/** Some SMSCs write an id hexadecimally in the answer to submit_sm and decimally in the receipt, or the reverse. */
export type IdForm = 'same' | 'hex-in-answer' | 'hex-in-receipt'

/** The same reference for both places: decimal if the SMSC writes them differently, otherwise unchanged. */
export function refOf(id: string, form: IdForm, place: 'answer' | 'receipt'): string {
  const text = cleanRef(id).slice(0, 65)
  if (form === 'same') return text
  if (form === `hex-in-${place}`)
    return /^(0x)?[0-9a-f]+$/i.test(text) ? String(BigInt(`0x${text.replace(/^0x/i, '')}`)) : text
  return /^[0-9]+$/.test(text) ? String(BigInt(text)) : text
}

type State = 'ENROUTE' | 'DELIVRD' | 'EXPIRED' | 'DELETED' | 'UNDELIV' | 'ACCEPTD' | 'UNKNOWN' | 'REJECTD'
const states: readonly (State | null)[] = [
  null,
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
]

/** Null: not a receipt, or one without an id or a state. It is acknowledged too: another delivery would be the same. */
export function readReceipt(pdu: Pdu, options: ReceiptOptions): Receipt | null {
  const kind = (numberOf(pdu.esm_class) >> 2) & 0x0f
  const isIntermediate = kind === 8
  const tlvId = textOf(pdu.receipted_message_id)
  const tlvState = states[numberOf(pdu.message_state)] ?? null
  // A text message from a phone can look like a receipt, but it cannot have this esm_class or these parameters.
  if (kind !== 1 && !isIntermediate && !(tlvId && tlvState)) return null

  const text = messageOf(pdu)
  const id = tlvId || field(text, /\bid:\s*([^\s]{1,65})/i)
  const state = tlvState ?? field(text, /\bstat:\s*([a-z]{1,10})/i).toUpperCase()
  if (!id || !state) return null

  const error = field(text, /\berr:\s*([0-9a-z]{1,10})/i)
  const done = field(text, /\bdone date:\s*([0-9]{10,14})/i)
  const ref = refOf(id, options.ids, 'receipt')
  if (ref === '') return null
  return {
    ref,
    eventId: `${ref}:${state}:${error}:${done}${isIntermediate ? ':i' : ''}`,
    at: timeOf(done),
    ...(isIntermediate ? pending : meaning(state, error, options.errors)),
  }
}

type ReceiptMeaning = Pick<Receipt, 'result' | 'detail' | 'response'>
const pending: ReceiptMeaning = { result: 'pending', detail: null, response: null }

function meaning(state: string, error: string, errors: ReceiptOptions['errors']): ReceiptMeaning {
  const known = Object.hasOwn(errors, error) ? errors[error] : undefined
  switch (state) {
    case 'DELIVRD':
      return { result: 'delivered', detail: null, response: null }
    case 'ACCEPTD':
    case 'ENROUTE':
      return pending
    case 'EXPIRED':
      return { result: 'temporary-failure', detail: 'expired', response: null }
    case 'REJECTD':
      return failed(known ?? 'blocked', detailOf(error))
    case 'DELETED':
      return { result: 'permanent-failure', detail: 'deleted', response: null }
    default: // UNDELIV, UNKNOWN, and states that only this vendor has
      return failed(known ?? 'permanent', detailOf(error))
  }
}

const detailOf = (error: string) => (error === '' || /^0+$/.test(error) ? 'unknown' : `error ${error}`)

/** yyMMddhhmm, yyMMddhhmmss or yyyyMMddhhmmss, read as UTC; null: not a date. */
export function timeOf(digits: string): number | null {
  const full = digits.length === 14 ? digits : `20${digits}`
  const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/.exec(full)
  if (!found) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1).map(part => Number(part ?? 0))
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return null
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

function messageOf(pdu: Pdu): string {
  return decoded(pdu.short_message) || decoded(pdu.message_payload)
}

// The package decodes to { message, udh? }; `message` is a Buffer if the package does not know the alphabet.
function decoded(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('message' in value)) return ''
  const { message } = value
  if (typeof message === 'string') return message.slice(0, 1000)
  return Buffer.isBuffer(message) ? message.toString('latin1').slice(0, 1000) : ''
}

const field = (text: string, pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0)
const textOf = (value: unknown) => (typeof value === 'string' ? value.replace(/[^\x21-\x7e]/g, '').slice(0, 65) : '')
