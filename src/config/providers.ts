// Chooses the providers from variables: the short way, for one provider of each kind.
import { channelNames, PLAIN } from '../channels/plain.ts'
import type { ChosenProvider, ProviderKind, ProviderValues } from '../providers/kind.ts'
import { KINDS, type Kinds } from '../providers/kinds.ts'
import type { Provider } from '../providers/port.ts'
import type { Chosen } from '../providers/registry.ts'
import type { Report } from './read.ts'
import type { Values } from './settings.ts'

type IsSet = (variable: string) => boolean

/** Listed providers must be configured; without a list, all configured ones are used. */
export const chosenProviders = (values: Values, isSet: IsSet, report: Report): Chosen => ({
  email: chosenOf(KINDS.email, PLAIN.email.providersVariable, values.emailProviders, values, isSet, report),
  sms: chosenOf(KINDS.sms, PLAIN.sms.providersVariable, values.smsProviders, values, isSet, report),
})

function chosenOf<P extends Provider>(
  { sending, capture, none }: Kinds<P>,
  list: string,
  names: readonly string[],
  values: ProviderValues,
  isSet: IsSet,
  report: Report,
): ChosenProvider<P>[] {
  const isConfigured = ({ configuredBy }: ProviderKind<P>) => configuredBy === null || isSet(configuredBy)
  const chosen = (kind: ProviderKind<P>) => ({ name: kind.kind, kind, values: valuesOf(kind, values) })
  if (!isSet(list)) {
    const configured = sending.filter(isConfigured)
    return (configured.length > 0 ? configured : [capture]).map(chosen)
  }
  const all = [...sending, capture, none]
  const named = names.flatMap(name => all.find(({ kind }) => kind === name) ?? [])
  for (const kind of sending)
    if (named.includes(kind) && !isConfigured(kind))
      report(list, `${list} names ${kind.kind}, but ${kind.configuredBy} is not set`)
  return named.map(chosen)
}

/** A channel is described in the providers file or by variables, not by both. */
export function reportDoubled(
  { path, chosen }: { path: string; chosen: Partial<Chosen> },
  isSet: IsSet,
  report: Report,
): void {
  for (const channel of channelNames.filter(channel => chosen[channel])) {
    const rows = KINDS[channel].sending.flatMap(({ settings }) => Object.values(settings).map(({ name }) => name))
    for (const name of new Set([PLAIN[channel].providersVariable, ...rows]))
      if (isSet(name))
        report(name, `${name} is set, and ${path} describes the providers of ${PLAIN[channel].words.many}; keep one`)
  }
}

const valuesOf = ({ settings }: Pick<ProviderKind, 'settings'>, values: ProviderValues): ProviderValues =>
  Object.fromEntries(Object.keys(settings).map(key => [key, values[key]]))

/** Conflicts between the variables of each kind, also of kinds that are not used. */
export const providerProblems = (values: ProviderValues): string[] =>
  [...KINDS.email.sending, ...KINDS.sms.sending].flatMap(kind => problemsOf(kind, valuesOf(kind, values)))

/** The error that the check of a kind throws. */
export function problemsOf({ check }: Pick<ProviderKind, 'check'>, values: ProviderValues): string[] {
  try {
    check?.(values)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
