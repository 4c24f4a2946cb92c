// The suite on every e-mail adapter.
import { createSes } from '../../src/providers/ses/send.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { moodyServer } from '../support/smtp-server.ts'
import { providerWorld, relay, smtpSettingsFor } from '../support/smtp-settings.ts'
import { type EmailPeer, emailProviderSuite } from './email-provider.ts'

emailProviderSuite('smtp', async () => {
  const server = await moodyServer()
  return { provider: createSmtp(smtpSettingsFor(server.port), providerWorld().world), ...peerOf(server) }
})

emailProviderSuite('ses', async () => {
  const server = await moodyServer()
  const pool = { relay: relay(server.port), connections: 5, messagesPerConnection: 50, idleSeconds: 5 }
  const settings = { pool, perSecond: null, dkim: null, configurationSet: null, topics: [] }
  return { provider: createSes(settings, providerWorld().world), ...peerOf(server) }
})

function peerOf(server: Awaited<ReturnType<typeof moodyServer>>): Omit<EmailPeer, 'provider'> {
  return {
    arrived: async () =>
      server.letters.map(({ to, raw }) => ({ to, messageId: /^Message-ID: (.*)\r$/m.exec(raw)?.[1] ?? '' })),
    behave: server.behave,
    stop: server.stop,
  }
}
