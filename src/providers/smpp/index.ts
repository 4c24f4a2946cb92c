import { needed, type ProviderKind } from '../kind.ts'
import type { TextProvider } from '../port.ts'
import { fileSettings, type SmppConfig, settings, smppSettings } from './settings.ts'

export const smpp: ProviderKind<TextProvider> = {
  kind: 'smpp',
  channel: 'sms',
  settings,
  fileSettings,
  prefix: 'HERALD_SMPP_',
  configuredBy: settings.smppUrl.name,
  role: 'send',
  hasWebhook: false,
  greeting: 'takes a bind',
  probeValues: { smppBinds: 1 },
  shared: { connections: { key: 'smppBinds', least: 1 }, rate: 'smppPerSecond' },
  check: smppSettings,
  async create(name, values: SmppConfig, { world, called }) {
    const [{ createSmpp }, { namesBy }] = await Promise.all([import('./send.ts'), import('./connection.ts')])
    return createSmpp({ ...needed(smppSettings(values), name, smpp), names: namesBy(called) }, world, name)
  },
}
