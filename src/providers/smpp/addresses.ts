// Type of number (TON) and numbering plan (NPI) of sender and recipient: SMPP 3.4, 5.2.5 and 5.2.6.

export type Address = { ton: number; npi: number; address: string }

const international = { ton: 1, npi: 1 }
const networkSpecific = { ton: 3, npi: 0 }
const alphanumeric = { ton: 5, npi: 0 }
const unknown = { ton: 0, npi: 0 }

/** Null: not a valid sender of a text message. */
export function source(from: string | null): Address | null {
  if (from === null || from === '') return { ...unknown, address: '' }
  if (/^\+?[0-9]{9,15}$/.test(from)) return { ...international, address: from.replace('+', '') }
  // Short codes belong to one network, not to the international numbering plan.
  if (/^[0-9]{3,8}$/.test(from)) return { ...networkSpecific, address: from }
  // 3GPP TS 23.040, 9.1.2.5: eleven characters fit the address field.
  if (/^[\x20-\x7e]{1,11}$/.test(from)) return { ...alphanumeric, address: from }
  return null
}

/** Null: not an E.164 number. */
export function destination(to: string): Address | null {
  return /^\+[1-9][0-9]{4,14}$/.test(to) ? { ...international, address: to.slice(1) } : null
}
