// The provider of a channel that is switched off: messages accepted before end as technical failures.
import { createCapacity } from '../../runtime/admission.ts'
import type { EmailProvider, TextProvider } from '../port.ts'

const common = {
  name: 'none',
  reports: false,
  capacity: createCapacity({ perSecond: null }),
  send: async () => ({ kind: 'rejected', detail: 'this channel is switched off' }) as const,
  probe: async () => ({ ok: true }) as const,
  stop: async () => {},
}

export const noEmail: EmailProvider = { ...common, channel: 'email' }
export const noText: TextProvider = { ...common, channel: 'sms' }
