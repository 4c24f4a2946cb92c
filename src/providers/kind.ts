// A kind of provider is a value: how it is configured, how one is created, what it can do. providers/<kind>/index.ts has each.
import type { Settings } from '../core/setting.ts'
import type { Messages, Provider, ProviderWorld } from './port.ts'

/** Values of a kind's settings, by the names of its `settings`. */
export type ProviderValues = Readonly<Record<string, unknown>>

/** What of the installation a provider may need. */
export type Installation = {
  sendingDomain: string
  /** Public address; null: unknown, so no provider can be told where receipts go. */
  baseUrl: string | null
  /** Today's sealing secret first, then earlier ones. */
  secrets: readonly string[]
}

/** Stores what would have been sent. */
export type Keep = { readonly [C in keyof Messages]: (message: Messages[C]) => Promise<void> }

export type ProviderContext = Installation & { world: ProviderWorld; keep: Keep }

export type ProviderKind<P extends Provider = Provider> = {
  kind: string
  channel: P['channel']
  /** Rows of settings: environment variables for one provider of this kind, keys in HERALD_PROVIDERS_FILE for several. */
  settings: Settings
  /** Rows for the file alone. Their names are used in sentences, there are no such variables. */
  fileSettings?: Settings
  /** What begins the variables of this kind alone; without it they are the keys in the file. */
  prefix: string
  /** The variable that configures it; null: nothing has to be set. */
  configuredBy: string | null
  /** `capture`: messages are stored and marked delivered. `off`: no service may send by the channel. */
  role: 'send' | 'capture' | 'off'
  /** It delivers receipts over HTTP, so it is also needed where requests come in and nothing is sent. */
  hasWebhook: boolean
  /** What a successful probe shows, for doctor; follows the name. */
  greeting: string
  /** Values for a probe beside a running service, which must not lose its port or its binds to it. */
  probeValues?: ProviderValues
  /** Throws a sentence that names the variables when settings do not fit together. */
  check?(values: ProviderValues): void
  create(name: string, values: ProviderValues, context: ProviderContext): P
}

/** A provider that is to be created. */
export type ChosenProvider<P extends Provider = Provider> = {
  /** In metrics, logs, the path of receipts and the column `provider`. */
  name: string
  kind: ProviderKind<P>
  values: ProviderValues
  /** Its place in the providers file; absent: it is configured by variables. */
  where?: string
}

export function needed<T>(settings: T | null, name: string, { configuredBy }: Pick<ProviderKind, 'configuredBy'>): T {
  if (settings === null) throw new Error(`The provider ${name} is asked for, but ${configuredBy} is not set.`)
  return settings
}
