import { needed, type ProviderKind } from '../kind.ts'
import type { TextProvider } from '../port.ts'
import { type HttpSmsConfig, httpSmsSettings } from './settings.ts'
import { settings } from './variables.ts'

export const http: ProviderKind<TextProvider> = {
  kind: 'http',
  channel: 'sms',
  settings,
  prefix: 'HERALD_HTTP_SMS_',
  configuredBy: settings.httpSmsUrl.name,
  role: 'send',
  hasWebhook: true,
  greeting: 'can be reached; only a message would show whether its login is right',
  shared: { rate: 'httpSmsPerSecond' },
  check: httpSmsSettings,
  async create(name, values: HttpSmsConfig, { world, called }) {
    const { createHttpSms } = await import('./send.ts')
    const names = { address: called('HERALD_HTTP_SMS_URL'), login: null, ca: null, tls: null }
    return createHttpSms({ ...needed(httpSmsSettings(values), name, http), names }, world, name)
  },
}
