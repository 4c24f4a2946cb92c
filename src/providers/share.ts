// What processes of one start share of a provider: its connections and its rate, which were promised once.
import type { ChosenProvider, ProviderValues } from './kind.ts'
import type { Provider } from './port.ts'
import type { Chosen } from './registry.ts'

/** How many processes have enough connections to every provider. */
export function mostEngines({ email, sms }: Chosen): number {
  const most = [...email, ...sms].map(({ kind: { shared }, values }) =>
    shared?.connections
      ? Math.max(1, Math.floor(numberIn(values, shared.connections.key) / shared.connections.least))
      : Number.POSITIVE_INFINITY,
  )
  return Math.min(...most)
}

/** The part of process `at`, from 1, of `of` that send. A process that does not send keeps everything: it uses none of it. */
export function sharedProviders({ email, sms }: Chosen, at: number, of: number): Chosen {
  if (at > of) return { email, sms }
  return { email: email.map(one => sharedBy(one, at, of)), sms: sms.map(one => sharedBy(one, at, of)) }
}

function sharedBy<P extends Provider>(provider: ChosenProvider<P>, at: number, of: number): ChosenProvider<P> {
  const { kind, values } = provider
  const { connections, rate } = kind.shared ?? {}
  return {
    ...provider,
    values: {
      ...values,
      ...(connections && { [connections.key]: partOf(numberIn(values, connections.key), at, of) }),
      // Null and 0: no limit.
      ...(rate && { [rate]: values[rate] === null ? null : numberIn(values, rate) / of }),
    },
  }
}

/** Whole parts that add up to the total. */
const partOf = (total: number, at: number, of: number) => Math.floor(total / of) + (at <= total % of ? 1 : 0)

const numberIn = (values: ProviderValues, key: string) => Number(values[key])
