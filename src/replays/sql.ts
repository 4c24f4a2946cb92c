import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import { purgeAged } from '../db/purge.ts'
import { commitRecord, isSynchronous } from '../db/replicated.ts'

export type StoredReplay = { request_digest: Buffer; status: number; answer: Buffer }

/**
 * The answer that was stored for this key in the last 24 hours. It is given again, so what it promises must be on the synchronous
 * standby.
 */
export async function find(sql: Sql, service: Id, key: readonly Buffer[]): Promise<StoredReplay | null> {
  const [found] = await sql<StoredReplay>`
    select request_digest, status, answer, case when ${isSynchronous} then ${commitRecord} end as lsn
    from replays
    where service_id = ${service}
      and key_digest = any (${key})
      and created_at > now() - interval '24 hours'`
  return found ?? null
}

/** Whether a key has an answer. Not `exists`, which the planner may turn into a hash table of a whole day of keys. */
export const isAnswered = (service: Part, key: Part): Part =>
  part`(select true from replays p where p.service_id = ${service} and p.key_digest = ${key} limit 1) is true`

/** A CTE that stores the answers selected by `rows` (service, key, request, answer), sorted to avoid deadlocks. */
export const remembered = (rows: Part): Part => part`remembered as (
      insert into replays (service_id, key_digest, request_digest, status, answer)
      select service_id, key_digest, request_digest, 201, answer
      from (${rows}) as r (service_id, key_digest, request_digest, answer)
      order by service_id, key_digest
    )`

/** Deletes an answer older than a day, so that its key can be used again. */
export const forget = (sql: Sql, service: Id, key: readonly Buffer[]) => sql`
  delete from replays
  where service_id = ${service}
    and key_digest = any (${key})
    and created_at <= now() - interval '24 hours'`

/** Answers that are older than a day. */
export const purge = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, REPLAYS, part`now() - interval '24 hours'`, after, most)

/** The time is part of the match: a key may have been used again meanwhile. */
const REPLAYS = {
  table: part`replays`,
  time: part`created_at`,
  key: part`service_id, key_digest`,
  match: part`t.service_id = old.service_id and t.key_digest = old.key_digest and t.created_at = old.time`,
}
