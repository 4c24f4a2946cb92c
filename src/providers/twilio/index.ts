import { needed, type ProviderKind } from '../kind.ts'
import type { TextProvider } from '../port.ts'
import { settings, type TwilioConfig, twilioSettings } from './settings.ts'

export const twilio: ProviderKind<TextProvider> = {
  kind: 'twilio',
  channel: 'sms',
  settings,
  prefix: 'HERALD_TWILIO_',
  configuredBy: settings.twilioAccount.name,
  role: 'send',
  hasWebhook: true,
  greeting: 'knows the account',
  shared: { rate: 'twilioPerSecond' },
  check: (values: Omit<TwilioConfig, 'baseUrl'>) => twilioSettings({ ...values, baseUrl: null }),
  async create(name, values: Omit<TwilioConfig, 'baseUrl'>, { baseUrl, world, called }) {
    const { createTwilio } = await import('./send.ts')
    const names = { address: called('HERALD_TWILIO_URL'), login: null, ca: null, tls: null }
    return createTwilio({ ...needed(twilioSettings({ ...values, baseUrl }, name), name, twilio), names }, world, name)
  },
}
