// Error codes of the Twilio message API, for answers and for status callbacks.
// Source: https://www.twilio.com/docs/api/errors; what each means for a status: contract 6.4 and 6.5.
import { failed, OPTED_OUT, type TextFailure } from '../failure.ts'
import type { Outcome, Receipt } from '../port.ts'

type TwilioError = 'rejected' | 'throttled' | 'down'
const answers: Readonly<Record<number, readonly [TwilioError, string]>> = {
  20003: ['down', 'Credentials refused'],
  20005: ['down', 'Account not active'],
  20404: ['down', 'Account not found'],
  20429: ['throttled', 'Too many requests'],
  14107: ['throttled', 'Too many requests'],
  21211: ['rejected', 'Invalid phone number'],
  21212: ['rejected', 'Invalid sender'],
  21408: ['rejected', 'Region is not enabled'],
  21601: ['rejected', 'Sender is not enabled for text messages'],
  21602: ['rejected', 'Message is empty'],
  21603: ['rejected', 'Sender is missing'],
  21604: ['rejected', 'Phone number is missing'],
  21606: ['rejected', 'Invalid sender'],
  21608: ['rejected', 'Trial account: phone number is not verified'],
  21610: ['rejected', OPTED_OUT],
  21611: ['throttled', 'Queue of the sender is full'],
  21612: ['rejected', 'No route to this phone number'],
  21614: ['rejected', 'Not a mobile phone number'],
  21617: ['rejected', 'Message is too long'],
}

/** Null: an unknown code; the HTTP status decides. */
export function answered(code: number): Exclude<Outcome, { kind: 'accepted' }> | null {
  const found = answers[code]
  if (!found) return null
  const [kind, text] = found
  const detail = code === 21610 ? text : `${text} (${code})`
  switch (kind) {
    case 'rejected':
      return { kind: 'rejected', detail }
    case 'throttled':
      return { kind: 'deferred', detail }
    case 'down':
      return { kind: 'deferred', detail, down: true }
  }
}

const reports: Readonly<Record<number, readonly [TextFailure, string]>> = {
  21610: ['opted-out', 'opted out'],
  30001: ['temporary', 'queue overflow'],
  30002: ['permanent', 'account suspended'],
  30003: ['temporary', 'phone unreachable'],
  30004: ['blocked', 'blocked'],
  30005: ['permanent', 'invalid number'],
  30006: ['permanent', 'invalid number'],
  30007: ['blocked', 'carrier filtered'],
  30008: ['permanent', 'unknown error'],
  30009: ['temporary', 'segment missing'],
  30010: ['temporary', 'price cap exceeded'],
  30017: ['temporary', 'carrier congestion'],
  30018: ['blocked', 'sender not registered'],
  30019: ['permanent', 'invalid body'],
  30022: ['temporary', 'carrier rate limit'],
  30023: ['temporary', 'daily cap of the carrier'],
  30024: ['blocked', 'sender not provisioned'],
  30032: ['blocked', 'sender not verified'],
  30034: ['blocked', 'sender not registered'],
  30036: ['temporary', 'expired'],
  30038: ['blocked', 'one-time code filtered'],
  30410: ['temporary', 'carrier timed out'],
  30450: ['blocked', 'blocked'],
}

/** The result of a message that was not delivered. An unknown code is a permanent failure (contract 6.4). */
export function reported(code: number): Pick<Receipt, 'result' | 'detail' | 'response'> {
  const [kind, detail] = reports[code] ?? ['permanent', code === 0 ? 'unknown error' : `error ${code}`]
  return failed(kind, detail)
}
