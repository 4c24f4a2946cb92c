// The request log of a service, newest first.
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { namesOf } from '../keys/sql.ts'
import { KEPT_HOURS } from './request.ts'
import { page, type RequestFilter, type StoredRequest } from './sql.ts'

/** `key_name`: null when requests were only counted. */
export type ShownRequest = StoredRequest & { at: Timestamp; key_name: string | null }

/** `next`: the id after which the next page begins; null: there is none. */
export type RequestPage = { requests: ShownRequest[]; next: Id | null }

const HOUR_MICROS = 3_600_000_000

export async function listRequests(
  app: { db: { sql: Sql }; clock: Clock },
  service: Id,
  filter: RequestFilter,
  { olderThan, most }: { olderThan: Id | null; most: number },
): Promise<RequestPage> {
  const since = floorOf(app.clock.micros() - KEPT_HOURS * HOUR_MICROS)
  const found = await page(app.db.sql, service, filter, { since, olderThan, most: most + 1 })
  const rows = found.slice(0, most)
  const keys = [...new Set(rows.flatMap(({ key_id }) => key_id ?? []))]
  const names = keys.length === 0 ? new Map<Id, string>() : await namesOf(app.db.sql, keys)
  return {
    requests: rows.map(row => ({
      ...row,
      at: fromMicros(microsOf(row.id)),
      key_name: row.key_id && (names.get(row.key_id) ?? null),
    })),
    next: found.length > most ? (rows.at(-1)?.id ?? null) : null,
  }
}
