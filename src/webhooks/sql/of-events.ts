// The attempts to tell endpoints about certain events, for the timeline of a message.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'
import type { EventType, Scope } from '../../events/event.ts'

export type EventAttempt = {
  webhook_id: Id
  event: Id
  type: EventType
  at: Timestamp
  /** Milliseconds until the answer. */
  took: number | null
  /** Null: no answer; then error says why. */
  status: number | null
  error: string | null
}

/** Attempts of one endpoint at or after an event that are looked at. A batch that is repeated has the same stamp. */
const NEAR = 50

/** Oldest first. Each event is a range of the index `webhook_attempts_by_stamp` for each endpoint. */
export const attemptsOf = (
  sql: Sql,
  { service_id, key_type }: Scope,
  events: readonly { id: Id; type: EventType; stamp: string }[],
  most: number,
) => sql<EventAttempt>`
  select w.id as webhook_id, e.id as event, e.type, a.at, a.status, a.error,
         coalesce(a.took[array_position(a.events, e.id)], a.took[1]) as took
  from webhooks w
  cross join unnest(${events.map(one => one.id)}::uuid[], ${events.map(one => one.type)}::text[],
                    ${events.map(one => one.stamp)}::bigint[]) as e (id, type, stamp)
  cross join lateral (
    select near.*
    from (
      select *
      from webhook_attempts
      where webhook_id = w.id
        and stamp >= e.stamp
      order by stamp
      limit ${NEAR}
    ) near
    where e.id = any (near.events)
  ) a
  where w.service_id = ${service_id}
    and w.key_type = ${key_type}
    and (w.types is null or e.type = any (w.types))
  order by a.at, a.id
  limit ${most}`
