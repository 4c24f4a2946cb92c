import type { Timestamp } from '../../core/clock.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'

/** Something that tries are counted for: a keyed digest, so that the table names nobody, and the limit within its window. */
export type Subject = { digest: Buffer; most: number; windowStart: Timestamp }

/** `subjects`: one to three, in the order in which they are counted. */
export type Tried = { now: Timestamp; subjects: readonly Subject[] }

export type Over = { since_ms: number } | null

const NAMES = [part`tries_1`, part`tries_2`, part`tries_3`] as const

/**
 * CTEs that count a try for each subject, and `over` (since_ms) if there were too many for one. A subject is counted only if those
 * before it are within their limits, so that one of them cannot use up the limit of the next. Beyond the limit of the last one, the
 * widest, no new subject is stored: the table stays bounded.
 */
export function triesCounted({ now, subjects }: Tried): Part {
  const last = subjects.at(-1) as Subject
  const steps = subjects.map((subject, at) => ({ subject, name: NAMES[at] as Part }))
  const counted = steps.map(({ subject, name }, at) => {
    const before = steps[at - 1]
    return part`${name} as (${tryCounted(now, subject, before ? isWithin(before) : part`not exists (select from full_already)`)}),`
  })
  const beyond = steps.map(
    ({ subject, name }) => part`
      union all
      select since from ${name} where tries > ${subject.most}`,
  )
  return part`
  full_already as (
    select since
    from sign_in_tries
    where subject = ${last.digest}
      and since > ${last.windowStart}::timestamptz
      and tries > ${last.most}
  ),
  ${joined(counted)}
  over as (
    select (extract(epoch from max(since)) * 1000)::float8 as since_ms
    from (
      select since from full_already${joined(beyond)}
    ) beyond
    having count(*) > 0
  )`
}

const isWithin = ({ name, subject }: { name: Part; subject: Subject }): Part =>
  part`exists (select from ${name} where tries <= ${subject.most})`

const joined = (parts: readonly Part[]): Part => parts.reduce((all, one) => part`${all} ${one}`, part``)

const tryCounted = (now: Timestamp, { digest, windowStart }: Subject, condition: Part): Part => part`
    insert into sign_in_tries as t (subject, tries, since)
    select ${digest}::bytea, 1, ${now}::timestamptz
    where ${condition}
    on conflict (subject) do update
    set tries = case when t.since <= ${windowStart} then 1 else t.tries + 1 end,
        since = case when t.since <= ${windowStart} then excluded.since else t.since end
    returning tries, since`

export async function count(sql: Sql, tried: Tried): Promise<Over> {
  const [over] = await sql<{ since_ms: number }>`
    with ${triesCounted(tried)}
    select since_ms from over`
  return over ?? null
}

/** `requests`: for the address. `merged`: those beyond its limit, in a shorter window at whose end one mail answers all of them. */
export type Addressed = { requests: Subject; merged: Subject }

/** `sinceMicros`: the beginning of the window of merged requests. `isFirst`: of them. */
export type Merged = { sinceMicros: number; isFirst: boolean }

/** Counts a try, and if it is not refused, a request for the address. */
export async function countForAddress(
  sql: Sql,
  tried: Tried,
  { requests, merged }: Addressed,
): Promise<{ over: Over; merged: Merged | null }> {
  const [row] = await sql<{ since_ms: number | null; since: number | null; tries: number | null }>`
    with ${triesCounted(tried)},
    for_address as (${tryCounted(tried.now, requests, part`not exists (select from over)`)}),
    merged as (${tryCounted(tried.now, merged, part`exists (select from for_address where tries > ${requests.most})`)})
    select (select since_ms from over) as since_ms, (extract(epoch from merged.since) * 1000000)::float8 as since, merged.tries
    from (select) as one
    left join merged on true`
  const over = row?.since_ms == null ? null : { since_ms: row.since_ms }
  return { over, merged: row?.since == null ? null : { sinceMicros: row.since, isFirst: row.tries === 1 } }
}
