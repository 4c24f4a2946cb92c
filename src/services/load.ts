// Loads a service with everything that accepting needs, in one statement, cached until it changes.

import { type Channel, channelNames, PLAIN } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { type Cache, createCache } from '../runtime/cache.ts'
import { maySend } from './service.ts'
import { type LoadedService, load, type StoredService } from './sql.ts'

export type Services = Cache<Id, LoadedService | null>

/** Settings of the installation that apply to every service. */
export type Installation = {
  /** Channels that are switched off. */
  off?: Readonly<Record<Channel, boolean>>
  homeCountry?: string
  smsSender?: string | null
}

export const createServices = (sql: Sql, clock: Clock, installation: Installation = {}): Services =>
  createCache(clock, async (id: Id) => within(installation, await load(sql, id)), { ownerOf: id => id })

const within = ({ off, homeCountry = 'CA', smsSender = null }: Installation, service: StoredService | null) =>
  service && {
    ...service,
    ...Object.fromEntries(
      channelNames.map(channel => [PLAIN[channel].columns.maySend, maySend(service, channel) && !off?.[channel]]),
    ),
    home_country: service.home_country ?? homeCountry,
    default_sender: smsSender,
  }
