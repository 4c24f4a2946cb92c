// The settings of one of several processes of a start. What an operator limits is a promise to a provider, or memory of the machine:
// the processes share it.
import { hostname } from 'node:os'
import type { Slot } from '../processes/messages.ts'
import { mostEngines, sharedProviders } from '../providers/share.ts'
import type { Config } from './index.ts'

/** A body of this size can always be read, whatever the share. */
const LEAST_BODY_BUDGET = 8

/** Of how many processes the first ones send, when `only` is not given: each needs connections to every provider. */
export const enginesOf = ({ providers }: Pick<Config, 'providers'>, processes: number): number =>
  Math.min(processes, mostEngines(providers))

export const nameOf = ({ processName }: Pick<Config, 'processName'>, { at }: Pick<Slot, 'at'>): string =>
  `${processName ?? hostname()}-${at}`

export function shareOf(config: Config, slot: Slot): Config {
  return {
    ...config,
    processName: nameOf(config, slot),
    processes: slot.of,
    bodyBudget: Math.max(LEAST_BODY_BUDGET, Math.floor(config.bodyBudget / slot.of)),
    providers: sharedProviders(config.providers, slot.at, slot.engines),
  }
}
