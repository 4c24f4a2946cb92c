import { recordedActs, type SenderAct } from '../../audit/sql.ts'
import type { Channel } from '../../channels/plain.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'
import { commitRecord, commitsWait } from '../../db/replicated.ts'
import type { KeyType } from '../../keys/key.ts'
import { rated } from '../../limits/sql/rates.ts'
import { allowed } from '../../limits/sql/usage.ts'
import { type InitialLease, ticketOf, ticketsFor } from '../../queue/tickets.ts'
import { isAnswered, remembered } from '../../replays/sql.ts'
import type { Personal } from '../notification.ts'
import type { Status } from '../status.ts'
import { created } from './moved.ts'

/** A request that is counted against the limits, and what is stored if they allow it. */
export type AcceptRequest = {
  id: Id
  service_id: Id
  key_id: Id | null
  key_type: KeyType
  rate_limit: number
  channel: Channel
  /** reserve: counts against the daily limit. ask: refused anyway, but an exceeded limit is reported first. */
  daily: 'reserve' | 'ask' | 'none'
  day: string
  daily_limit: number
  message: NewMessage | null
  /** Of a person or an operator, recorded with the message. */
  act: SenderAct | null
  replay: { key: Buffer; request: Buffer; answer: Buffer } | null
}

export type NewMessage = {
  status: Extract<Status, 'created' | 'pending-virus-check'>
  template_id: Id
  template_version: number
  lane: string
  reference: string | null
  sender_id: Id | null
  scheduled_for: Timestamp | null
  is_international: boolean
  sealed: Buffer
  /** How its recipient is found (notification.ts). */
  digest: Buffer
  /** The sealed data in clear: not stored, only for sending from memory. */
  personal: Personal
}

/** The first reason for a refusal, and the state of the rate limit. */
export type Decision = { verdict: 'accepted' | 'too fast' | 'seen' | 'too many'; remaining: number; free_in: number }

/**
 * Accepts a batch of requests in one statement: counts them against the limits and stores the messages with their states, tickets
 * and idempotency keys. Returns one decision per request, in order; none at all when the statement started after the deadline, so
 * that no message is stored after its caller was answered with a timeout, or when the commit must wait for a standby and would not.
 * It fails when it waits longer than `lockMs` for the limits of a service, and counts and stores nothing then.
 * For speed the rows between the CTEs are narrow: rate limits and daily limits are referred to by number, and the columns of a
 * message stay in their arrays until the insert.
 */
export async function accept(
  sql: Sql,
  asked: readonly AcceptRequest[],
  { deadline, initialLease, lockMs }: { deadline: Timestamp; initialLease: InitialLease; lockMs: number | null },
  mustReplicate: boolean,
): Promise<Decision[]> {
  const all = (read: (one: AcceptRequest) => Parameters<typeof bare>[0][number]) => bare(asked.map(read))
  const allBytes = (read: (one: AcceptRequest) => Buffer | undefined) => bytes(asked.map(read))
  const rates = numbered(asked, one => one.service_id + one.key_type)
  const allowances = numbered(asked, one => one.service_id + one.channel + one.day)
  const [row] = await sql<{ verdicts: string | null; remaining: number[]; free_in: number[] }>`
    with asked as materialized (
      select *
      from unnest(
        ${all(a => a.id)}::uuid[], ${bare(rates.numbers)}::integer[], ${bare(rates.ranks)}::integer[],
        ${bare(allowances.numbers)}::integer[], ${all(a => a.daily)}::text[], ${all(a => a.message?.status)}::text[],
        ${all(a => a.message?.lane)}::text[], ${all(a => a.message?.scheduled_for)}::timestamptz[],
        ${all(a => a.message?.template_id)}::uuid[], ${all(a => a.key_id)}::uuid[], ${allBytes(a => a.replay?.key)}::bytea[]
      ) with ordinality as a (id, rate, rank, allowance, daily, status, lane, scheduled_for, template_id, key_id, replay_key, ord)
      where (select clock_timestamp() < ${deadline}::timestamptz and (not ${mustReplicate}::boolean or ${commitsWait})
                    ${lockMs === null ? part`` : part`and set_config('lock_timeout', ${String(lockMs)}, true) is not null`}) -- evaluated once: all or none
    ),
    -- Rate and daily limits are sorted in every statement, so that two statements cannot deadlock.
    ${rated(
      rates.groups.map(({ first, size }) => ({ ...first, requests: size, most: first.rate_limit })),
      part`exists (select from asked)`,
    )},
    counted as materialized (
      select a.id, a.ord, a.allowance, a.daily, a.status, a.lane, a.scheduled_for, a.template_id, a.key_id, a.replay_key,
             r.service_id, r.key_type, a.rank <= r.passed as in_rate,
             ${hasReplays(asked) ? isAnswered(part`r.service_id`, part`a.replay_key`) : part`false`} as seen
      from asked a
      join rated r on r.rate = a.rate
    ),
    ${allowed(
      allowances.groups.map(({ first }) => ({ ...first, most: first.daily_limit })),
      part`
        select count(*)::integer as requests
        from counted c
        where c.allowance = u.allowance and c.in_rate and not c.seen and c.daily = 'reserve'`,
    )},
    decided as materialized (
      select c.*, a.channel,
             case c.daily
               when 'reserve' then
                 row_number() over (partition by c.allowance, c.daily, c.in_rate and not c.seen order by c.ord) <= a.granted
               when 'ask' then a.used < a.most
               else true
             end as in_daily
      from counted c
      join allowed a on a.allowance = c.allowance
    ),
    accepted as materialized (
      select id, ord, service_id, key_type, channel, status, lane, scheduled_for, template_id, key_id, replay_key
      from decided
      where in_rate and not seen and in_daily
    ),
    stored as (
      insert into notifications (id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane,
                                 reference, sender_id, scheduled_for, is_international, sealed, recipient_digest)
      select id, service_id, key_id, key_type, channel, false,
             template_id, (${all(a => a.message?.template_version)}::integer[])[ord], lane,
             (${asked.map(a => a.message?.reference)}::text[])[ord], (${all(a => a.message?.sender_id)}::uuid[])[ord],
             scheduled_for, (${all(a => a.message?.is_international)}::boolean[])[ord],
             (${allBytes(a => a.message?.sealed)}::bytea[])[ord], (${allBytes(a => a.message?.digest)}::bytea[])[ord]
      from accepted
      where status is not null
    ),
    ${created(
      part`
      select id, service_id, key_type, channel, null::uuid as job_id, key_id, template_id, scheduled_for, status
      from accepted
      where status is not null`,
      'single',
    )},
    ${answersOf(asked)}
    ${actsOf(asked)}
    due as (
      -- A message that waits for the scanner first gets a ticket there; the one in its own lane comes with the verdict.
      select case when status = 'pending-virus-check' then gen_random_uuid() when scheduled_for is not null then id end as ticket,
             case when status = 'pending-virus-check' then 'scan' else lane end as lane, service_id, id,
             case when status = 'pending-virus-check' then now() else coalesce(scheduled_for, now()) end as due_at
      from accepted
      where status is not null
    ),
    ticketed as (${ticketsFor(initialLease)})
    -- One row for the whole batch: a letter for each request, two numbers for each rate limit.
    select string_agg(case when not in_rate then 'f' when seen then 's' when in_daily then 'a' else 'm' end, '' order by ord)
             as verdicts,
           (select array_agg(remaining order by rate) from rated) as remaining,
           (select array_agg(free_in order by rate) from rated) as free_in
    from decided`
  if (!row?.verdicts) return []
  const { verdicts, remaining, free_in } = row
  return asked.map((_one, at) => {
    const rate = (rates.numbers[at] ?? 0) - 1
    const verdict = VERDICTS[verdicts.charAt(at) as keyof typeof VERDICTS]
    return { verdict, remaining: remaining[rate] ?? 0, free_in: free_in[rate] ?? 60 }
  })
}

/** Without one, the statement does not even open their table. */
const hasReplays = (asked: readonly AcceptRequest[]) => asked.some(one => one.replay !== null)

/** Only where there are idempotency keys. It ends with a comma, because it may be empty. */
function answersOf(asked: readonly AcceptRequest[]): Part {
  if (!hasReplays(asked)) return part``
  return part`${remembered(part`
      select service_id, replay_key, (${bytes(asked.map(one => one.replay?.request))}::bytea[])[ord],
             (${bytes(asked.map(one => one.replay?.answer))}::bytea[])[ord]
      from accepted
      where replay_key is not null`)},`
}

/** Only where a person or an operator sends. It ends with a comma, because it may be empty. */
function actsOf(asked: readonly AcceptRequest[]): Part {
  if (!asked.some(one => one.act !== null)) return part``
  const acts = asked.map(one => one.act)
  return part`${recordedActs(part`
      select service_id, (${bare(acts.map(act => act?.person_id))}::uuid[])[ord] as person_id,
             (${acts.map(act => act?.operator)}::text[])[ord] as operator,
             (${acts.map(act => act?.action)}::text[])[ord] as action, id as subject_id,
             (${acts.map(act => act?.detail && JSON.stringify(act.detail))}::jsonb[])[ord] as detail
      from accepted
      where status is not null
        and (${acts.map(act => act?.action)}::text[])[ord] is not null`)},`
}

const VERDICTS = { a: 'accepted', f: 'too fast', s: 'seen', m: 'too many' } as const

type Numbered = {
  groups: { first: AcceptRequest; size: number }[]
  /** For each request: the number of its group, and its position in the group, both from 1. */
  numbers: number[]
  ranks: number[]
}

/** Groups the requests that share a limit; groups are sorted by name. */
function numbered(asked: readonly AcceptRequest[], nameOf: (one: AcceptRequest) => string): Numbered {
  const byName = new Map<string, { first: AcceptRequest; size: number; number: number }>()
  const of = asked.map(one => {
    const name = nameOf(one)
    const known = byName.get(name)
    const group = known ?? { first: one, size: 0, number: 0 }
    if (!known) byName.set(name, group)
    return { group, rank: ++group.size }
  })
  const groups = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
  groups.forEach((group, at) => {
    group.number = at + 1
  })
  return { groups, numbers: of.map(one => one.group.number), ranks: of.map(one => one.rank) }
}

/**
 * Which of these messages are stored, and on the synchronous standby, for when the connection was lost during the commit; and in which
 * ticket, whose id is that of one of them.
 */
export const stored = (sql: Sql, ids: readonly Id[]) => sql<{ id: Id; ticket: Id | null }>`
  with found as materialized (
    select id
    from notifications
    where id = any (${ids})
  ),
  replicated as materialized (
    select ${commitRecord} as lsn
    where exists (select from found)
  )
  select found.id, ${ticketOf(ids, part`found.id`)} as ticket
  from found
  cross join replicated`
