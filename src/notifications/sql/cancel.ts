import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { marked } from '../../events/sql.ts'
import { givenBack } from '../../limits/sql/usage.ts'
import { withdrawn } from '../../queue/tickets.ts'
import type { Status } from '../status.ts'
import { moved } from './moved.ts'

export type Cancelling = { scheduled: boolean; cancelled: boolean; gone: boolean }

/**
 * Deletes the ticket of a scheduled message and cancels the message in one statement. If an engine has taken the ticket, or takes it
 * at the same moment, nothing is cancelled.
 */
export async function cancel(sql: Sql, service: Id, id: Id, actor: Actor): Promise<Cancelling | null> {
  const [result] = await sql<Cancelling>`
    with message as (
      select n.id, n.service_id, n.channel, n.key_type, n.scheduled_for, s.status
      from notifications n
      join states s on s.id = n.id
      where n.id = ${id}
        and s.id = ${id}
        and n.service_id = ${service}
    ),
    taken as (${withdrawn(part`select id from message where scheduled_for is not null and status = 'created'`)}),
    ${moved(
      part`
      update states s
      set status = 'cancelled',
          completed_at = clock_timestamp(),
          was = s.status,
          moves = array_append(s.moves, 'cancelled'),
          ${marked}
      where s.id = ${id}
        and ((s.status = 'created' and exists (select from taken))
          -- Its ticket is in the lane of the scanner, which will find nothing to do.
          or (s.status = 'pending-virus-check' and exists (select from message where scheduled_for is not null)))`,
      { cause: 'cancel' },
    )},
    ${givenBack(part`
      select service_id, channel, (scheduled_for at time zone 'UTC')::date as day, 1 as messages
      from message
      where key_type <> 'test'
        and exists (select from moved)`)},
    ${recorded('message cancelled', actor, part`(select id, service_id from message where exists (select from moved))`)}
    select scheduled_for is not null as scheduled, exists (select from moved) as cancelled, status = 'cancelled' as gone
    from message`
  return result ?? null
}

export async function isCancelled(sql: Sql, id: Id): Promise<boolean> {
  const [state] = await sql<{ status: Status }>`select status from states where id = ${id}`
  return state?.status === 'cancelled'
}
