// The recipient of a message in normal form, in which two spellings can be compared.

import { readEmail } from './email.ts'
import { readPhone } from './phone.ts'
import type { PhonePlan } from './plans.ts'

/**
 * The normal form for safelists, where the type is not known (content-rules 9.3): a domestic number, else an address, else the
 * text itself. Required by the contract: international numbers match only if spelled identically.
 */
export function safelistForm(recipient: unknown, plan?: PhonePlan): string {
  if (typeof recipient !== 'string') return ''
  const phone = readPhone(recipient, { international: false, ...(plan ? { plan } : {}) })
  if (phone.ok) return phone.e164
  const email = readEmail(recipient)
  return email.ok ? email.normalised : recipient
}
