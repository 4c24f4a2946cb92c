// Stores messages in the inbox, marks them delivered and sends nothing.
import type { ProviderKind } from '../kind.ts'
import type { EmailProvider, TextProvider } from '../port.ts'
import { captureEmail, captureText } from './send.ts'

const common = {
  kind: 'capture',
  settings: {},
  prefix: 'HERALD_',
  configuredBy: null,
  role: 'capture',
  hasWebhook: false,
  greeting: 'keeps messages in the inbox',
} as const

export const emailCapture: ProviderKind<EmailProvider> = {
  ...common,
  channel: 'email',
  create: (_name, _values, { keep }) => captureEmail(keep.email),
}

export const textCapture: ProviderKind<TextProvider> = {
  ...common,
  channel: 'sms',
  create: (_name, _values, { keep }) => captureText(keep.sms),
}
