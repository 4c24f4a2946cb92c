// The outcome of a message by its command_status. Source: SMPP 3.4, 5.1.3, table 5-2.
import type { Outcome } from '../port.ts'
import type { Trouble } from '../unreachable.ts'

export const ok = 0x00
export const invalidCommand = 0x03
/** ESME_RX_T_APPN: "the receiver has a temporary problem", so the SMSC delivers again. */
export const tryAgain = 0x64

type StatusMeaning = 'rejected' | 'deferred' | 'throttled' | 'down'
const table: Readonly<Record<number, readonly [string, StatusMeaning]>> = {
  1: ['Message length is invalid', 'rejected'],
  2: ['Command length is invalid', 'rejected'],
  3: ['Invalid command', 'down'],
  4: ['Incorrect bind status', 'down'],
  5: ['Already bound', 'down'],
  6: ['Invalid priority flag', 'rejected'],
  7: ['Invalid registered delivery flag', 'rejected'],
  8: ['System error', 'deferred'],
  10: ['Invalid source address', 'rejected'],
  11: ['Invalid destination address', 'rejected'],
  12: ['Message id is invalid', 'rejected'],
  13: ['Bind failed', 'down'],
  14: ['Invalid password', 'down'],
  15: ['Invalid system id', 'down'],
  20: ['Message queue full', 'throttled'],
  21: ['Invalid service type', 'rejected'],
  51: ['Invalid number of destinations', 'rejected'],
  64: ['Destination flag is invalid', 'rejected'],
  66: ['Invalid submit with replace request', 'rejected'],
  67: ['Invalid esm_class', 'rejected'],
  68: ['Cannot submit to distribution list', 'rejected'],
  69: ['Submit failed', 'deferred'],
  72: ['Invalid source type of number', 'rejected'],
  73: ['Invalid source numbering plan', 'rejected'],
  80: ['Invalid destination type of number', 'rejected'],
  81: ['Invalid destination numbering plan', 'rejected'],
  83: ['Invalid system type', 'down'],
  84: ['Invalid replace flag', 'rejected'],
  88: ['Throttled', 'throttled'],
  97: ['Invalid scheduled delivery time', 'rejected'],
  98: ['Invalid validity period', 'rejected'],
  99: ['Predefined message is invalid', 'rejected'],
  100: ['Temporary problem', 'deferred'],
  101: ['Permanent problem', 'rejected'],
  102: ['Message rejected', 'rejected'],
  192: ['Error in the optional part', 'rejected'],
  193: ['Optional parameter not allowed', 'rejected'],
  194: ['Invalid parameter length', 'rejected'],
  195: ['Expected parameter missing', 'rejected'],
  196: ['Invalid parameter value', 'rejected'],
  254: ['Delivery failed', 'deferred'],
  255: ['Unknown error', 'deferred'],
}

export const isThrottle = (status: number) => table[status]?.[1] === 'throttled'

export function nameOf(status: number): string {
  const code = `0x${status.toString(16).padStart(8, '0')}`
  return `${table[status]?.[0] ?? 'Provider error'} (${code})`
}

/** For a status other than ok. A message with a vendor's own code is retried. */
export function refusal(status: number): Exclude<Outcome, { kind: 'accepted' }> {
  const detail = nameOf(status)
  switch (table[status]?.[1] ?? 'deferred') {
    case 'rejected':
      return { kind: 'rejected', detail }
    case 'down':
      return { kind: 'deferred', detail, down: true }
    case 'throttled':
    case 'deferred':
      return { kind: 'deferred', detail }
  }
}

/** The SMSC does not know this system_id or password (13 to 15); absent: it refuses the bind for another reason. */
export const refusedBind = (status: number): Trouble | undefined =>
  status >= 13 && status <= 15
    ? { code: 'login-refused', reply: `0x${status.toString(16).padStart(8, '0')}` }
    : undefined
