// What became of messages that did not fail: delivered, or kept where nobody gets them.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Channel, channelNames } from '../channels/plain.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { providersSince } from '../notifications/sql/endings.ts'

/** `mixed`: some were delivered, others captured. */
export type Ending = 'delivered' | 'captured' | 'simulated' | 'mixed'

const BY_PROVIDER: Readonly<Record<string, Ending>> = { capture: 'captured', simulation: 'simulated' }

/** By the provider that handed a message over. */
export const endingBy = (provider: string | null): Ending => (provider !== null && BY_PROVIDER[provider]) || 'delivered'

/** Test keys are not counted. */
const LIVE: readonly KeyType[] = ['normal', 'team']

/** Of the messages that a service has accepted since a time, in microseconds since 1970; null: none has ended well. */
export async function endingSince(
  { sql }: { sql: Sql },
  actor: Actor,
  service: Id,
  since: number,
  channels: readonly Channel[] = channelNames,
): Promise<Ending | null> {
  requirePermission(actor, 'see-service', service)
  const providers = await providersSince(sql, service, LIVE, channels, floorOf(since))
  const [first, ...others] = [...new Set(providers.map(endingBy))]
  return first === undefined ? null : others.length > 0 ? 'mixed' : first
}
