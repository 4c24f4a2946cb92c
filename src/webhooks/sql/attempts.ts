// The attempts as their owners read them. Delivery writes them (sql/deliver.ts).
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

/** `took`: of each request; one for all events together, or one for each of them. */
export type StoredAttempt = {
  id: Id
  at: Timestamp
  events: Id[]
  took: number[]
  status: number | null
  error: string | null
  answer: Buffer | null
}

/** Newest first. */
export const listAttempts = (
  sql: Sql,
  webhook: Id,
  { olderThan, isFailed, most }: { olderThan: Id | null; isFailed: boolean; most: number },
) => sql<StoredAttempt>`
  select id, at, events, took, status, error, answer
  from webhook_attempts
  where webhook_id = ${webhook}
    and (${olderThan}::uuid is null or id < ${olderThan}::uuid)
    and (not ${isFailed}::boolean or status is null or status not between 200 and 299)
  order by id desc
  limit ${most}`

export async function isAttemptOf(sql: Sql, webhook: Id, attempt: Id): Promise<boolean> {
  const rows = await sql`select from webhook_attempts where id = ${attempt} and webhook_id = ${webhook}`
  return rows.length > 0
}
