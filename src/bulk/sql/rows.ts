// Rows of a job: those that wait in chunks, and which of them were sent again.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { Job } from '../job.ts'

/** The next chunk that has not become messages yet. Ids of chunks are in the order of the file. */
export async function nextChunk(sql: Sql, job: Id, after: Id): Promise<{ id: Id; sealed: Buffer } | null> {
  const [chunk] = await sql<{ id: Id; sealed: Buffer }>`
    select id, sealed
    from chunks
    where job_id = ${job} and id > ${after}
    order by id
    limit 1`
  return chunk ?? null
}

/** Headers of the file, and the rows that were sent again as bits; null in jobs of earlier versions, and before the first time. */
export async function fileOf(sql: Sql, job: Id): Promise<{ columns: string[] | null; repeated: Buffer | null }> {
  const [row] = await sql<{ columns: string[] | null; repeated: Buffer | null }>`
    select columns, repeated
    from jobs
    where id = ${job}`
  return row ?? { columns: null, repeated: null }
}

/** Jobs that repeat rows of this one, newest first. */
export const repeatsOf = (sql: Sql, job: Id) => sql<Pick<Job, 'id' | 'name' | 'notification_count'>>`
  select id, name, notification_count
  from jobs
  where again_of = ${job}
  order by id desc
  limit 20`

/**
 * Marks rows of a job as sent again by a new one, in the transaction that stores the new job. False when the marks are no longer
 * `before`: somebody else was faster.
 */
export async function repeat(
  sql: Sql,
  actor: Actor,
  { job, by, before, after, messages }: { job: Id; by: Id; before: Buffer | null; after: Buffer; messages: number },
): Promise<boolean> {
  const rows = await sql`
    with marked as (
      update jobs
      set repeated = ${after}::bytea
      where id = ${job}
        and repeated is not distinct from ${before}::bytea
      returning id, service_id
    ),
    named as (
      update jobs
      set again_of = ${job}
      where id = ${by}
        and exists (select from marked)
      returning id, service_id
    ),
    ${recorded('job sent again', actor, part`named`, { again_of: job, messages })}
    select id from named`
  return rows.length > 0
}
