// Settings for adapters that use a server in the test, and the environment they are given.
import { createClock } from '../../src/core/clock.ts'
import type { ProviderWorld, Receipt } from '../../src/providers/port.ts'
import type { Relay } from '../../src/providers/smtp/relay.ts'
import type { SmtpSettings } from '../../src/providers/smtp/settings.ts'

export const relay = (port: number, changes: Partial<Relay> = {}): Relay => ({
  host: '127.0.0.1',
  port,
  implicitTls: false,
  tls: 'never',
  user: null,
  password: null,
  ca: null,
  name: 'herald.example',
  connectSeconds: 2,
  replySeconds: 2,
  ...changes,
})

export const smtpSettingsFor = (port: number, changes: Partial<SmtpSettings> = {}): SmtpSettings => ({
  relay: relay(port),
  connections: 5,
  messagesPerConnection: 50,
  idleSeconds: 15,
  perSecond: null,
  dkim: null,
  bounces: null,
  ...changes,
})

export function providerWorld() {
  const clock = createClock()
  const receipts: Receipt[] = []
  const warnings: { fields: Record<string, unknown>; sentence: string }[] = []
  const world: ProviderWorld = {
    accept: async (_provider, given) => {
      receipts.push(...given)
    },
    now: clock.now,
    warn: (fields, sentence) => {
      warnings.push({ fields, sentence })
    },
  }
  return { world, receipts, warnings }
}
