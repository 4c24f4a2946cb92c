// Switches a channel off: no service may send by it.
import type { ProviderKind } from '../kind.ts'
import type { EmailProvider, TextProvider } from '../port.ts'
import { noEmail, noText } from './send.ts'

const common = {
  kind: 'none',
  settings: {},
  prefix: 'HERALD_',
  configuredBy: null,
  role: 'off',
  hasWebhook: false,
  greeting: 'is switched off',
} as const

export const emailNone: ProviderKind<EmailProvider> = { ...common, channel: 'email', create: () => noEmail }
export const textNone: ProviderKind<TextProvider> = { ...common, channel: 'sms', create: () => noText }
