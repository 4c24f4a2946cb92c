import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'

export type StoredReplay = { request_digest: Buffer; status: number; answer: Buffer }

/** What was answered to this key in the last 24 hours. */
export async function find(sql: Sql, service: Id, key: readonly Buffer[]): Promise<StoredReplay | null> {
  const [found] = await sql<StoredReplay>`
    select request_digest, status, answer
    from replays
    where service_id = ${service}
      and key_digest = any (${key})
      and created_at > now() - interval '24 hours'`
  return found ?? null
}

/** An answer older than a day is forgotten, so that its key can be used anew. */
export const forget = (sql: Sql, service: Id, key: readonly Buffer[]) => sql`
  delete from replays
  where service_id = ${service}
    and key_digest = any (${key})
    and created_at <= now() - interval '24 hours'`

export const forgetOld = (sql: Sql) => sql`
  delete from replays
  where created_at <= now() - interval '24 hours'`
