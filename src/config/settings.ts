// The settings of config/ itself, and the table of all settings: the rows of every owner, in the order of docs/settings.md.
import { isAbsolute, resolve } from 'node:path'
import { type Channel, channelNames, PLAIN } from '../channels/plain.ts'
import { flag, itemsOf, reader, text } from '../core/readers.ts'
import { type Setting, type Settings, setting, type ValuesOf } from '../core/setting.ts'
import { settings as database } from '../db/settings.ts'
import { settings as engine } from '../engine/settings.ts'
import { settings as files } from '../files/settings.ts'
import { settings as http, loadSettings as httpLoad } from '../http/settings.ts'
import { settings as keys } from '../keys/settings.ts'
import { settings as limits } from '../limits/settings.ts'
import { settings as people } from '../people/settings.ts'
import { settings as processes } from '../processes/settings.ts'
import { settings as httpSms } from '../providers/http/variables.ts'
import { KINDS, type Kinds } from '../providers/kinds.ts'
import type { Provider } from '../providers/port.ts'
import { settings as ses } from '../providers/ses/settings.ts'
import { settings as smpp } from '../providers/smpp/settings.ts'
import { settings as smtp } from '../providers/smtp/settings.ts'
import { settings as twilio } from '../providers/twilio/settings.ts'
import { settings as services } from '../services/settings.ts'
import { settings as telemetry } from '../telemetry/settings.ts'
import { settings as webhooks } from '../webhooks/settings.ts'

const path = reader(given => (isAbsolute(given) ? given : resolve(given)))

const providerNames = ({ sending, capture, none }: Kinds<Provider>) => {
  const names = [...sending, capture, none].map(({ kind }) => kind)
  return reader<string[]>(given => {
    const all = itemsOf(given)
    if (all.length === 0) return { problem: 'names no provider' }
    const wrong = all.find(name => !names.includes(name))
    if (wrong !== undefined) return { problem: `names "${wrong}"; there are ${names.join(', ')}` }
    if (new Set(all).size < all.length) return { problem: 'names a provider twice' }
    return all.includes(none.kind) && all.length > 1 ? { problem: `names ${none.kind}, which stands alone` } : all
  })
}

const places = {
  envFile: setting<string | null>(
    'HERALD_ENV_FILE',
    text,
    null,
    'A file with settings, one NAME=value on each line; the environment takes precedence. The command line reads the same file.',
    { shown: '`herald.env` in the working folder, else `/etc/herald/herald.env`' },
  ),
  dataFolder: setting(
    'HERALD_DATA',
    path,
    resolve('data'),
    'Folder for the embedded database and the secrets created on first start.',
    { shown: './data' },
  ),
} satisfies Settings

/** The list of providers of a channel: `emailProviders` for the channel `email`. */
type Lists = { [C in Channel as `${C}Providers`]: Setting<string[]> }
const lists = Object.fromEntries(
  channelNames.map(name => {
    const { words, providersVariable } = PLAIN[name]
    const kinds = KINDS[name].sending.map(({ kind }) => kind).join(', ')
    const row = setting<string[]>(
      providersVariable,
      providerNames(KINDS[name]),
      [],
      `Providers of ${words.many}, in order of preference, separated by commas: ${kinds}; \`capture\` stores them in the inbox and sends nothing; \`none\` switches ${words.many} off.`,
      { shown: 'the configured ones, in this order; without any, capture' },
    )
    return [`${name}Providers`, row]
  }),
) as Lists

const choice = {
  providersFile: setting<string | null>(
    'HERALD_PROVIDERS_FILE',
    path,
    null,
    'A JSON file that describes several providers, also several of one kind, in order of preference, instead of the variables of each (docs/running.md).',
    { shown: 'none' },
  ),
  capture: setting(
    'HERALD_CAPTURE',
    flag,
    false,
    'Declares a trial: a channel without a provider marks messages delivered and sends nothing, also where other machines can reach the service. Without it such an installation does not start.',
  ),
} satisfies Settings

export const settings = {
  ...places,
  ...database,
  ...http,
  ...keys,
  ...services,
  ...lists,
  ...choice,
  ...files,
  ...limits,
  ...webhooks,
  ...people,
  ...engine,
  ...processes,
  ...telemetry,
  ...httpLoad,
  ...smpp,
  ...twilio,
  ...httpSms,
  ...smtp,
  ...ses,
} satisfies Settings

/** The values of all settings. */
export type Values = ValuesOf<typeof settings>

/** The rows of docs/settings.md. */
export const settingsTable = () =>
  Object.values<Settings[string]>(settings).map(({ name, shown, sentence, secret = false }) => ({
    name,
    shown,
    sentence,
    secret,
  }))

/** Settings and their values for people: a secret, or what may contain one, is shown as set or not. */
export const shownSettings = (values: Readonly<Record<string, unknown>>) =>
  Object.entries<Settings[string]>(settings).flatMap(([key, { name, secret, inline, textOf }]) => {
    if (!(key in values)) return []
    const value = values[key]
    const isEmpty = value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
    const hides = secret || inline || (typeof value === 'string' && /:\/\/[^/]*@/.test(value))
    return [{ name, value: isEmpty ? null : hides ? 'set' : textOf ? textOf(value) : shownValue(value) }]
  })

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name}=${one}`)
    .join(', ')
}
