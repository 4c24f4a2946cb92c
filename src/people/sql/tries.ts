import type { Timestamp } from '../../core/clock.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'

/** Something that tries are counted for: a keyed digest, so that the table names nobody. */
export type Subject = { digest: Buffer; most: number }

export type Tried = { now: Timestamp; windowStart: Timestamp; subjects: readonly Subject[] }

/** CTEs that count a try for each subject, `tries`, and choose the one with too many that ends last, `over` (since). */
export const triesCounted = ({ now, windowStart, subjects }: Tried): Part => part`
  tries as (
    insert into sign_in_tries as t (subject, tries, since)
    select s.subject, 1, ${now}::timestamptz
    from unnest(${bytes(subjects.map(s => s.digest))}::bytea[]) as s (subject)
    order by s.subject
    on conflict (subject) do update
    set tries = case when t.since <= ${windowStart} then 1 else t.tries + 1 end,
        since = case when t.since <= ${windowStart} then excluded.since else t.since end
    returning subject, tries, since
  ),
  over as (
    select (extract(epoch from max(t.since)) * 1000)::float8 as since_ms
    from tries t
    join unnest(${bytes(subjects.map(s => s.digest))}::bytea[], ${bare(subjects.map(s => s.most))}::integer[])
      as s (subject, most) on s.subject = t.subject
    where t.tries > s.most
    having count(*) > 0
  )`

export async function count(sql: Sql, tried: Tried): Promise<{ since_ms: number } | null> {
  const [over] = await sql<{ since_ms: number }>`
    with ${triesCounted(tried)}
    select since_ms from over`
  return over ?? null
}
