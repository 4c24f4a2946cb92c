// A service with everything the accept path asks of it, read in one statement and kept until it changes.
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Cache, createCache } from '../db/cache.ts'
import type { Sql } from '../db/connect.ts'
import { type LoadedService, load } from './sql.ts'

export type Services = Cache<Id, LoadedService | null>

type Off = { email: boolean; sms: boolean }

/** No service may send by a channel that the installation has switched off. */
export const createServices = (sql: Sql, clock: Clock, off: Off = { email: false, sms: false }): Services =>
  createCache(clock, async (id: Id) => permitted(await load(sql, id), off), { ownerOf: id => id })

const permitted = (service: LoadedService | null, off: Off) =>
  service && {
    ...service,
    may_send_email: service.may_send_email && !off.email,
    may_send_sms: service.may_send_sms && !off.sms,
  }
