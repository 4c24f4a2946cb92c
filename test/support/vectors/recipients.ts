// Vectors of recipients and recipient files (content-rules 13.1) against the real functions.

import { readEmail } from '../../../src/recipients/email.ts'
import { humanPhone, readPhone } from '../../../src/recipients/phone.ts'
import { createSafelist, safelistForm } from '../../../src/recipients/recipient.ts'
import type { Handler } from './handler.ts'

const emailAddress: Handler = input => {
  const read = readEmail(input.address)
  return read.ok
    ? { valid: true, address: read.address, normalised: read.normalised }
    : { valid: false, error: read.problem }
}

const phoneNumber: Handler = input => {
  switch (input.fn) {
    case 'validate': {
      const read = readPhone(input.number, { international: input.international })
      return read.ok ? { valid: true, e164: read.e164 } : { valid: false, error: read.problem }
    }
    case 'info': {
      const read = readPhone(input.number, { international: true })
      return read.ok
        ? { international: read.international, countryPrefix: read.countryCode }
        : { valid: false, error: read.problem }
    }
    case 'human':
      return { text: humanPhone(input.number) }
    case 'recipient':
      return { text: safelistForm(input.recipient) }
    case 'allowed':
      return { allowed: createSafelist(input.safelist)(input.recipient) }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

export const recipientHandlers: Record<string, Handler> = {
  'email-address': emailAddress,
  'phone-number': phoneNumber,
}
