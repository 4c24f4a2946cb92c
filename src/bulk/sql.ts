import type { Actor } from '../audit/actor.ts'
import { recorded } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../db/connect.ts'
import { type Counter, givenBack, reservedWhole } from '../limits/sql/usage.ts'
import { countsOfJob } from '../notifications/sql/moved.ts'
import { bulkStored, type JobColumns } from '../notifications/sql/spread.ts'
import { type Again, settleTail, stillLeased, ticketsFor, unqueued } from '../queue/tickets.ts'
import { WAKE_CHANNEL } from '../queue/wake.ts'
import { remembered } from '../replays/sql.ts'
import type { Step } from '../runtime/steps.ts'
import { type Job, SPREAD_LANE } from './job.ts'

export type NewJob = Job & { counted: number; day: string; daily_limit: number; lane: string; chunks: number }

/** Stores a job. Its chunks and its share of the daily limit follow in the same transaction. */
export const add = (sql: Sql, job: NewJob) => sql`
  insert into jobs (id, service_id, key_id, key_name, key_type, name, channel, template_id, template_version, sender_id,
                    notification_count, counted, day, lane, status, chunks_left, scheduled_for)
  values (${job.id}, ${job.service_id}, ${job.key_id}, ${job.key_name}, ${job.key_type}, ${job.name}, ${job.channel},
          ${job.template_id}, ${job.template_version}, ${job.sender_id}, ${job.notification_count}, ${job.counted},
          ${job.day}, ${job.lane}, 'pending', ${job.chunks}, ${job.scheduled_for})`

/**
 * Stores chunks, each with a ticket of its own: the chunk is the unit of work, retry and parallelism. Every chunk is its own
 * parameter, because an array of them would be sent as text, twice as long.
 */
export const addChunks = (
  sql: Sql,
  job: Pick<Job, 'id' | 'service_id' | 'scheduled_for'>,
  ids: readonly Id[],
  sealed: readonly Buffer[],
) => sql`
  with added as (
    insert into chunks (id, job_id, sealed)
    select id, ${job.id}::uuid, sealed
    from unnest(${ids}::uuid[], array[${listed(sealed)}]) as c (id, sealed)
    returning id
  ),
  due as (
    select id as ticket, ${SPREAD_LANE}::text as lane, ${job.service_id}::uuid as service_id, id, coalesce(${job.scheduled_for}::timestamptz, now()) as due_at
    from added
  )
  ${ticketsFor(null)}`

const listed = (buffers: readonly Buffer[]): Part =>
  buffers.slice(1).reduce((list, buffer) => part`${list}, ${buffer}::bytea`, part`${buffers[0] ?? null}::bytea`)

type KeptReplay = { key: Buffer; request: Buffer; answer: Buffer } | null

/**
 * The last step of the transaction that stores a job, because single messages of the service wait for its row lock: reserves the
 * daily limit for all rows at once and stores the replayable response. False when too little of the limit is left.
 */
export async function reserve(sql: Sql, job: NewJob, replay: KeptReplay): Promise<boolean> {
  const [row] = await sql<{ enough: boolean }>`
    with ${reservedWhole({ ...job, most: job.daily_limit }, job.counted)},
    ${remembered(part`
      select ${job.service_id}::uuid, ${replay?.key ?? null}::bytea, ${replay?.request ?? null}::bytea, ${replay?.answer ?? null}::bytea
      where ${replay?.key ?? null}::bytea is not null`)}
    select ${job.counted}::integer = 0 or exists (select from reserved) as enough`
  return row?.enough === true
}

const shown = part`id, service_id, key_id, key_name, key_type, name, channel, template_id, template_version, sender_id,
  notification_count, status, scheduled_for, processing_started, processing_finished, updated_at,
  ${countsOfJob(part`jobs.id`)} as counts`

export type ShownJob = Job & { counts: readonly { status: string; count: number }[] }

export async function find(sql: Sql, service: Id, id: Id): Promise<ShownJob | null> {
  const [job] = await sql<ShownJob>`
    select ${shown}
    from jobs
    where id = ${id} and service_id = ${service}`
  return job ?? null
}

export const page = (sql: Sql, service: Id, olderThan: Id | null, size: number) => sql<ShownJob>`
  select ${shown}
  from jobs
  where service_id = ${service}
    and (${olderThan}::uuid is null or id < ${olderThan})
  order by id desc
  limit ${size}`

/** For the operator: jobs of all services whose ids are in a range. */
export const between = (sql: Sql, first: Id, last: Id) => sql<{ id: Id; service_id: Id; name: string }>`
  select id, service_id, name
  from jobs
  where id between ${first} and ${last}
  order by id
  limit 10`

/** Notifies engines at once, without the usual delay of some milliseconds: for a command, which exits right after. */
export const wakeSpread = (sql: Sql) => sql`select pg_notify(${WAKE_CHANNEL}, ${SPREAD_LANE})`

/** Either the cancellation or the first chunk wins, never both. Returns the share of the daily limit and deletes the rows. */
export async function cancel(sql: Sql, service: Id, id: Id, actor: Actor): Promise<boolean> {
  const rows = await sql`
    with stopped as (
      update jobs
      set status = 'cancelled',
          updated_at = clock_timestamp()
      where id = ${id}
        and service_id = ${service}
        and status = 'pending'
        and scheduled_for > clock_timestamp()
      returning id, service_id, channel, day, counted
    ),
    ${recorded('job cancelled', actor, part`stopped`)},
    ${forgetStopped}
    select id from stopped`
  return rows.length > 0
}

/**
 * Cancels a job whose service is suspended or archived when the job is due; false when it has begun, because then it is
 * completed.
 */
export async function stop(sql: Sql, id: Id): Promise<boolean> {
  const rows = await sql`
    with stopped as (
      update jobs
      set status = 'cancelled',
          updated_at = clock_timestamp()
      where id = ${id}
        and status = 'pending'
      returning id, service_id, channel, day, counted
    ),
    ${forgetStopped}
    select id from stopped`
  return rows.length > 0
}

// The job is locked before its tickets, here as in `spread`, so the two cannot deadlock.
const forgetStopped = part`
    ${givenBack(part`select service_id, channel, day, counted as messages from stopped`)},
    forgotten as (
      delete from chunks
      where job_id in (select id from stopped)
      returning id
    ),
    ${unqueued(part`select id from forgotten`)}`

/** Chunks of old jobs, oldest first. Their jobs have the status `error`; tickets of deleted chunks find nothing to do. */
export async function purgeChunks(
  sql: Sql,
  before: Id,
  after: Id | null,
  most: number,
): Promise<Step<Id> & { jobs: Id[] }> {
  const [step] = await sql<Step<Id> & { jobs: Id[] }>`
    with old as materialized (
      select id, job_id
      from chunks
      where job_id >= coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
        and job_id < ${before}
      order by job_id
      limit ${most}
    ),
    gone as (
      delete from chunks c
      using old
      where c.id = old.id
    ),
    ended as (
      update jobs
      set status = 'error',
          updated_at = clock_timestamp()
      where id in (select job_id from old)
        and status in ('pending', 'in progress')
    )
    select count(*)::integer as found, (select job_id from old order by job_id desc limit 1) as last,
           coalesce(array_agg(distinct job_id), '{}') as jobs
    from old`
  return step ?? { found: 0, last: null, jobs: [] }
}

export type Chunk = JobColumns & { id: Id; sealed: Buffer; lane: string }

export const loadChunks = (sql: Sql, ids: readonly Id[]) => sql<Chunk>`
  select c.id, c.job_id, c.sealed, j.service_id, j.key_id, j.key_type, j.channel, j.template_id, j.template_version, j.sender_id, j.lane
  from chunks c
  join jobs j on j.id = c.job_id
  where c.id = any (${ids}::uuid[])`

export type SpreadRow = {
  id: Id
  row: number
  reference: string | null
  lane: string
  is_international: boolean
  sealed: Buffer
  digest: Buffer
}

/**
 * Turns a chunk into messages with their states and tickets and deletes it, in one statement: a second attempt finds no chunk.
 * The last chunk finishes the job.
 */
export const spread = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  chunk: Chunk | null,
  rows: readonly SpreadRow[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql`
  with job as materialized (
    select id, clock_timestamp() as now
    from jobs
    where id = ${chunk?.job_id ?? null}::uuid
    for update
  ),
  -- Asked about, so that it is locked before the ticket: who cancels locks in this order, too.
  leased as materialized (${stillLeased(owner, leased)} and (select count(*) from job) >= 0 for update of t),
  started as (
    update jobs
    set status = case when chunks_left = 1 then 'finished' when status = 'error' then status else 'in progress' end,
        processing_started = coalesce(processing_started, (select now from job)),
        processing_finished = case when chunks_left = 1 then (select now from job) end,
        updated_at = (select now from job),
        chunks_left = chunks_left - 1
    where id = ${chunk?.job_id ?? null}::uuid
      and status in ('pending', 'in progress', 'error')
      and exists (select from leased)
      and exists (select from chunks where id = ${chunk?.id ?? null}::uuid)
    returning id
  ),
  gone as (
    delete from chunks
    where id = ${chunk?.id ?? null}::uuid
      and exists (select from started)
    returning id
  ),
  rows as materialized (
    select r.*
    from unnest(${bare(rows.map(r => r.id))}::uuid[], ${bare(rows.map(r => r.row))}::integer[], ${rows.map(r => r.reference)}::text[],
                ${bare(rows.map(r => r.lane))}::text[], ${bare(rows.map(r => r.is_international))}::boolean[],
                ${bytes(rows.map(r => r.sealed))}::bytea[], ${bytes(rows.map(r => r.digest))}::bytea[])
         as r (id, job_row, reference, lane, is_international, sealed, digest)
    where exists (select from gone)
  ),
  ${bulkStored(chunk)},
  due as (
    select null::uuid as ticket, lane, ${chunk?.service_id ?? null}::uuid as service_id, id, now() as due_at
    from rows
  ),
  ticketed as (${ticketsFor(null)}),
  ${settleTail(settled, again)}
  select 1 as one`

/** A chunk that cannot become messages: the job gets the status `error`, and the chunk gets another ticket (contract 6.7). */
export const stall = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  job: Id,
  again: readonly Again[],
) => sql`
  with leased as materialized (${stillLeased(owner, leased)} for update of t),
  stalled as (
    update jobs
    set status = 'error',
        updated_at = clock_timestamp()
    where id = ${job}
      and status in ('pending', 'in progress')
      and exists (select from leased)
  ),
  ${settleTail(
    leased.map(one => one.id),
    again,
  )}
  select 1 as one`

/** What jobs made since an id have reserved of a day's allowance. */
export async function reservedByJobs(sql: Sql, { service_id, channel, day }: Counter, since: Id): Promise<number> {
  const [row] = await sql<{ reserved: number }>`
    select coalesce(sum(counted), 0)::integer as reserved
    from jobs
    where service_id = ${service_id}
      and channel = ${channel}
      and id >= ${since}
      and day = ${day}::date
      and status <> 'cancelled'`
  return row?.reserved ?? 0
}

/** What an event says about its job. */
export type JobDetails = Pick<
  Job,
  'id' | 'name' | 'channel' | 'template_id' | 'template_version' | 'notification_count' | 'scheduled_for'
>

export const details = (sql: Sql, ids: readonly Id[]) => sql<JobDetails>`
  select id, name, channel, template_id, template_version, notification_count, scheduled_for
  from jobs
  where id = any (${bare(ids)}::uuid[])`
