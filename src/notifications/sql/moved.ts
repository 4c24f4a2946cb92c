// A status is written in one of two ways: `moved` changes the status of messages that exist, `created` gives new messages their
// first one. Both leave a CTE `moved` (id, service_id, key_type, channel, job_id, key_id, template_id, scheduled_for, was, status) in the
// statement, and both end in the same tail, which does what has to happen in the same commit as every change of status. `was` is
// null for a new message.
import { type Part, part } from '../../db/connect.ts'
import type { Cause } from '../../events/event.ts'
import { logged } from '../../events/sql.ts'
import { counted, countedNew } from '../../statistics/sql/counted.ts'

/** What the log says about a change beside the status: expressions over the rows of `moved`. Null where nothing is given. */
export type ChangeLog = {
  cause: Cause
  /** Further columns of `moved`, each after a comma: columns of `states s` and of what the update is joined with. */
  returning?: Part
  provider?: Part
  response?: Part
  detail?: Part
  took?: Part
  time?: Part
  sealed?: Part
  /** Further events: a condition on rows of `moved` without a change of status, their type and delay. */
  unmoved?: { when: Part; type: Part; delay: Part }
  /** Not of the log: rows of `moved` that got their parts without a change of status. */
  gained?: Part
}

const nothing = part`null`

/** `update` changes `states s`, and sets `was = s.status` and `marked` (events/sql.ts) beside the status. */
export const moved = (update: Part, { cause, ...log }: ChangeLog): Part => part`moved as (${update}
    returning s.id, s.service_id, s.key_type, s.channel, s.job_id, s.key_id, s.template_id, s.scheduled_for, s.completed_at, s.was,
              s.status, s.parts, s.provider, s.uncertain${log.returning ?? part``}
  )${tail(
    counted(part`moved`, log.gained ?? part`false`),
    part`
    select job_id, was as status, -1 as change from moved where job_id is not null and was <> status
    union all
    select job_id, status, 1 from moved where job_id is not null and was <> status`,
  )},
  ${logged(
    part`logged`,
    cause,
    part`
      select id, service_id, key_type, channel, ${typeOf(log)}, ${log.provider ?? part`provider`}, ${log.response ?? nothing}::text,
             ${log.detail ?? nothing}::text, uncertain, ${log.took ?? nothing}::integer, ${delayOf(log)}::real,
             ${log.time ?? nothing}::timestamptz, ${log.sealed ?? nothing}::bytea
      from moved
      where was <> status${log.unmoved ? part` or (${log.unmoved.when})` : part``}`,
  )}`

const typeOf = ({ unmoved }: Pick<ChangeLog, 'unmoved'>): Part =>
  unmoved
    ? part`case when was <> status then 'notification.' || status else ${unmoved.type} end`
    : part`'notification.' || status`
const delayOf = ({ unmoved }: Pick<ChangeLog, 'unmoved'>): Part =>
  unmoved ? part`case when was = status then ${unmoved.delay} end` : nothing

/**
 * `rows` selects new messages: id, service_id, key_type, channel, job_id, key_id, template_id, scheduled_for, status. Single messages
 * are counted for no job.
 */
export const created = (rows: Part, scope: 'bulk' | 'single'): Part => part`moved as not materialized (
    select id, service_id, key_type, channel, job_id, key_id, template_id, scheduled_for, null::text as was, status
    from (${rows}) new
  ),
  stated as (
    insert into states (id, service_id, key_type, channel, in_job, job_id, key_id, template_id, scheduled_for, status, moves)
    select id, service_id, key_type, channel, job_id is not null, job_id, key_id, template_id, scheduled_for, status, array[status]
    from moved
  )${tail(countedNew(part`moved`), scope === 'bulk' ? part`select job_id, status, 1 as change from moved` : null)}`

/**
 * It starts with a comma. A further CTE for every change of status goes here. `hourly` counts the messages of the hour; `changes` of
 * the numbers of jobs are job_id, status, change.
 */
const tail = (hourly: Part, changes: Part | null): Part =>
  changes
    ? part`,
  ${hourly},
  ${jobCounted(changes)}`
    : part`,
  ${hourly}`

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

/** Whether messages of a job wait for their turn. */
export const waitsInJob = (job: Part): Part => part`exists (
    select from job_counts c
    where c.job_id = ${job} and c.status in ('created', 'pending-virus-check') and c.messages > 0)`

/** Of a job: how many of its messages have each status, as JSON. */
export const countsOfJob = (job: Part): Part => part`coalesce(
    (select json_agg(json_build_object('status', c.status, 'count', c.messages))
     from job_counts c where c.job_id = ${job} and c.messages > 0), '[]')`
