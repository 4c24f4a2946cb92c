// The messages of one bulk job. Their ids are in the order of the rows of the file, and between two ids that the job knows.
import type { Channel } from '../../channels/plain.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, part, type Sql } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import { FAILURES, type Status } from '../status.ts'
import { highest, lowest } from './bounds.ts'

/** Its messages are after one id and below another. */
export type JobScope = { job: Id; service: Id; key_type: KeyType; channel: Channel; after: Id; below: Id }

export type RowOfJob = { id: Id; job_row: number; reference: string | null; sealed: Buffer }

/**
 * The next messages of a job, in order. Messages of other jobs may have ids among them: at most `most` messages are examined, and
 * the next scan goes on after `last`; null: there are no more.
 */
export async function rowsOfJob(
  sql: Sql,
  scope: JobScope,
  most: number,
): Promise<{ rows: RowOfJob[]; last: Id | null }> {
  const found = await sql<RowOfJob & { is_own: boolean }>`
    select n.id, n.job_id = ${scope.job} as is_own, n.job_row, n.reference,
           case when n.job_id = ${scope.job} then n.sealed end as sealed
    from notifications n
    where n.service_id = ${scope.service}
      and n.key_type = ${scope.key_type}
      and n.channel = ${scope.channel}
      and n.in_job
      and n.id > ${scope.after}
      and n.id < ${scope.below}
    order by n.id asc nulls first
    limit ${most}`
  const last = found.length === most ? (found.at(-1)?.id ?? null) : null
  return { rows: found.filter(row => row.is_own), last }
}

export type StateOfRow = {
  id: Id
  status: Status
  sent_at: Timestamp | null
  completed_at: Timestamp | null
  failure_detail: string | null
  provider_response: string | null
  diagnosis: Buffer | null
}

/** Of messages that exist. */
export const statesOfRows = (sql: Sql, ids: readonly Id[]) => sql<StateOfRow>`
  select id, status, sent_at, completed_at, failure_detail, provider_response, diagnosis
  from states
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`

/** States of the job that have one of these statuses, as rows s. The most rows of a job are 50,000; others may be among them. */
const statesOf = (scope: JobScope, statuses: readonly Status[], most: number) => part`
  unnest(${statuses}::text[]) as t (status)
  cross join lateral (
    select x.id, x.job_id, x.status, x.sent_at, x.failure_detail, x.provider, x.provider_response, x.diagnosis
    from states x
    where x.service_id = ${scope.service}
      and x.key_type = ${scope.key_type}
      and x.channel = ${scope.channel}
      and x.in_job
      and x.status = t.status
      and x.id > ${scope.after}
      and x.id < ${scope.below}
    order by x.id asc nulls first
    limit ${most}
  ) s`
const MOST_EXAMINED = 100_000

/** Failed messages that have the same reason. `example`: one of them that has a diagnosis. */
export type FailureGroup = {
  status: (typeof FAILURES)[number]
  failure_detail: string | null
  provider_response: string | null
  example: Id | null
  messages: number
}

/** Why messages of the job failed, most messages first. */
export const failuresOfJob = (sql: Sql, scope: JobScope, most: number) => sql<FailureGroup>`
  select s.status, s.failure_detail, s.provider_response, count(*)::integer as messages,
         min(s.id::text) filter (where s.diagnosis is not null) as example
  from ${statesOf(scope, FAILURES, MOST_EXAMINED)}
  where s.job_id = ${scope.job}
  group by s.status, s.failure_detail, s.provider_response
  order by count(*) desc, s.status, s.failure_detail, s.provider_response
  limit ${most}`

const HANDED_OVER = [
  'sending',
  'sent',
  'pending',
  'delivered',
  'permanent-failure',
  'temporary-failure',
] as const satisfies readonly Status[]

/** Who handed over the first of its messages that did not fail; null: there is none yet, or nobody said. */
export async function providerOfJob(sql: Sql, scope: JobScope): Promise<string | null> {
  const [row] = await sql<{ provider: string | null }>`
    select s.provider
    from ${statesOf(scope, ['delivered', 'sent'], MOST_EXAMINED)}
    where s.job_id = ${scope.job}
    limit 1`
  return row?.provider ?? null
}

/** How many of its messages were handed over in the last seconds. */
export async function handedOverLately(sql: Sql, scope: JobScope, seconds: number): Promise<number> {
  const [row] = await sql<{ messages: number }>`
    select count(*)::integer as messages
    from ${statesOf(scope, HANDED_OVER, MOST_EXAMINED)}
    where s.job_id = ${scope.job}
      and s.sent_at > clock_timestamp() - make_interval(secs => ${seconds})`
  return row?.messages ?? 0
}

/** The next of its messages that failed for a time, in the order of the rows. */
export const failedForATime = (sql: Sql, scope: JobScope, most: number) => sql<RowOfJob>`
  select n.id, n.job_row, n.reference, n.sealed
  from (${failedIds(scope, most)}) page
  cross join lateral (select * from notifications where id = page.id limit 1) n
  order by n.id`

/** The numbers of all its rows that failed for a time. */
export async function rowsFailedForATime(sql: Sql, scope: JobScope): Promise<number[]> {
  const [found] = await sql<{ rows: number[] }>`
    select coalesce(array_agg(n.job_row), '{}') as rows
    from (${failedIds(scope, MOST_EXAMINED)}) page
    cross join lateral (select job_row from notifications where id = page.id limit 1) n`
  return found?.rows ?? []
}

const failedIds = (scope: JobScope, most: number) => part`
    select s.id
    from ${statesOf(scope, ['temporary-failure'], MOST_EXAMINED)}
    where s.job_id = ${scope.job}
    order by s.id
    limit ${most}`
