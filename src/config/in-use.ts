// Which providers each channel uses, and whether this installation may capture messages instead of sending them.
import { type Channel, channelNames, PLAIN } from '../channels/plain.ts'
import { isLoopback } from '../core/network.ts'
import type { ChosenProvider, ProviderKind } from '../providers/kind.ts'
import { KINDS } from '../providers/kinds.ts'
import type { Chosen } from '../providers/registry.ts'

export type Part = 'http' | 'engine' | 'all'

export type ChannelInUse = {
  channel: Channel
  /** In order of preference. `['capture']`: kept in the inbox. `['none']`: switched off. */
  providers: readonly string[]
  /** For people: the start banner, doctor, the inbox. */
  sentence: string
}

/** The providers of each channel. */
export function providersInUse({ providers }: { providers: Chosen }): readonly ChannelInUse[] {
  return channelNames.map(channel => ({
    channel,
    providers: providers[channel].map(({ name }) => name),
    sentence: sentence(PLAIN[channel].words.title, providers[channel]),
  }))
}

function sentence(what: string, [first, ...others]: readonly ChosenProvider[]): string {
  if (isOff(first)) return `${what} are switched off.`
  if (isCapture(first)) return `${what} are captured, not sent: the inbox keeps them.`
  const later = others.map(({ name }) => name).join(', then ')
  return `${what} are sent by ${first?.name}${later === '' ? '' : `, and by ${later} while it is down`}.`
}

/** What a provider of this name does; `send` where this process does not know it. */
export const roleOf = ({ providers }: { providers: Chosen }, channel: Channel, name: string): ProviderKind['role'] =>
  providers[channel].find(one => one.name === name)?.kind.role ?? 'send'

const isOff = (provider: ChosenProvider | undefined) => provider?.kind.role === 'off'
const isCapture = (provider: ChosenProvider | undefined) => provider?.kind.role === 'capture'

/** Which channels are switched off. */
export const channelsOff = ({ providers }: { providers: Chosen }) =>
  Object.fromEntries(channelNames.map(channel => [channel, providers[channel].some(isOff)])) as Record<Channel, boolean>

/** Which channels are captured: whatever the status of their messages says, nobody gets them. */
export const channelsCaptured = ({ providers }: { providers: Chosen }): readonly Channel[] =>
  channelNames.filter(channel => isCapture(providers[channel][0]))

type Placed = {
  providers: Chosen
  host: string
  baseUrl: string | null
  trustedProxies: readonly string[]
  capture: boolean
}

/** Why an installation may not start: it captures messages, which are marked delivered although nobody receives them. */
export function captureProblems(config: Placed, part: Part): string[] {
  const reason = config.capture ? null : publicBecause(config, part)
  if (reason === null) return []
  return channelNames
    .filter(channel => config.providers[channel].some(isCapture))
    .map(channel => {
      const { words, providersVariable: list } = PLAIN[channel]
      const what = words.many
      const { capture, none, sending } = KINDS[channel]
      const where = config.providers[channel].find(isCapture)?.where
      if (where)
        return `${where}: ${capture.kind} marks ${what} delivered that nobody gets, and ${reason}: describe a provider that sends, or {"kind": "${none.kind}"} to switch ${what} off, or set HERALD_CAPTURE=1 for a trial`
      if (config.providers[channel].length > 1)
        return `${list} names ${capture.kind} beside others, which marks ${what} delivered that nobody gets, and ${reason}: leave it out, or set HERALD_CAPTURE=1 for a trial`
      return (
        `there is no provider for ${what}, and ${reason}: set ${sending.map(kind => kind.configuredBy).join(' or ')},` +
        ` or ${list}=${none.kind} to switch ${what} off, or HERALD_CAPTURE=1 for a trial that sends nothing`
      )
    })
}

/** Why other machines can send by this installation; null: they cannot, so it may capture. */
function publicBecause({ host, baseUrl, trustedProxies }: Placed, part: Part): string | null {
  if (part === 'engine') return 'an engine without the HTTP interface cannot tell who sends'
  if (!isLoopback(host)) return `HERALD_HOST is ${host}`
  if (baseUrl !== null && !isLoopback(new URL(baseUrl).hostname)) return `HERALD_BASE_URL is ${baseUrl}`
  if (trustedProxies.length > 0) return 'HERALD_TRUSTED_PROXIES names a proxy'
  return null
}
