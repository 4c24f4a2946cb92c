// A service with everything the accept path asks of it, read in one statement and kept until it changes.
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Cache, createCache } from '../db/cache.ts'
import type { Sql } from '../db/connect.ts'
import { type LoadedService, load } from './sql.ts'

export type Services = Cache<Id, LoadedService | null>

export const createServices = (sql: Sql, clock: Clock): Services =>
  createCache(clock, (id: Id) => load(sql, id), { ownerOf: id => id })
