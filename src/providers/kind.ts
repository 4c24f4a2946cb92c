// A provider kind is a value: its settings, how to create a provider, and its capabilities. Each is in providers/<kind>/index.ts.
import type { Settings } from '../core/setting.ts'
import type { Messages, Provider, ProviderWorld } from './port.ts'

/** Values of a kind's settings, by the names of its `settings`. */
export type ProviderValues = Readonly<Record<string, unknown>>

/** Settings of the installation that a provider may need. */
export type Installation = {
  sendingDomain: string
  /** The public address; null: unknown, so providers cannot be asked to post receipts. */
  baseUrl: string | null
  /** Today's sealing secret first, then earlier ones. */
  secrets: readonly string[]
}

/** Stores captured messages, by channel. */
export type Keep = { readonly [C in keyof Messages]: (message: Messages[C]) => Promise<void> }

export type ProviderContext = Installation & {
  world: ProviderWorld
  keep: Keep
  /** What operators call a setting of this provider: the variable, or the key in the providers file. */
  called(variable: string): string
}

export type ProviderKind<P extends Provider = Provider> = {
  kind: string
  channel: P['channel']
  /** Environment variables for one provider of this kind; in HERALD_PROVIDERS_FILE the keys of each provider. */
  settings: Settings
  /** Keys of the file only. Their names appear in error sentences; there are no such variables. */
  fileSettings?: Settings
  /** The prefix of this kind's variables. The key in the file is the variable without it. */
  prefix: string
  /** The variable that configures it; null: nothing has to be set. */
  configuredBy: string | null
  /** `capture`: messages are stored and marked delivered. `off`: no service may send by the channel. */
  role: 'send' | 'capture' | 'off'
  /** It receives receipts over HTTP, so a process that only serves HTTP creates it too. */
  hasWebhook: boolean
  /** What doctor prints after the name when a probe succeeds. */
  greeting: string
  /** Values that doctor uses instead, so that a probe does not take the port or the binds of a running service. */
  probeValues?: ProviderValues
  /** Keys of settings that hold for all processes of one start together. */
  shared?: {
    /** `least`: for how many of them one more process sends. With few, its results would be recorded in small batches. */
    connections?: { key: string; least: number }
    /** Null or 0: no limit. */
    rate?: string
  }
  /** Throws an error that names the variables when settings contradict each other. */
  check?(values: ProviderValues): void
  /** Imports its client here, so that a command, which only reads the settings, need not. */
  create(name: string, values: ProviderValues, context: ProviderContext): P | Promise<P>
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
