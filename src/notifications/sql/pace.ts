import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

/**
 * How many messages of jobs a service has sent in a second, by its newest sent messages since an id; null when there are too few. The
 * time between two jobs does not count. At most `most` messages of each status are read.
 */
export async function paceOfJobs(
  sql: Sql,
  service: Id,
  channel: Channel,
  since: Id,
  { most, fewest }: { most: number; fewest: number },
): Promise<number | null> {
  const [row] = await sql<{ pace: number | null }>`
    with sent as (
      select s.job_id, s.sent_at
      from unnest(array['delivered', 'sent', 'sending', 'permanent-failure']) as wanted (status)
      cross join lateral (
        select job_id, sent_at
        from states
        where service_id = ${service}
          and key_type = 'normal'
          and channel = ${channel}
          and in_job
          and status = wanted.status
          and id >= ${since}
        order by id desc nulls last -- the order of the index
        limit ${most}
      ) s
      where s.sent_at is not null
    ),
    jobs_sent as (
      select count(*) as messages, extract(epoch from max(sent_at) - min(sent_at)) as seconds
      from sent
      group by job_id
      having count(*) >= ${fewest}
    )
    select (sum(messages) / nullif(greatest(sum(seconds), 0.001), 0))::float8 as pace
    from jobs_sent`
  return row?.pace ?? null
}
