// Creates the chosen providers of each channel, in order of preference.
import { stopTogether } from '../runtime/lifetime.ts'
import type { ChosenProvider, ProviderContext } from './kind.ts'
import type { EmailProvider, TextProvider } from './port.ts'

export type Chosen = {
  email: readonly ChosenProvider<EmailProvider>[]
  sms: readonly ChosenProvider<TextProvider>[]
}

export type Registry = {
  email: readonly EmailProvider[]
  sms: readonly TextProvider[]
  stop(): Promise<void>
}

/** `sends`: false in a process that only serves HTTP: only providers with a webhook endpoint are created. */
export function createRegistry(chosen: Chosen, sends: boolean, context: ProviderContext): Registry {
  const isNeeded = ({ kind }: ChosenProvider) => sends || kind.hasWebhook
  const email = chosen.email.filter(isNeeded).map(({ name, kind, values }) => kind.create(name, values, context))
  const sms = chosen.sms.filter(isNeeded).map(({ name, kind, values }) => kind.create(name, values, context))
  return { email, sms, stop: () => stopTogether([...email, ...sms].map(provider => provider.stop())) }
}
