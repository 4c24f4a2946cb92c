// Creates the chosen providers of each channel, in order of preference.
import { stopTogether } from '../runtime/lifetime.ts'
import type { ChosenProvider, ProviderContext } from './kind.ts'
import type { EmailProvider, Provider, TextProvider } from './port.ts'

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
export async function createRegistry(chosen: Chosen, sends: boolean, context: ProviderContext): Promise<Registry> {
  const create = async <P extends Provider>(list: readonly ChosenProvider<P>[]): Promise<P[]> => {
    const created: P[] = []
    for (const { name, kind, values } of list)
      if (sends || kind.hasWebhook) created.push(await kind.create(name, values, context))
    return created
  }
  const email = await create(chosen.email)
  const sms = await create(chosen.sms)
  return { email, sms, stop: () => stopTogether([...email, ...sms].map(provider => provider.stop())) }
}
