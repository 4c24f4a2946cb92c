// What an endpoint may look like: for keys and for the operator alike.

import type { EventType } from '../events/event.ts'
import { readMoment } from '../notifications/schedule.ts'
import { checkUrl } from './address.ts'
import { refuse } from './refusals.ts'
import type { WebhookSettings } from './settings.ts'
import { CALLBACK_TYPES, type Format, LONGEST_URL, MOST_IN_BATCH, TOKEN_LENGTH, typesOf } from './webhook.ts'

/** The address in the form in which it is used. */
export function urlFrom(settings: WebhookSettings, text: string): string {
  if (text.length > LONGEST_URL) throw refuse.url(`must have at most ${LONGEST_URL} characters`).about('url')
  const checked = checkUrl(text, settings)
  if ('problem' in checked) throw refuse.url(checked.problem).about('url')
  return checked.url.href
}

export function batchFrom(format: Format, batch: number): number {
  if (!Number.isInteger(batch) || batch < 1 || batch > MOST_IN_BATCH)
    throw refuse.batchRange(MOST_IN_BATCH).about('batch')
  if (format === 'callback' && batch !== 1) throw refuse.batchOfCallback().about('batch')
  return batch
}

/** Undefined: the usual types of the format; null: every type. */
export function eventTypesFrom(format: Format, types: readonly EventType[] | null | undefined): EventType[] | null {
  if (types === undefined || types === null) return format === 'callback' ? [...CALLBACK_TYPES] : null
  if (types.length === 0) throw refuse.noTypes().about('types')
  const strange = types.find(type => !typesOf(format).includes(type))
  if (strange !== undefined) throw refuse.typeOfCallback(strange).about('types')
  return typesOf(format).filter(type => types.includes(type))
}

/** The body of a callback always contains the recipient. */
export function recipientFrom(format: Format, wanted: boolean | undefined): boolean {
  if (format === 'standard') return wanted ?? false
  if (wanted === false) throw refuse.recipientOfCallback().about('include_recipient')
  return true
}

export function tokenFrom(format: Format, token: string | undefined): string | null {
  if (format === 'standard') {
    if (token !== undefined) throw refuse.tokenUnused().about('token')
    return null
  }
  if (token === undefined) throw refuse.tokenMissing().about('token')
  const { least, most } = TOKEN_LENGTH
  if (token.length < least || token.length > most || !/^[\x21-\x7e]+$/.test(token))
    throw refuse.tokenForm(least, most).about('token')
  return token
}

/** Microseconds since 1970. */
export function momentFrom(field: 'from' | 'to', text: string, nowMicros: number): number {
  const moment = readMoment(text)
  if (moment === null) throw refuse.momentForm(field).about(field)
  const micros = Math.round(moment * 1000)
  if (micros > nowMicros) throw refuse.momentAhead(field).about(field)
  return Math.max(0, micros)
}
