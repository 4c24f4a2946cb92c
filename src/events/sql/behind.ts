// How far readers of the log are behind.
import type { Timestamp } from '../../core/clock.ts'
import type { Sql } from '../../db/connect.ts'
import type { EventType, Position, Scope } from '../event.ts'
import { horizon } from '../sql.ts'

export type LogReader = Scope & { position: Position; types: readonly EventType[] | null }

/** `more`: only part of the log was counted. `since`: when the first of these events was logged. */
export type Behind = { events: number; more: boolean; since: Timestamp | null }

/** Groups that are looked at for each reader. */
const MOST_GROUPS = 1_000

/** For each reader, in the same order: the events that it wants and that are after its position. */
export const behind = (sql: Sql, readers: readonly LogReader[]) => sql<Behind>`
  select coalesce(sum(size - skipped) filter (where wanted), 0)::float8 as events, count(log.stamp) = ${MOST_GROUPS} as more,
         min(at) filter (where wanted) as since
  from unnest(${readers.map(one => one.service_id)}::uuid[], ${readers.map(one => one.key_type)}::text[],
              ${readers.map(one => one.position.stamp)}::bigint[], ${readers.map(one => one.position.seq)}::bigint[],
              ${readers.map(one => one.position.n)}::integer[], ${readers.map(one => one.types?.join(' ') ?? null)}::text[])
       with ordinality as r (service_id, key_type, stamp, seq, n, types, place)
  left join lateral (
    select e.stamp, e.size, e.at, case when (e.stamp, e.seq) = (r.stamp, r.seq) then least(r.n + 1, e.size) else 0 end as skipped,
           (r.types is null or e.type = any (string_to_array(r.types, ' ')))
             and ((e.stamp, e.seq) <> (r.stamp, r.seq) or r.n + 1 < e.size) as wanted
    from events e
    where e.service_id = r.service_id
      and e.key_type = r.key_type
      and (e.stamp, e.seq) >= (r.stamp, r.seq)
      and e.stamp <= ${horizon}
    order by e.stamp, e.seq
    limit ${MOST_GROUPS}
  ) log on true
  group by r.place
  order by r.place`
