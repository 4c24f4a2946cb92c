import { recorded } from '../audit/sql.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { type Again, type InitialLease, settleTail, stillHeld, ticketsFor } from '../queue/tickets.ts'
import type { Channel } from '../services/service.ts'
import type { Notification, Personal } from './notification.ts'
import type { Status } from './status.ts'

/** A request that came as far as the limits: what it counts against, and what is stored if they allow it. */
export type Asked = {
  id: Id
  service_id: Id
  key_id: Id
  key_type: KeyType
  rate_limit: number
  channel: Channel
  /** reserve: a message of today's allowance. ask: refused anyway, but a used-up allowance is told first. */
  daily: 'reserve' | 'ask' | 'none'
  day: string
  daily_limit: number
  message: NewMessage | null
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
  /** What is sealed: not stored, only for whoever sends it at once. */
  personal: Personal
}

/** The first thing that speaks against a request, and what is left of its rate. */
export type Decision = { verdict: 'accepted' | 'too fast' | 'seen' | 'too many'; remaining: number; free_in: number }

/**
 * Takes a group of requests in one statement and one commit: counts them, reserves their allowance, stores the messages with
 * their states, tickets and idempotency records. One decision comes back for each, in order; none at all when the statement
 * was reached only after the deadline, so that an answer of ours never contradicts what happens later.
 * The rows that pass from step to step are narrow, and rates and allowances are known in them by number: what a message is
 * made of stays in its array until it is stored.
 */
export async function accept(
  sql: Sql,
  asked: readonly Asked[],
  deadline: Timestamp,
  initialLease: InitialLease,
): Promise<Decision[]> {
  const all = (read: (one: Asked) => Parameters<typeof bare>[0][number]) => bare(asked.map(read))
  const allBytes = (read: (one: Asked) => Buffer | undefined) => bytes(asked.map(read))
  const of = ({ groups }: Numbered, read: (group: Numbered['groups'][number]) => string | number) =>
    bare(groups.map(read))
  const rates = numbered(asked, one => one.service_id + one.key_type)
  const allowances = numbered(asked, one => one.service_id + one.channel + one.day)
  const [told] = await sql<{ verdicts: string | null; remaining: number[]; free_in: number[] }>`
    with asked as materialized (
      select *
      from unnest(
        ${all(a => a.id)}::uuid[], ${bare(rates.numbers)}::integer[], ${bare(rates.ranks)}::integer[],
        ${bare(allowances.numbers)}::integer[], ${all(a => a.daily)}::text[], ${all(a => a.message?.status)}::text[],
        ${all(a => a.message?.lane)}::text[], ${all(a => a.message?.scheduled_for)}::timestamptz[],
        ${allBytes(a => a.replay?.key)}::bytea[]
      ) with ordinality as a (id, rate, rank, allowance, daily, status, lane, scheduled_for, replay_key, ord)
      where (select clock_timestamp() < ${deadline}::timestamptz) -- asked once: all of them or none
    ),
    -- Rates and allowances come in the same order everywhere, so that two groups never wait for each other crosswise.
    rated as materialized (
      select r.rate, r.service_id, r.key_type, c.passed, c.remaining, c.free_in
      from unnest(${of(rates, g => g.first.service_id)}::uuid[], ${of(rates, g => g.first.key_type)}::text[],
                  ${of(rates, g => g.size)}::integer[], ${of(rates, g => g.first.rate_limit)}::integer[])
           with ordinality as r (service_id, key_type, requests, most, rate)
      cross join lateral count_requests(r.service_id, r.key_type, r.requests, r.most) c
      where exists (select from asked)
    ),
    counted as materialized (
      select a.id, a.ord, a.allowance, a.daily, a.status, a.lane, a.scheduled_for, a.replay_key, r.service_id, r.key_type,
             a.rank <= r.passed as in_rate,
             -- Not "exists", for which the planner may read a day of them and keep them in a table.
             (select true from replays p where p.service_id = r.service_id and p.key_digest = a.replay_key limit 1) is true as seen
      from asked a
      join rated r on r.rate = a.rate
    ),
    allowances as materialized (
      select *
      from unnest(${of(allowances, g => g.first.service_id)}::uuid[], ${of(allowances, g => g.first.channel)}::text[],
                  ${of(allowances, g => g.first.day)}::date[], ${of(allowances, g => g.first.daily_limit)}::integer[])
           with ordinality as u (service_id, channel, day, most, allowance)
    ),
    reserved as (
      insert into usage (service_id, channel, day, used, granted, most)
      select u.service_id, u.channel, u.day, least(g.requests, u.most), least(g.requests, u.most), u.most
      from allowances u
      cross join lateral (
        select count(*)::integer as requests
        from counted c
        where c.allowance = u.allowance and c.in_rate and not c.seen and c.daily = 'reserve'
      ) g
      where g.requests > 0
      on conflict (service_id, channel, day) do update
      set granted = greatest(0, least(excluded.granted, excluded.most - usage.used)),
          used = usage.used + greatest(0, least(excluded.granted, excluded.most - usage.used)),
          most = excluded.most
      returning service_id, channel, day, used, granted
    ),
    allowed as materialized (
      select a.allowance, a.channel, a.most, r.granted, coalesce(r.used, u.used, 0) as used
      from allowances a
      left join reserved r on r.service_id = a.service_id and r.channel = a.channel and r.day = a.day
      left join usage u on u.service_id = a.service_id and u.channel = a.channel and u.day = a.day
    ),
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
      select id, ord, service_id, key_type, channel, status, lane, scheduled_for, replay_key
      from decided
      where in_rate and not seen and in_daily
    ),
    stored as (
      insert into notifications (id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane,
                                 reference, sender_id, scheduled_for, is_international, sealed)
      select id, service_id, (${all(a => a.key_id)}::uuid[])[ord], key_type, channel, false,
             (${all(a => a.message?.template_id)}::uuid[])[ord], (${all(a => a.message?.template_version)}::integer[])[ord], lane,
             (${asked.map(a => a.message?.reference)}::text[])[ord], (${all(a => a.message?.sender_id)}::uuid[])[ord],
             scheduled_for, (${all(a => a.message?.is_international)}::boolean[])[ord],
             (${allBytes(a => a.message?.sealed)}::bytea[])[ord]
      from accepted
      where status is not null
    ),
    stated as (
      insert into states (id, service_id, key_type, channel, in_job, status, moves)
      select id, service_id, key_type, channel, false, status, array[status]
      from accepted
      where status is not null
    ),
    remembered as (
      insert into replays (service_id, key_digest, request_digest, status, answer)
      select service_id, replay_key, (${allBytes(a => a.replay?.request)}::bytea[])[ord], 201,
             (${allBytes(a => a.replay?.answer)}::bytea[])[ord]
      from accepted
      where replay_key is not null
      order by service_id, replay_key
    ),
    due as (
      -- What waits for the scanner has a ticket there first, at once; its own lane and time come with the verdict.
      select case when status = 'pending-virus-check' then gen_random_uuid() when scheduled_for is not null then id end as ticket,
             case when status = 'pending-virus-check' then 'scan' else lane end as lane, service_id, id,
             case when status = 'pending-virus-check' then now() else coalesce(scheduled_for, now()) end as due_at
      from accepted
      where status is not null
    ),
    ticketed as (${ticketsFor(initialLease)})
    -- One row, whatever the size of the group: a letter for each request, two numbers for each rate.
    select string_agg(case when not in_rate then 'f' when seen then 's' when in_daily then 'a' else 'm' end, '' order by ord)
             as verdicts,
           (select array_agg(remaining order by rate) from rated) as remaining,
           (select array_agg(free_in order by rate) from rated) as free_in
    from decided`
  if (!told?.verdicts) return []
  const { verdicts, remaining, free_in } = told
  return asked.map((_one, at) => {
    const rate = (rates.numbers[at] ?? 0) - 1
    const verdict = VERDICTS[verdicts.charAt(at) as keyof typeof VERDICTS]
    return { verdict, remaining: remaining[rate] ?? 0, free_in: free_in[rate] ?? 60 }
  })
}

const VERDICTS = { a: 'accepted', f: 'too fast', s: 'seen', m: 'too many' } as const

type Numbered = {
  groups: { first: Asked; size: number }[]
  /** Of each request: the number of its group, from 1, and how many of it have come, itself included. */
  numbers: number[]
  ranks: number[]
}

/** Requests that count against the same thing are a group, and groups are in the order of their names. */
function numbered(asked: readonly Asked[], nameOf: (one: Asked) => string): Numbered {
  const byName = new Map<string, { first: Asked; size: number; number: number }>()
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

/** Which of these ids are stored: asked when the line broke between a commit and its answer. */
export const stored = (sql: Sql, ids: readonly Id[]) =>
  sql<{ id: Id }>`select id from notifications where id = any (${ids})`

const shown = part`n.id, n.channel, n.key_type, s.status, n.reference, n.template_id, n.template_version, n.scheduled_for,
  s.sent_at, s.completed_at, s.provider_response, s.failure_detail, n.sealed`

export async function find(sql: Sql, service: Id, id: Id): Promise<Notification | null> {
  const [found] = await sql<Notification>`
    select ${shown}
    from notifications n
    join states s on s.id = n.id
    where n.id = ${id}
      and s.id = ${id}
      and n.service_id = ${service}
      and s.status <> 'cancelled'`
  return found ?? null
}

export type History = {
  service_id: Id
  channel: Channel
  status: Status
  failure_detail: string | null
  diagnosis: Buffer | null
  provider: string | null
  provider_response: string | null
  attempts: number
  uncertain: boolean
  moves: string[]
  sent_at: Timestamp | null
  completed_at: Timestamp | null
}

export async function history(sql: Sql, id: Id): Promise<History | null> {
  const [found] = await sql<History>`
    select service_id, channel, status, failure_detail, diagnosis, provider, provider_response, attempts, uncertain, moves,
           sent_at, completed_at
    from states
    where id = ${id}`
  return found ?? null
}

export type Page = {
  service: Id
  keyType: KeyType
  /** Each channel with the first id of its window. */
  channels: readonly { channel: Channel; from: Id }[]
  inJob: readonly boolean[]
  statuses: readonly Status[] | null
  reference: string | null
  olderThan: Id | null
  size: number
  /** Sealed values of one page: after so many bytes it ends, but never before its first message. */
  bytes: number
}

/**
 * Newest first. Each combination of equal columns is one walk down an index, and no walk is longer than the page. Three things
 * keep it so whatever the planner believes (test/explain.test.ts): states and whole rows are fetched one by one, by subqueries
 * that cannot become a join, which would read whole partitions; a window's start is looked at after the walk, because the
 * planner takes a range with two unknown ends for so short that it would rather read all of it and sort; and `nulls last` is an
 * order that only the indexes made for this have, so that it cannot walk down the primary key and filter.
 */
export function page(sql: Sql, p: Page): Promise<Notification[]> {
  const channels = p.channels.map(one => one.channel)
  const floors = p.channels.map(one => one.from)
  const top = p.olderThan ?? LAST
  const walk =
    p.reference !== null
      ? part`
        select n.id
        from notifications n
        where n.service_id = ${p.service}
          and n.key_type = ${p.keyType}
          and md5(n.reference) = md5(${p.reference})
          and n.reference = ${p.reference}
          and n.id < ${top}
          and exists (select from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
                      where n.channel = c.channel and n.id >= c.floor)
          and n.in_job = any (${p.inJob}::boolean[])
          and ${statusOf} <> 'cancelled'
          and (${p.statuses}::text[] is null or ${statusOf} = any (${p.statuses}::text[]))
        order by n.id desc nulls last
        limit ${p.size}`
      : p.statuses !== null
        ? part`
        select w.id
        from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
        cross join unnest(${p.inJob}::boolean[]) as j (in_job)
        cross join unnest(${p.statuses}::text[]) as t (status)
        cross join lateral (
          select s.id
          from states s
          where s.service_id = ${p.service}
            and s.key_type = ${p.keyType}
            and s.channel = c.channel
            and s.in_job = j.in_job
            and s.status = t.status
            and s.id < ${top}
          order by s.id desc nulls last
          limit ${p.size}
        ) w
        where w.id >= c.floor
        order by w.id desc
        limit ${p.size}`
        : part`
        select w.id
        from unnest(${channels}::text[], ${floors}::uuid[]) as c (channel, floor)
        cross join unnest(${p.inJob}::boolean[]) as j (in_job)
        cross join lateral (
          select n.id
          from notifications n
          where n.service_id = ${p.service}
            and n.key_type = ${p.keyType}
            and n.channel = c.channel
            and n.in_job = j.in_job
            and n.id < ${top}
            and ${statusOf} <> 'cancelled'
          order by n.id desc nulls last
          limit ${p.size}
        ) w
        where w.id >= c.floor
        order by w.id desc
        limit ${p.size}`
  return sql<Notification>`
    with page as materialized (${walk}),
    sized as (
      -- The length of a value stands beside it: it is not read for this.
      select ${shown}, sum(octet_length(n.sealed)) over (order by page.id desc) - octet_length(n.sealed) as before
      from page
      cross join lateral (select * from notifications where id = page.id limit 1) n
      cross join lateral (select * from states where id = page.id limit 1) s
    )
    select id, channel, key_type, status, reference, template_id, template_version, scheduled_for, sent_at, completed_at,
           provider_response, failure_detail, sealed
    from sized
    where before < ${p.bytes}
    order by id desc`
}

const statusOf = part`(select s.status from states s where s.id = n.id)`

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id

/** Whether an id is one of the service's messages, whatever its state. */
export async function exists(sql: Sql, service: Id, id: Id): Promise<boolean> {
  const rows = await sql`select id from notifications where id = ${id} and service_id = ${service}`
  return rows.length > 0
}

export type Cancelling = { scheduled: boolean; cancelled: boolean; gone: boolean }

/**
 * Takes the ticket of a scheduled message away and marks the message, in one statement: an engine that has taken the ticket
 * already, or takes it at the same moment, wins.
 */
export async function cancel(sql: Sql, service: Id, id: Id, by: Id): Promise<Cancelling | null> {
  const [result] = await sql<Cancelling>`
    with message as (
      select n.id, n.service_id, n.channel, n.key_type, n.scheduled_for, s.status
      from notifications n
      join states s on s.id = n.id
      where n.id = ${id}
        and s.id = ${id}
        and n.service_id = ${service}
    ),
    taken as (
      delete from tickets
      where id = (select id from message where scheduled_for is not null and status = 'created')
        and owner is null
        and attempts = 0
        and takes = 0 -- an owner that ended without a word may have handed it over
      returning id
    ),
    moved as (
      update states
      set status = 'cancelled',
          completed_at = clock_timestamp(),
          was = status,
          moves = array_append(moves, 'cancelled')
      where id = ${id}
        and ((status = 'created' and exists (select from taken))
          -- Its ticket is the scanner's, who finds nothing to do any more.
          or (status = 'pending-virus-check' and exists (select from message where scheduled_for is not null)))
      returning id
    ),
    given_back as (
      update usage
      set used = greatest(0, used - 1)
      from message
      where usage.service_id = message.service_id
        and usage.channel = message.channel
        and usage.day = (message.scheduled_for at time zone 'UTC')::date
        and message.key_type <> 'test'
        and exists (select from moved)
    ),
    ${recorded('message cancelled', by, part`(select id, service_id from message where exists (select from moved))`)}
    select scheduled_for is not null as scheduled, exists (select from moved) as cancelled, status = 'cancelled' as gone
    from message`
  return result ?? null
}

export async function isCancelled(sql: Sql, id: Id): Promise<boolean> {
  const [state] = await sql<{ status: Status }>`select status from states where id = ${id}`
  return state?.status === 'cancelled'
}

export type Due = {
  id: Id
  service_id: Id
  channel: Channel
  key_type: KeyType
  template_id: Id
  template_version: number
  sender_id: Id | null
  scheduled_for: Timestamp | null
  is_international: boolean
  sealed: Buffer
}

/**
 * Messages that are still to be handed over; the bounds let the planner pass by the days that cannot hold them. Two walks down
 * an index, and no join, which would go down the other index anew for every message: 2.5 instead of 20 µs each.
 */
export const due = (sql: Sql, ids: readonly Id[]) => sql<Due>`
  select n.id, n.service_id, n.channel, n.key_type, n.template_id, n.template_version, n.sender_id, n.scheduled_for,
         n.is_international, n.sealed
  from notifications n
  where n.id = any (array(
      select s.id
      from states s
      where s.id = any (${bare(ids)}::uuid[])
        and s.id between ${lowest(ids)} and ${highest(ids)}
        and s.status = 'created'))
    and n.id between ${lowest(ids)} and ${highest(ids)}`

/** An earlier owner ended while it held these: one of them may have been handed over without our knowing. */
export const markUncertain = (sql: Sql, ids: readonly Id[]) => sql`
  update states
  set uncertain = true,
      attempts = attempts + 1
  where id = any (${ids}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}
    and status = 'created'`

/** Until it is recorded what became of it. Only for messages whose earlier owners have ended: it costs a statement each. */
export const HANDING_OVER = 'handing over'
export const markHandingOver = (sql: Sql, id: Id) => sql`
  update states
  set failure_detail = ${HANDING_OVER}
  where id = ${id}
    and status = 'created'`

/** Those of which the last owner had begun a hand-over. */
export const handingOver = (sql: Sql, ids: readonly Id[]) => sql<{ id: Id }>`
  select id
  from states
  where id = any (${ids}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}
    and failure_detail = ${HANDING_OVER}`

/** Ids carry their time, and the day's partition follows from it: with both ends known, the planner passes by all other days. */
export function lowest(ids: readonly Id[]): Id {
  let low = LAST
  for (const id of ids) if (id < low) low = id
  return low
}
export function highest(ids: readonly Id[]): Id {
  let high = ''
  for (const id of ids) if (id > high) high = id
  return (high as Id) || LAST
}

export type Result = {
  id: Id
  ticket: Id
  takes: number
  /** Null: not handed over this time. */
  status: Extract<
    Status,
    'sending' | 'sent' | 'delivered' | 'permanent-failure' | 'temporary-failure' | 'technical-failure'
  > | null
  /** The statuses passed through, for the history. */
  moves: readonly string[]
  provider: string | null
  /** What the provider will call the message, where it will speak of it again. */
  ref: string | null
  response: string | null
  /** Of a permanent failure: what kind, in words of our own, and the provider's words, sealed. */
  detail: string | null
  diagnosis: Buffer | null
  uncertain: boolean
}

/** A tail that keeps the counters of jobs: `moved` (job_id, was, status) is a CTE of messages that have just moved. */
export const jobCounts = part`job_counted as (
    insert into job_counts (job_id, status, messages)
    select job_id, status, sum(change)::integer
    from (select job_id, was as status, -1 as change from moved where job_id is not null and was <> status
          union all
          select job_id, status, 1 from moved where job_id is not null and was <> status) changes
    group by job_id, status
    having sum(change) <> 0
    order by job_id, status
    on conflict (job_id, status) do update set messages = job_counts.messages + excluded.messages
  )`

/**
 * A join of `states` in a statement that locks or changes rows others may change at the same moment. By a plain join PostgreSQL
 * 18 leaves out partitions while it runs; once it has had to read a changed row again (EvalPlanQual), it leaves out all of them,
 * and the update silently finds nothing (seen in 18.4: npm run faults, U2). So the rows are found by a list of ids, and the
 * join is written such that it cannot be used to leave anything out.
 */
export const unpruned = (join: Part): Part => part`(${join}) is true`

/**
 * Writes results and settles tickets in one statement. Fenced: what belongs to a ticket that is no longer ours changes nothing.
 * A message whose receipt was faster than our own word keeps the receipt's status. Most results of a group are alike, and the
 * join that cannot be pruned compares every message with every row of it: so alike ones are one row.
 */
export const record = (
  sql: Sql,
  owner: Id,
  held: readonly { id: Id; takes: number }[],
  results: readonly Result[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql`
  with held as materialized (${stillHeld(owner, held)} for update of t),
  results as (
    select r.*
    from unnest(${bare(results.map(r => r.id))}::uuid[], ${bare(results.map(r => r.ticket))}::uuid[],
                ${bare(results.map(r => r.status))}::text[], ${bare(results.map(r => r.moves.join('/')))}::text[],
                ${bare(results.map(r => r.provider))}::text[], ${results.map(r => r.ref)}::text[],
                ${results.map(r => r.response)}::text[], ${bare(results.map(r => r.detail))}::text[],
                ${bytes(results.map(r => r.diagnosis))}::bytea[], ${bare(results.map(r => r.uncertain))}::boolean[])
         as r (id, ticket, status, moves, provider, ref, response, detail, diagnosis, uncertain)
    join held on held.id = r.ticket
  ),
  alike as materialized (
    select status, moves, provider, response, detail, diagnosis, uncertain, array_agg(id) as ids
    from results
    group by status, moves, provider, response, detail, diagnosis, uncertain
  ),
  moved as (
    update states s
    set status = case when s.status = 'created' then coalesce(r.status, s.status) else s.status end,
        sent_at = case when r.status in ('sending', 'sent', 'delivered', 'permanent-failure', 'temporary-failure')
                       then coalesce(s.sent_at, least(clock_timestamp(), s.completed_at)) else s.sent_at end,
        completed_at = case when s.status = 'created' and r.status is not null and r.status <> 'sending'
                            then clock_timestamp() else s.completed_at end,
        provider = coalesce(r.provider, s.provider),
        provider_response = case when s.status = 'created' then r.response else s.provider_response end,
        failure_detail = case when s.status = 'created' then r.detail else s.failure_detail end,
        diagnosis = case when s.status = 'created' then r.diagnosis else s.diagnosis end,
        attempts = s.attempts + 1,
        uncertain = s.uncertain or r.uncertain,
        was = s.status,
        moves = case when s.status = 'created' and r.status is not null then s.moves || string_to_array(r.moves, '/') else s.moves end
    from alike r
    where s.id = any (${bare(results.map(r => r.id))}::uuid[])
      and s.id between ${lowest(results.map(r => r.id))} and ${highest(results.map(r => r.id))}
      and ${unpruned(part`s.id = any (r.ids)`)}
    returning s.id, s.job_id, s.was, s.status
  ),
  ${jobCounts},
  handed as (
    insert into handovers (provider, ref, id)
    select provider, ref, id from results where ref is not null
    on conflict do nothing
  ),
  ${settleTail(settled, again)}
  select (select count(*) from moved)::integer as moved`

export async function allServices(sql: Sql): Promise<Id[]> {
  const rows = await sql<{ id: Id }>`
    select id
    from services
    order by id`
  return rows.map(row => row.id)
}

/** One stretch of `states_listed`: messages that the index keeps together, in the order of their ids. */
export type Stretch = { service_id: Id; key_type: KeyType; channel: Channel; in_job: boolean; status: Status }

/** Where these services have messages without a last word that were made before. */
export const openStretches = (sql: Sql, services: readonly Id[], before: Id) => sql<Stretch>`
  select v.service_id, k.key_type, c.channel, j.in_job, o.status
  from unnest(${services}::uuid[]) as v (service_id)
  cross join (values ('normal'), ('team'), ('test')) as k (key_type)
  cross join (values ('email'), ('sms')) as c (channel)
  cross join (values (false), (true)) as j (in_job)
  cross join (values ('created'), ('sending'), ('pending')) as o (status)
  cross join lateral (
    select
    from states s
    where s.service_id = v.service_id
      and s.key_type = k.key_type
      and s.channel = c.channel
      and s.in_job = j.in_job
      and s.status = o.status
      and s.id < ${before}
    limit 1
  ) found`

export async function idsIn(sql: Sql, stretch: Stretch, before: Id, after: Id | null, most: number): Promise<Id[]> {
  const rows = await sql<{ id: Id }>`
    select id
    from states
    where service_id = ${stretch.service_id}
      and key_type = ${stretch.key_type}
      and channel = ${stretch.channel}
      and in_job = ${stretch.in_job}
      and status = ${stretch.status}
      and id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
      and id < ${before}
    order by id nulls first
    limit ${most}`
  return rows.map(row => row.id)
}

/** Of these, messages nobody spoke of again: never handed over, or handed over and no word since. */
export const giveUp = (sql: Sql, status: Status, ids: readonly Id[]) => sql<{ id: Id }>`
  with leased as materialized (
    select unnest(subjects) as id
    from tickets
    where owner is not null
  ),
  overdue as materialized (
    select n.id
    from notifications n
    where ${status}::text = 'created'
      and n.id = any (${bare(ids)}::uuid[])
      and n.id between ${lowest(ids)} and ${highest(ids)}
      and coalesce(n.scheduled_for, uuid_time(n.id)) < clock_timestamp() - interval '72 hours'
      and n.id not in (select id from leased)
  ),
  moved as (
    update states s
    set status = case when s.status = 'created' then 'technical-failure' else 'temporary-failure' end,
        completed_at = clock_timestamp(),
        was = s.status,
        moves = s.moves || case when s.status = 'created' then 'technical-failure' else 'temporary-failure' end
    where s.id = any (${bare(ids)}::uuid[])
      and s.id between ${lowest(ids)} and ${highest(ids)}
      and ((s.status = 'created' and s.id in (select id from overdue))
        or (s.status in ('sending', 'pending') and s.sent_at < clock_timestamp() - interval '72 hours'))
    returning s.id, s.job_id, s.was, s.status
  ),
  ${jobCounts}
  select id from moved`

export async function longestRetention(sql: Sql): Promise<number> {
  const [row] = await sql<{ days: number | null }>`
    select max(greatest(email_retention_days, sms_retention_days)) as days from services`
  return row?.days ?? 0
}

/** Services whose messages go before those of the service that keeps them longest. */
export const retentions = (sql: Sql) => sql<{ service_id: Id; channel: Channel; days: number }>`
  with longest as (select max(greatest(email_retention_days, sms_retention_days)) as days from services)
  select s.id as service_id, c.channel, c.days
  from services s
  cross join lateral (values ('email', s.email_retention_days), ('sms', s.sms_retention_days)) as c (channel, days)
  cross join longest
  where c.days < longest.days`

export type KeptMessages = { service_id: Id; key_type: KeyType; channel: Channel; in_job: boolean }

/** Ids of a service's messages of before, oldest first. */
export async function idsBefore(sql: Sql, of: KeptMessages, before: Id, after: Id | null, most: number): Promise<Id[]> {
  const rows = await sql<{ id: Id }>`
    select id
    from notifications
    where service_id = ${of.service_id}
      and key_type = ${of.key_type}
      and channel = ${of.channel}
      and in_job = ${of.in_job}
      and id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
      and id < ${before}
    order by id nulls first
    limit ${most}`
  return rows.map(row => row.id)
}

export const remove = (sql: Sql, ids: readonly Id[]) => sql`
  with gone as (
    delete from states
    where id = any (${bare(ids)}::uuid[])
      and id between ${lowest(ids)} and ${highest(ids)}
  )
  delete from notifications
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`
