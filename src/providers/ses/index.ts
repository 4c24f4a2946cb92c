import { needed, type ProviderKind } from '../kind.ts'
import type { EmailProvider } from '../port.ts'
import { checkSes, type SesConfig, sesSettings, settings } from './settings.ts'

export const ses: ProviderKind<EmailProvider> = {
  kind: 'ses',
  channel: 'email',
  settings,
  prefix: 'HERALD_SES_',
  configuredBy: settings.sesRegion.name,
  role: 'send',
  hasWebhook: true,
  greeting: 'takes the connection and the login',
  probeValues: { dkimKey: null },
  shared: { connections: { key: 'sesConnections', least: 10 }, rate: 'sesPerSecond' },
  check: checkSes,
  async create(name, values: Omit<SesConfig, 'sendingDomain'>, { sendingDomain, world, called }) {
    const { createSes } = await import('./send.ts')
    return createSes(needed(sesSettings({ ...values, sendingDomain }, called), name, ses), world, name)
  },
}
