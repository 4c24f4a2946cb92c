// A status is written in one of two ways: `moved` changes the status of messages that exist, `created` gives new messages their
// first one. Both leave a CTE `moved` (id, service_id, key_type, channel, job_id, was, status) in the statement, and both end in
// the same tail, which does what has to happen in the same commit as every change of status. `was` is null for a new message.
import { type Part, part } from '../../db/connect.ts'

/** `update` changes `states s`, and sets `was = s.status` beside the status. */
export const moved = (update: Part): Part => part`moved as (${update}
    returning s.id, s.service_id, s.key_type, s.channel, s.job_id, s.was, s.status
  )${tail(part`
    select job_id, was as status, -1 as change from moved where job_id is not null and was <> status
    union all
    select job_id, status, 1 from moved where job_id is not null and was <> status`)}`

/** `rows` selects new messages: id, service_id, key_type, channel, job_id, status. Single messages are counted for no job. */
export const created = (rows: Part, scope: 'bulk' | 'single'): Part => part`moved as not materialized (
    select id, service_id, key_type, channel, job_id, null::text as was, status
    from (${rows}) new
  ),
  stated as (
    insert into states (id, service_id, key_type, channel, in_job, job_id, status, moves)
    select id, service_id, key_type, channel, job_id is not null, job_id, status, array[status]
    from moved
  )${tail(scope === 'bulk' ? part`select job_id, status, 1 as change from moved` : null)}`

/**
 * It starts with a comma, because it may be empty. A further CTE for every change of status goes here. `changes` of the numbers
 * of jobs are job_id, status, change.
 */
const tail = (changes: Part | null): Part =>
  changes
    ? part`,
  ${jobCounted(changes)}`
    : part``

/** Keeps the number of messages of each job by status. Rows are locked in order, so that two statements cannot deadlock. */
const jobCounted = (changes: Part) => part`job_counted as (
    insert into job_counts (job_id, status, messages)
    select job_id, status, sum(change)::integer
    from (${changes}) changes
    group by job_id, status
    having sum(change) <> 0
    order by job_id, status
    on conflict (job_id, status) do update set messages = job_counts.messages + excluded.messages
  )`

/** Of a job: how many of its messages have each status, as JSON. */
export const countsOfJob = (job: Part): Part => part`coalesce(
    (select json_agg(json_build_object('status', c.status, 'count', c.messages))
     from job_counts c where c.job_id = ${job} and c.messages > 0), '[]')`
