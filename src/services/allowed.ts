// Who may receive messages (contract 15.4): anyone with a live key of a live service or with a test key; otherwise team members
// and the safelist. One rule, deny by default.
import { keyOfAny } from '../channels/index.ts'
import type { LoadedService } from './sql.ts'

export type RecipientVerdict = 'allowed' | 'team-only' | 'trial'

const allowedSets = new WeakMap<LoadedService, Set<string>>()

/** `recipient` in its normal form: lower-cased address or E.164. */
export function mayReceive(
  service: LoadedService,
  keyType: 'normal' | 'team' | 'test',
  recipient: string,
): RecipientVerdict {
  if (isOpen(service, keyType) || allowedRecipientsOf(service).has(recipient)) return 'allowed'
  return keyType === 'team' ? 'team-only' : 'trial'
}

/** The only allowed recipients, in normal form; null: anyone. */
export const allowedRecipientsFor = (service: LoadedService, keyType: 'normal' | 'team' | 'test') =>
  isOpen(service, keyType) ? null : [...allowedRecipientsOf(service)]

const isOpen = (service: LoadedService, keyType: 'normal' | 'team' | 'test') =>
  keyType === 'test' || (keyType === 'normal' && service.mode === 'live')

function allowedRecipientsOf(service: LoadedService): Set<string> {
  let allowedRecipients = allowedSets.get(service)
  if (!allowedRecipients) {
    allowedRecipients = new Set(service.allowed_recipients.map(text => keyOfAny(text)))
    allowedSets.set(service, allowedRecipients)
  }
  return allowedRecipients
}
