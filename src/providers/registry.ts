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
export async function createRegistry(
  chosen: Chosen,
  sends: boolean,
  context: Omit<ProviderContext, 'called'>,
): Promise<Registry> {
  const create = async <P extends Provider>(list: readonly ChosenProvider<P>[]): Promise<P[]> => {
    const created: P[] = []
    for (const { name, kind, values, where } of list) {
      const called = (variable: string) => (where === undefined ? variable : `${keyOf(kind, variable)} (${where})`)
      if (sends || kind.hasWebhook) created.push(await kind.create(name, values, { ...context, called }))
    }
    return created
  }
  const email = await create(chosen.email)
  const sms = await create(chosen.sms)
  return { email, sms, stop: () => stopTogether([...email, ...sms].map(provider => provider.stop())) }
}

/** `HERALD_SMTP_CA_FILE` → `ca_file`. */
const keyOf = ({ prefix }: { prefix: string }, variable: string) =>
  variable.slice(variable.startsWith(prefix) ? prefix.length : 'HERALD_'.length).toLowerCase()
