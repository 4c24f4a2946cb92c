import type { Id } from '../core/id.ts'
import { bare, type Part, part, type Sql } from '../db/connect.ts'
import { purgeById } from '../db/purge.ts'
import type { ListedRequest, StatusClass } from './request.ts'

/** `unlisted` null: one request; else how many of this class of statuses were counted, and the rest is null. */
export type StoredRequest = { id: Id; took_ms: number } & (
  | (Omit<ListedRequest, 'took_ms'> & { unlisted: null })
  | { key_id: null; method: null; path: null; status: StatusClass; error: null; reason: null; unlisted: number }
)
export type NewRequest = StoredRequest & { service_id: Id }

export const insert = (sql: Sql, rows: readonly NewRequest[]) => sql`
  insert into requests (id, service_id, key_id, method, path, status, error, reason, took_ms, unlisted)
  select id, service_id, key_id, method, path, status, error, reason, took_ms, unlisted
  from unnest(${bare(rows.map(r => r.id))}::uuid[], ${bare(rows.map(r => r.service_id))}::uuid[],
              ${bare(rows.map(r => r.key_id))}::uuid[], ${rows.map(r => r.method)}::text[], ${rows.map(r => r.path)}::text[],
              ${bare(rows.map(r => r.status))}::smallint[], ${rows.map(r => r.error)}::text[],
              ${rows.map(r => r.reason)}::text[], ${bare(rows.map(r => r.took_ms))}::integer[],
              ${bare(rows.map(r => r.unlisted))}::integer[])
       as r (id, service_id, key_id, method, path, status, error, reason, took_ms, unlisted)
  on conflict do nothing`

/** Constants, so that the index of refusals is used. */
const OF_CLASS: Readonly<Record<StatusClass, Part>> = {
  200: part`and status < 400`,
  400: part`and status >= 400 and status < 500`,
  500: part`and status >= 500`,
}

export type RequestFilter = { status: StatusClass | null; key: Id | null }

/** Newest first; not older than `since`. */
export const page = (
  sql: Sql,
  service: Id,
  { status, key }: RequestFilter,
  { since, olderThan, most }: { since: Id; olderThan: Id | null; most: number },
) => sql<StoredRequest>`
  select id, key_id, method, path, status, error, reason, took_ms, unlisted
  from requests
  where service_id = ${service}
    and id >= ${since}
    and (${olderThan}::uuid is null or id < ${olderThan}::uuid)
    ${key ? part`and key_id = ${key}` : part``}
    ${status ? OF_CLASS[status] : part``}
  order by id desc
  limit ${most}`

/** Deletes up to `most` requests older than `before`, oldest first. */
export const purge = (sql: Sql, before: Id, after: Id | null, most: number) =>
  purgeById(sql, part`requests`, before, after, most)
