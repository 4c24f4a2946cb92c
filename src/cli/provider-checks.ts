// The provider checks of doctor: each provider is contacted as for a message, up to the point where one would be sent.
import { PLAIN } from '../channels/plain.ts'
import { createProviders } from '../delivery.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import type { Store } from '../parts.ts'
import type { ChosenProvider, ProviderKind } from '../providers/kind.ts'
import type { Provider } from '../providers/port.ts'
import { createAcceptReceipts } from '../receipts/accept.ts'
import { createLog } from '../telemetry/log.ts'
import { type Check, ok, problem } from './checks.ts'
import { explained } from './explain.ts'
import { inboxOf } from './inbox.ts'

export async function checkProviders(store: Store): Promise<Check[]> {
  const { config } = store
  const quiet = { inbox: inboxOf(store), log: createLog('silent') }
  // An SMSC may deliver receipts over this connection. They are stored, and the service applies them.
  const onFault = (_error: unknown, sentence: string) => createLog(config.logLevel).error(sentence)
  const accept = createAcceptReceipts({ ...store, sql: store.db.sql, dispatcher: () => QUEUED, onFault })
  try {
    const chosen = { email: config.providers.email.map(probing), sms: config.providers.sms.map(probing) }
    const kinds = new Map([...chosen.email, ...chosen.sms].map(({ name, kind }) => [name, kind]))
    const providers = await createProviders({ ...store, config: { ...config, providers: chosen } }, quiet, {
      sends: true,
      accept,
      now: store.clock.now,
    })
    try {
      const created = [...providers.email, ...providers.sms]
      return await Promise.all(created.map(provider => checkProvider(provider, kinds.get(provider.name))))
    } finally {
      await providers.stop()
    }
  } catch (error) {
    return [problem('Providers', explained(error).join(' '), 'See docs/providers.md for what each one needs.')]
  }
}

const QUEUED: Dispatcher = { initialLease: () => null, hand() {} }

const probing = <P extends Provider>(provider: ChosenProvider<P>): ChosenProvider<P> => ({
  ...provider,
  values: { ...provider.values, ...provider.kind.probeValues },
})

async function checkProvider(provider: Provider, kind: ProviderKind | undefined): Promise<Check> {
  const name = `Provider of ${PLAIN[provider.channel].words.many}`
  if (kind?.role === 'capture')
    return ok(name, 'none: captured, not sent (messages are kept in the inbox and marked delivered)')
  if (kind?.role === 'off') return ok(name, 'switched off')
  const reply = await provider.probe()
  return reply.ok
    ? ok(name, `${provider.name} ${kind?.greeting ?? 'answers'}`)
    : reply.reason === undefined
      ? problem(
          name,
          `${provider.name} cannot be used: ${reply.detail}`,
          'Messages wait until it can be used. Check its address and login in the settings.',
        )
      : problem(name, `${provider.name} cannot be used: ${reply.reason}`, 'Messages wait until it can be used.')
}
