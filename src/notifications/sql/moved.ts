import { part } from '../../db/connect.ts'

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
