// The provider that sends nothing: it stores messages in the inbox, for trials.
import { createCapacity } from '../../runtime/admission.ts'
import type { EmailMessage, EmailProvider, TextMessage, TextProvider } from '../port.ts'

export const captureEmail = (keep: (message: EmailMessage) => Promise<void>): EmailProvider => ({
  ...common,
  channel: 'email',
  send: message => kept(message.id, keep(message)),
})

export const captureText = (keep: (message: TextMessage) => Promise<void>): TextProvider => ({
  ...common,
  channel: 'sms',
  send: message => kept(message.id, keep(message)),
})

const common = {
  name: 'capture',
  reports: false,
  capacity: createCapacity({ perSecond: null }),
  probe: async () => ({ ok: true }) as const,
  stop: async () => {},
}

// Storing writes to the database: while that is unreachable, this provider is down.
const kept = (ref: string, keeping: Promise<void>) =>
  keeping.then(
    () => ({ kind: 'accepted', ref }) as const,
    () => ({ kind: 'deferred', detail: 'the inbox could not be written', down: true }) as const,
  )
