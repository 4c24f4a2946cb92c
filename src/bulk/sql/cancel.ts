import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import type { JobEventType } from '../../events/event.ts'
import { jobLogged } from '../../events/sql.ts'
import { givenBack } from '../../limits/sql/usage.ts'
import { unqueued } from '../../queue/tickets.ts'

/** Either the cancellation or the first chunk wins, never both. Returns the share of the daily limit and deletes the rows. */
export async function cancel(sql: Sql, service: Id, id: Id, actor: Actor): Promise<boolean> {
  const rows = await sql`
    with ${stopped(part`id = ${id} and service_id = ${service} and scheduled_for > clock_timestamp()`)},
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
    with ${stopped(part`id = ${id}`)},
    ${forgetStopped}
    select id from stopped`
  return rows.length > 0
}

const stopped = (which: Part) => part`stopped as (
      update jobs
      set status = 'cancelled',
          updated_at = clock_timestamp()
      where ${which}
        and status = 'pending'
      returning id, service_id, key_type, channel, day, counted
    )`

// The job is locked before its tickets, here as in `spread`, so the two cannot deadlock.
const CANCELLED: JobEventType = 'job.cancelled'
const forgetStopped = part`
    ${jobLogged(part`select id, service_id, key_type, ${CANCELLED}::text from stopped`)},
    ${givenBack(part`select service_id, channel, day, counted as messages from stopped`)},
    forgotten as (
      delete from chunks
      where job_id in (select id from stopped)
      returning id
    ),
    ${unqueued(part`select id from forgotten`)}`
