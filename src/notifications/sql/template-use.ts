// Which keys sent messages of a template.
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'
import { LAST } from './bounds.ts'

export type KeyUse = {
  key_id: Id
  messages: number
  last_id: Id
  in_job: boolean
  /** Recipient and values of its last message. */
  sealed: Buffer
}

/**
 * Reads at most `most` messages, newest first: one scan of `notifications_by_template`. `isComplete`: they reach back to `since`,
 * which is checked after the scan for the same reason as in `page` (read.ts).
 */
export async function keysThatUsed(
  sql: Sql,
  which: { service: Id; template: Id; since: Id },
  most: number,
): Promise<{ uses: KeyUse[]; isComplete: boolean }> {
  const uses = await sql<KeyUse & { complete: boolean }>`
    with walked as materialized (
      select w.*
      from (
        select n.id, n.key_id, n.service_id
        from notifications n
        where n.template_id = ${which.template}
          and n.id < ${LAST}
        order by n.id desc nulls last
        limit ${most}
      ) w
      where w.id >= ${which.since}
        and w.service_id = ${which.service}
    ),
    used as (
      select key_id, count(*)::integer as messages, (array_agg(id order by id desc))[1] as last_id
      from walked
      where key_id is not null
      group by key_id
    )
    select u.key_id, u.messages, u.last_id, n.in_job, n.sealed,
           (select count(*) from walked) < ${most} as complete
    from used u
    cross join lateral (select in_job, sealed from notifications where id = u.last_id) n
    order by u.last_id desc`
  return { uses, isComplete: uses[0]?.complete ?? true }
}
