// Groups of events as the statements of the program log them, without the messages they are about.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Id } from '../../src/core/id.ts'
import type { Sql } from '../../src/db/connect.ts'
import { part } from '../../src/db/connect.ts'
import type { Cause, EventType, Scope } from '../../src/events/event.ts'
import { horizon, logged } from '../../src/events/sql.ts'

export type Group = {
  type?: EventType
  channel?: 'email' | 'sms'
  cause?: Cause
  provider?: string | null
  detail?: string | null
  took?: number | null
  delay?: number | null
}

/** One group: the same change of these messages. */
export const logGroup = (
  sql: Sql,
  { service_id, key_type }: Scope,
  subjects: readonly Id[],
  { type = 'notification.delivered', channel = 'email', cause = 'attempt', ...rest }: Group = {},
) => sql`
  with ${logged(
    part`logged`,
    cause,
    part`
    select id, ${service_id}::uuid, ${key_type}::text, ${channel}::text, ${type}::text, ${rest.provider ?? null}::text,
           null::text, ${rest.detail ?? null}::text, false, ${rest.took ?? null}::integer, ${rest.delay ?? null}::real,
           null::timestamptz, null::bytea
    from unnest(${subjects}::uuid[]) as s (id)`,
  )}
  select 1 as one`

/** Waits until everything that is in the log can be read. Transactions in other databases of the server hold its horizon back, too. */
export async function readable(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql<{ ready: boolean }>`
      select coalesce(max(stamp), 0) <= ${horizon} as ready from events`
    if (row?.ready) return
    await sleep(10)
  }
}
