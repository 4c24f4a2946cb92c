import { needed, type ProviderKind } from '../kind.ts'
import type { EmailProvider } from '../port.ts'
import { namesBy } from './relay.ts'
import { checkSmtp, fileSettings, type SmtpConfig, settings, smtpSettings } from './settings.ts'

export const smtp: ProviderKind<EmailProvider> = {
  kind: 'smtp',
  channel: 'email',
  settings,
  fileSettings,
  prefix: 'HERALD_SMTP_',
  configuredBy: settings.smtpUrl.name,
  role: 'send',
  hasWebhook: false,
  greeting: 'takes the connection, with encryption and login as they are set',
  shared: { connections: { key: 'smtpConnections', least: 10 }, rate: 'smtpPerSecond' },
  check: checkSmtp,
  // The signing key has a check of its own.
  probeValues: { bounceDomain: null, dkimKey: null },
  async create(name, values: Omit<SmtpConfig, 'sendingDomain'>, { sendingDomain, secrets, world, called }) {
    const { createSmtp } = await import('./send.ts')
    const given = needed(smtpSettings({ ...values, sendingDomain }, secrets), name, smtp)
    return createSmtp({ ...given, relay: { ...given.relay, names: namesBy(called) } }, world, name)
  },
}
