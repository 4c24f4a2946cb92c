import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { commitRecord, commitsWait } from '../../db/replicated.ts'
import type { JobEventType } from '../../events/event.ts'
import { jobLogged } from '../../events/sql.ts'
import { reservedWhole } from '../../limits/sql/usage.ts'
import { ticketsFor } from '../../queue/tickets.ts'
import { WAKE_CHANNEL } from '../../queue/wake.ts'
import { remembered } from '../../replays/sql.ts'
import { type Job, SPREAD_LANE } from '../job.ts'

export type NewJob = Job & {
  counted: number
  day: string
  daily_limit: number
  lane: string
  chunks: number
  /** Headers of the file that the template uses, in order. */
  columns: readonly string[]
}

/** Stores a job. Its chunks and its share of the daily limit follow in the same transaction. */
export const add = (sql: Sql, job: NewJob) => sql`
  insert into jobs (id, service_id, key_id, key_name, key_type, name, channel, template_id, template_version, sender_id,
                    notification_count, counted, day, lane, status, chunks_left, scheduled_for, rows_from, columns)
  values (${job.id}, ${job.service_id}, ${job.key_id}, ${job.key_name}, ${job.key_type}, ${job.name}, ${job.channel},
          ${job.template_id}, ${job.template_version}, ${job.sender_id}, ${job.notification_count}, ${job.counted},
          ${job.day}, ${job.lane}, 'pending', ${job.chunks}, ${job.scheduled_for}, ${job.rows_from}, ${job.columns}::text[])`

/** Throws when a commit would not wait for a synchronous standby. */
export async function requireReplication(sql: Sql): Promise<void> {
  const [row] = await sql<{ waits: boolean }>`select ${commitsWait} as waits`
  if (!row?.waits) throw new Error('the database would not replicate the job; nothing was stored')
}

/** Whether a job is stored, and on the synchronous standby, for when the connection was lost during the commit. */
export async function isStored(sql: Sql, { id, service_id }: Pick<Job, 'id' | 'service_id'>): Promise<boolean> {
  const found = await sql`
    select id, ${commitRecord} as lsn
    from jobs
    where id = ${id} and service_id = ${service_id}`
  return found.length > 0
}

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

const ACCEPTED: JobEventType = 'job.accepted'

type KeptReplay = { key: Buffer; request: Buffer; answer: Buffer } | null

/**
 * The last step of the transaction that stores a job, because single messages of the service wait for its row lock: reserves the
 * daily limit for all rows at once, stores the replayable response and logs the job. False when too little of the limit is left.
 */
export async function reserve(sql: Sql, job: NewJob, replay: KeptReplay): Promise<boolean> {
  const [row] = await sql<{ enough: boolean }>`
    with ${reservedWhole({ ...job, most: job.daily_limit }, job.counted)},
    ${remembered(part`
      select ${job.service_id}::uuid, ${replay?.key ?? null}::bytea, ${replay?.request ?? null}::bytea, ${replay?.answer ?? null}::bytea
      where ${replay?.key ?? null}::bytea is not null`)},
    ${jobLogged(part`
      select ${job.id}::uuid, ${job.service_id}::uuid, ${job.key_type}::text, ${ACCEPTED}::text
      where ${job.counted}::integer = 0 or exists (select from reserved)`)}
    select ${job.counted}::integer = 0 or exists (select from reserved) as enough`
  return row?.enough === true
}

/** Notifies engines at once, without the usual delay of some milliseconds: for a command, which exits right after. */
export const wakeSpread = (sql: Sql) => sql`select pg_notify(${WAKE_CHANNEL}, ${SPREAD_LANE})`
