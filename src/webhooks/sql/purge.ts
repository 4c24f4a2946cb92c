// Deletes what is kept about the past of endpoints: attempts after some days, and what refers to events that are gone.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'

export const purgeAttempts = (sql: Sql, days: number, after: Timestamp | null, most: number) =>
  purgeAged(sql, ATTEMPTS, part`clock_timestamp() - make_interval(days => ${days})`, after, most)

const ATTEMPTS = {
  table: part`webhook_attempts`,
  time: part`at`,
  key: part`id`,
  match: part`t.id = old.id`,
}

/** A service, and the id below which its events are gone. */
export type Purged = { service_id: Id; before: Id }

/** Single events that wait or have failed, and that are gone from the log. Returns how many were deleted, at most `most`. */
export async function purgeRetries(sql: Sql, services: readonly Purged[], most: number): Promise<number> {
  const [row] = await sql<{ n: number }>`
    with old as materialized (
      select r.webhook_id, r.event
      from unnest(${bare(services.map(s => s.service_id))}::uuid[], ${bare(services.map(s => s.before))}::uuid[])
           as s (service_id, before)
      join webhooks w on w.service_id = s.service_id
      join webhook_retries r on r.webhook_id = w.id and r.event < s.before
      limit ${most}
    ),
    gone as (
      delete from webhook_retries r
      using old
      where r.webhook_id = old.webhook_id
        and r.event = old.event
      returning r.event
    )
    select count(*)::integer as n from gone`
  return row?.n ?? 0
}
