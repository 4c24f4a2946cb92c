import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, part, type Sql } from '../../db/connect.ts'
import type { Counter } from '../../limits/sql/usage.ts'
import { countsOfJob } from '../../notifications/sql/moved.ts'
import type { Job } from '../job.ts'

export const shown = part`id, service_id, key_id, key_name, key_type, name, channel, template_id, template_version, sender_id,
  notification_count, status, scheduled_for, processing_started, processing_finished, updated_at, rows_from, again_of,
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

/** Jobs since an id that have not ended, newest first. */
export const unfinished = (sql: Sql, service: Id, since: Id, most: number) => sql<ShownJob>`
  select ${shown}
  from jobs
  where service_id = ${service}
    and id >= ${since}
    and status in ('pending', 'in progress', 'error')
  order by id desc
  limit ${most}`

/** For the operator: jobs of all services whose ids are in a range. */
export const between = (sql: Sql, first: Id, last: Id) => sql<{ id: Id; service_id: Id; name: string }>`
  select id, service_id, name
  from jobs
  where id between ${first} and ${last}
  order by id
  limit 10`

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

/** Newest first. */
export const newestNames = (sql: Sql, service: Id, most: number) => sql<Pick<Job, 'id' | 'name'>>`
  select id, name
  from jobs
  where service_id = ${service}
  order by id desc
  limit ${most}`

export type ScheduledJob = Pick<Job, 'id' | 'name' | 'template_version' | 'notification_count'> & {
  scheduled_for: Timestamp
}

/** Jobs of a template that wait for their time, soonest first. They are made after `since`, because a job waits some days at most. */
export const scheduledWith = (sql: Sql, service: Id, template: Id, since: Id) => sql<ScheduledJob>`
  select id, name, template_version, notification_count, scheduled_for
  from jobs
  where service_id = ${service}
    and id >= ${since}
    and template_id = ${template}
    and status = 'pending'
    and scheduled_for > now()
  order by scheduled_for, id
  limit 100`
