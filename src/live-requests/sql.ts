import type { Actor } from '../audit/actor.ts'
import { recorded } from '../audit/sql.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { part, type Sql } from '../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../mails/sql.ts'

export type LiveRequest = {
  id: Id
  service_id: Id
  /** What the service sends, and to whom. */
  purpose: string
  /** Expected; null: not said. */
  email_a_day: number | null
  sms_a_day: number | null
  /** The person; null: the operator at the command line. */
  asked_by: Id | null
  asked_at: Timestamp
  /** Null: it is open. */
  decision: 'granted' | 'declined' | null
  reason: string | null
  decided_by: Id | null
  decided_at: Timestamp | null
}

const columns = part`id, service_id, purpose, email_a_day, sms_a_day, asked_by, asked_at, decision, reason, decided_by, decided_at`

export type NewRequest = Pick<LiveRequest, 'id' | 'service_id' | 'purpose' | 'email_a_day' | 'sms_a_day' | 'asked_by'>

/** Asking again while a request is open replaces what it says. */
export const ask = (sql: Sql, request: NewRequest, mails: readonly QueuedMail[], actor: Actor) => sql`
  with asked as (
    insert into live_requests (id, service_id, purpose, email_a_day, sms_a_day, asked_by)
    values (${request.id}, ${request.service_id}, ${request.purpose}, ${request.email_a_day}, ${request.sms_a_day},
            ${request.asked_by})
    on conflict (service_id) where decision is null do update
    set purpose = excluded.purpose,
        email_a_day = excluded.email_a_day,
        sms_a_day = excluded.sms_a_day,
        asked_by = excluded.asked_by,
        asked_at = excluded.asked_at
    returning id, service_id
  ),
  ${mailsQueued(mails, part`exists (select from asked)`)},
  ${recorded('live requested', actor, part`asked`)}
  select id from asked`

/** Null: none is open, or somebody decided at the same moment. */
export async function decide(
  sql: Sql,
  service: Id,
  decided: { decision: 'granted' | 'declined'; reason: string | null; by: Id | null },
  actor: Actor,
): Promise<LiveRequest | null> {
  const [row] = await sql<LiveRequest>`
    with decided as (
      update live_requests
      set decision = ${decided.decision},
          reason = ${decided.reason},
          decided_by = ${decided.by},
          decided_at = now()
      where service_id = ${service}
        and decision is null
      returning ${columns}
    ),
    ${recorded(decided.decision === 'granted' ? 'live granted' : 'live declined', actor, part`decided`, decided.reason === null ? null : { reason: decided.reason })}
    select ${columns} from decided`
  return row ?? null
}

/** The newest of the service, open or decided. */
export async function newest(sql: Sql, service: Id): Promise<LiveRequest | null> {
  const [row] = await sql<LiveRequest>`
    select ${columns}
    from live_requests
    where service_id = ${service}
    order by asked_at desc, id desc
    limit 1`
  return row ?? null
}

/** Those that wait for a decision, oldest first. */
export const open = (sql: Sql, most: number) => sql<LiveRequest>`
  select ${columns}
  from live_requests
  where decision is null
  order by asked_at, id
  limit ${most}`
