// Deletes events of services that keep them for a shorter time than others; whole days are dropped as partitions.
import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Sql } from '../../db/connect.ts'
import type { Scope } from '../event.ts'

/** Which events go: those of a channel, or of jobs (null), with ids below `before`. */
export type CutOff = { channel: Channel | null; before: Id }

export type Found = { id: Id; stamp: string; seq: string; expired: boolean }

/**
 * The next events below the highest cut-off, in the order of the log. Those of a channel that is kept longer are among them, because
 * the log has no order by channel.
 */
export const oldest = (
  sql: Sql,
  { service_id, key_type }: Scope,
  cutOffs: readonly CutOff[],
  after: Pick<Found, 'stamp' | 'seq'> | null,
  most: number,
) => sql<Found>`
  select id, stamp::text, seq::text,
         exists (select
                 from unnest(${bare(cutOffs.map(c => c.channel))}::text[], ${bare(cutOffs.map(c => c.before))}::uuid[]) as c (channel, before)
                 where c.channel is not distinct from events.channel and events.id < c.before) as expired
  from events
  where service_id = ${service_id}
    and key_type = ${key_type}
    and (stamp, seq) > (${after?.stamp ?? '0'}::bigint, ${after?.seq ?? '0'}::bigint)
    and id < ${cutOffs.reduce((high, { before }) => (before > high ? before : high), '' as Id)}
  order by events.stamp, events.seq
  limit ${most}`

/** The range of ids lets the planner skip the partitions of other days. */
export function remove(sql: Sql, ids: readonly Id[]) {
  const sorted = [...ids].sort()
  return sql`
    delete from events
    where id = any (${bare(ids)}::uuid[])
      and id between ${sorted[0]} and ${sorted.at(-1)}`
}
