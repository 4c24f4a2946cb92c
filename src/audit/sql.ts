// The book of changes. A change and its line are one statement, so neither is there without the other.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'

export type Action =
  | 'key created'
  | 'key revoked'
  | 'template created'
  | 'template changed'
  | 'template archived'
  | 'service changed'
  | 'message cancelled'
  | 'job cancelled'

/** A step of a statement. `done` names an earlier step whose rows have a service_id and an id; `by` is the key that asked. */
export const recorded = (action: Action, by: Id | null, done: Part, detail: object | null = null) => part`
  recorded as (
    insert into audit (service_id, key_id, action, subject_id, detail)
    select done.service_id, ${by}::uuid, ${action}::text, done.id, ${detail && JSON.stringify(detail)}::jsonb
    from ${done} done)`

export type Line = {
  id: number
  at: Timestamp
  service_id: Id
  service: string
  key_id: Id | null
  action: Action
  subject_id: Id
  detail: object | null
}

/** Newest first; of one service, or of all. */
export const lines = (sql: Sql, service: Id | null, most: number) => sql<Line>`
  select a.id, a.at, a.service_id, s.name as service, a.key_id, a.action, a.subject_id, a.detail
  from audit a
  join services s on s.id = a.service_id
  where ${service}::uuid is null or a.service_id = ${service}
  order by a.id desc
  limit ${most}`
