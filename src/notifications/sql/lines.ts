// Messages as text for reports, a page in one value: the driver takes longer to make objects of rows than the database to read them.
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { type Browsing, idsOf } from './browse.ts'
import type { JobScope } from './of-job.ts'

/** Lines are in the order of ids, newest first, with fields between tabs; an empty field is null. Texts of callers are JSON. */
export type LinesPage = {
  /** How many ids the page has; and how many of them have lines, because their sealed data is limited. */
  found: number
  taken: number
  /** The last that has a line. */
  last: Id | null
  /** Fields: `MESSAGE_FIELDS`, `STATE_FIELDS`. */
  messages: string
  states: string
  /** Of the messages, each once: `id/version`, and ids of jobs. */
  versions: string[]
  jobs: Id[]
}

export const MESSAGE_FIELDS = [
  'id',
  'channel',
  'template_id',
  'template_version',
  'job_id',
  'scheduled_for',
  'reference',
  'sealed',
] as const
export const STATE_FIELDS = ['id', 'status', 'failure_detail', 'sent_at', 'completed_at', 'parts'] as const

/**
 * The page of `browse`. Messages and states are found by a list of ids, as in `due` of record.ts, and joined by who reads the lines: a
 * join probes the partitions for every row. `mostBytes`: of sealed data; a message that alone is larger gets its line.
 */
export async function readLines(sql: Sql, b: Browsing, mostBytes: number): Promise<LinesPage> {
  const [page] = await sql<LinesPage>`
    with page as materialized (
      select array(${idsOf(b)}) as ids
    ),
    taken as materialized (
      select id, channel, template_id, template_version, job_id, scheduled_for, reference, sealed
      from (
        select n.id, n.channel, n.template_id, n.template_version, n.job_id, n.scheduled_for, n.reference, n.sealed,
               sum(octet_length(n.sealed)) over (order by n.id desc rows unbounded preceding) - octet_length(n.sealed) as bytes_before
        from notifications n
        where n.id = any ((select ids from page)::uuid[])
          and n.id between ${low} and ${high}
      ) n
      where bytes_before < ${mostBytes}
    )
    select (select cardinality(ids) from page) as found,
           (select count(*) from taken)::integer as taken,
           (select id from taken order by id limit 1) as last,
           coalesce((
             select string_agg(concat_ws(E'\t', id, channel, template_id, template_version, coalesce(job_id::text, ''),
                                         coalesce(scheduled_for::text, ''), coalesce(to_json(reference)::text, ''),
                                         encode(sealed, 'hex')), E'\n' order by id desc)
             from taken
           ), '') as messages,
           coalesce((
             select string_agg(concat_ws(E'\t', s.id, s.status, coalesce(s.failure_detail, ''), coalesce(s.sent_at::text, ''),
                                         coalesce(s.completed_at::text, ''), coalesce(s.parts::text, '')), E'\n' order by s.id desc)
             from states s
             where s.id = any (array(select id from taken))
               and s.id between ${low} and ${high}
           ), '') as states,
           array(select distinct template_id || '/' || template_version from taken) as versions,
           array(select distinct job_id from taken where job_id is not null) as jobs`
  return page ?? NOTHING
}

const low: Part = part`(select ids[cardinality(ids)] from page)`
const high: Part = part`(select ids[1] from page)`

const NOTHING: LinesPage = { found: 0, taken: 0, last: null, messages: '', states: '', versions: [], jobs: [] }

/** The messages of a job as lines, in the order of the file, and the lines of their states. `last`: where the next page goes on. */
export type JobLinesPage = { taken: number; last: Id | null; messages: string; states: string }

/** Fields of messages: id, row, reference, sealed. Of states: id, status, failure_detail, sent_at, completed_at, provider_response, diagnosis. */
export async function readJobLines(sql: Sql, scope: JobScope, most: number, mostBytes: number): Promise<JobLinesPage> {
  const [page] = await sql<JobLinesPage>`
    with found as materialized (
      select n.id, n.job_id = ${scope.job} as is_own, n.job_row, n.reference, n.sealed
      from notifications n
      where n.service_id = ${scope.service}
        and n.key_type = ${scope.key_type}
        and n.channel = ${scope.channel}
        and n.in_job
        and n.id > ${scope.after}
        and n.id < ${scope.below}
      order by n.id asc nulls first
      limit ${most}
    ),
    taken as materialized (
      select id, job_row, reference, sealed
      from (
        select id, is_own, job_row, reference, sealed,
               sum(octet_length(sealed)) over (order by id rows unbounded preceding) - octet_length(sealed) as bytes_before
        from found
        where is_own
      ) own
      where bytes_before < ${mostBytes}
    )
    select (select count(*) from taken)::integer as taken,
           case when (select count(*) from found where is_own) > (select count(*) from taken)
             then (select id from taken order by id desc limit 1)
             when (select count(*) from found) = ${most} then (select id from found order by id desc limit 1)
           end as last,
           coalesce((
             select string_agg(concat_ws(E'\t', id, job_row, coalesce(to_json(reference)::text, ''), encode(sealed, 'hex')),
                               E'\n' order by id)
             from taken
           ), '') as messages,
           coalesce((
             select string_agg(concat_ws(E'\t', s.id, s.status, coalesce(s.failure_detail, ''), coalesce(s.sent_at::text, ''),
                                         coalesce(s.completed_at::text, ''), coalesce(to_json(s.provider_response)::text, ''),
                                         coalesce(encode(s.diagnosis, 'hex'), '')), E'\n' order by s.id)
             from states s
             where s.id = any (array(select id from taken))
               and s.id between (select id from taken order by id limit 1) and (select id from taken order by id desc limit 1)
           ), '') as states`
  return page ?? { taken: 0, last: null, messages: '', states: '' }
}
