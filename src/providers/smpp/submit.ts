// A message as the fields of its submit_sm requests.
import type { Outcome, TextMessage } from '../port.ts'
import { destination, source } from './addresses.ts'
import { cut } from './segments.ts'

export type Fields = Record<string, unknown>

export type SubmitOptions = {
  /** Long texts as several parts with a user data header, or whole in message_payload. */
  long: 'parts' | 'payload'
  /** Whether the SMSC is asked for receipts. */
  reports: boolean
  /** Sender for services that have none. */
  sender: string | null
}

/** One entry per request, or why the message cannot be sent. */
export function requestsOf(message: TextMessage, options: SubmitOptions): Fields[] | Outcome {
  const from = source(message.from ?? options.sender)
  if (!from) return { kind: 'rejected', detail: 'Sender cannot be used for text messages' }
  const to = destination(message.to)
  if (!to) return { kind: 'rejected', detail: 'Invalid destination address' }
  const segments = cut(message.text, message.encoding, referenceOf(message.id))
  if (!segments) return { kind: 'rejected', detail: 'Message is too long' }
  const common = {
    source_addr_ton: from.ton,
    source_addr_npi: from.npi,
    source_addr: from.address,
    dest_addr_ton: to.ton,
    dest_addr_npi: to.npi,
    destination_addr: to.address,
    data_coding: segments.dataCoding,
    registered_delivery: 0,
  }
  const receipt = options.reports ? 1 : 0
  const { parts, whole } = segments
  if (parts.length > 1 && options.long === 'payload')
    return [{ ...common, registered_delivery: receipt, message_payload: whole }]
  // Only the last part asks for a receipt, and its id is the reference: one receipt per message, not one per part.
  return parts.map((part, index) => ({
    ...common,
    esm_class: parts.length > 1 ? 0x40 : 0,
    registered_delivery: index === parts.length - 1 ? receipt : 0,
    short_message: part,
  }))
}

/** The same on every attempt (R6): the phone can combine parts of a second attempt with parts of the first. */
function referenceOf(id: string): number {
  return Number.parseInt(id.slice(-2), 16) & 0xff
}
