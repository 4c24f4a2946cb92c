// Which keys sent messages of a template.
import type { Channel } from '../../channels/index.ts'
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
 * Reads at most `most` messages of each kind (key type, single or of a job), newest first, as a page of messages is read: one scan
 * of `notifications_listed` each. `isComplete`: they reach back to `since`.
 */
export async function keysThatUsed(
  sql: Sql,
  which: { service: Id; channel: Channel; template: Id; since: Id },
  most: number,
): Promise<{ uses: KeyUse[]; isComplete: boolean }> {
  const uses = await sql<KeyUse & { complete: boolean }>`
    with walked as materialized (
      select w.*, t.key_type
      from unnest(array['normal', 'team', 'test']) as t (key_type)
      cross join unnest(array[false, true]) as j (in_job)
      cross join lateral (
        select n.id, n.key_id, n.template_id, n.in_job
        from notifications n
        where n.service_id = ${which.service}
          and n.key_type = t.key_type
          and n.channel = ${which.channel}
          and n.in_job = j.in_job
          and n.id < ${LAST}
        order by n.id desc nulls last
        limit ${most}
      ) w
      where w.id >= ${which.since}
    ),
    used as (
      select key_id, count(*)::integer as messages, (array_agg(id order by id desc))[1] as last_id
      from walked
      where template_id = ${which.template}
        and key_id is not null
      group by key_id
    )
    select u.key_id, u.messages, u.last_id, n.in_job, n.sealed,
           not exists (select from walked group by key_type, in_job having count(*) >= ${most}) as complete
    from used u
    cross join lateral (select in_job, sealed from notifications where id = u.last_id) n
    order by u.last_id desc`
  return { uses, isComplete: uses[0]?.complete ?? true }
}
