import type { Id } from '../../core/id.ts'
import { bare, bytes, part, type Sql } from '../../db/connect.ts'
import type { JobEventType } from '../../events/event.ts'
import { jobLogged } from '../../events/sql.ts'
import { bulkStored, type JobColumns } from '../../notifications/sql/spread.ts'
import { type Again, settleTail, stillLeased, ticketsFor } from '../../queue/tickets.ts'
import type { Step } from '../../runtime/steps.ts'

const STARTED: JobEventType = 'job.started'
const FINISHED: JobEventType = 'job.finished'
const FAILED: JobEventType = 'job.failed'

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
 * The last chunk finishes the job, and only its statement returns a row that says so.
 */
export const spread = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  chunk: Chunk | null,
  rows: readonly SpreadRow[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql<{ is_finished: boolean }>`
  with job as materialized (
    select id, clock_timestamp() as now, processing_started is null as is_first
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
    returning id, service_id, key_type, status
  ),
  ${jobLogged(part`
    select s.id, s.service_id, s.key_type, e.type
    from started s
    join job on job.id = s.id
    cross join unnest(array[job.is_first, s.status = 'finished'], ${[STARTED, FINISHED]}::text[]) with ordinality as e (happened, type, n)
    where e.happened
    order by e.n`)},
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
  select status = 'finished' as is_finished from started`

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
    returning id, service_id, key_type
  ),
  ${jobLogged(part`select id, service_id, key_type, ${FAILED}::text from stalled`)},
  ${settleTail(
    leased.map(one => one.id),
    again,
  )}
  select 1 as one`

/** Chunks of old jobs, oldest first. Their jobs have the status `error`; tickets of deleted chunks find nothing to do. */
export async function purgeChunks(
  sql: Sql,
  before: Id,
  after: Id | null,
  most: number,
): Promise<Step<Id> & { jobs: Id[]; services: Id[] }> {
  const [step] = await sql<Step<Id> & { jobs: Id[]; services: Id[] }>`
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
      returning id, service_id, key_type
    ),
    ${jobLogged(part`select id, service_id, key_type, ${FAILED}::text from ended`)}
    select count(*)::integer as found, (select job_id from old order by job_id desc limit 1) as last,
           coalesce(array_agg(distinct job_id), '{}') as jobs, array(select distinct service_id from ended) as services
    from old`
  return step ?? { found: 0, last: null, jobs: [], services: [] }
}
