// Which endpoints have something to send.
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'
import { firstAfter } from '../../events/sql.ts'
import { ticketsFor } from '../../queue/tickets.ts'
import { WEBHOOK_LANE } from '../lane.ts'

/** Of two turns of one endpoint that has only a few new events at a time; in between, events gather. */
const SECONDS_BETWEEN_TURNS = 0.25
/** An event that is committed but not yet in the complete part of the log is looked for again after this. */
const SECONDS_TO_COMPLETE = 0.1

const LOWEST = '00000000-0000-0000-0000-000000000000' as Id

/** `w` has an event after its position, a single event or a replay that is due. */
const due = (first: Part): Part => part`
    select gen_random_uuid() as ticket, ${WEBHOOK_LANE}::text as lane, w.service_id, w.id,
           greatest(clock_timestamp() + make_interval(secs => case when next.is_complete is false then ${SECONDS_TO_COMPLETE}::float8 else 0 end),
                    w.succeeded_at + make_interval(secs => ${SECONDS_BETWEEN_TURNS}::float8)) as due_at
    from idle w
    left join lateral (${firstAfter(part`w`, first)}) next on true
    where next.is_complete is not null
       or (select true from webhook_retries r
           where r.webhook_id = w.id and r.state = 'waiting' and r.next_at <= clock_timestamp()
           limit 1)
       or (select true from webhook_replays r where r.webhook_id = w.id limit 1)`

const given = (idle: Part, first: Part): Part => part`
  with idle as (${idle} for update skip locked),
  due as materialized (${due(first)}),
  ticketed as (${ticketsFor(null)}),
  given as (
    update webhooks w
    set ticket = due.ticket
    from due
    where w.id = due.id
  )`

/** Its ticket is due in so many seconds. */
export type GivenTicket = { id: Id; seconds: number }
/** Null: it has nothing to send. */
export type SeenWebhook = { id: Id; seconds: number | null }
const seconds = part`greatest(0, extract(epoch from due.due_at - clock_timestamp()))::float8`

/** Gives a ticket to endpoints of these services that have none and something to send. */
export const giveTickets = (sql: Sql, services: readonly Id[]) => sql<GivenTicket>`
  ${given(
    part`
    select id, service_id, key_type, stamp, seq, n, succeeded_at
    from webhooks
    where service_id = any (${bare(services)}::uuid[])
      and state = 'active'
      and ticket is null`,
    part`${LOWEST}::uuid`,
  )}
  select id, ${seconds} as seconds from due`

/**
 * The same for the next `most` active endpoints by id. `isWhole`: also for events that were logged more than a day ago. An endpoint
 * that was looked at since then has none.
 */
export const giveTicketsToAll = (sql: Sql, after: Id | null, most: number, isWhole: boolean) => sql<SeenWebhook>`
  ${given(
    part`
    select id, service_id, key_type, stamp, seq, n, succeeded_at
    from webhooks
    where id > ${after ?? LOWEST}
      and state = 'active'
      and ticket is null
    order by id
    limit ${most}`,
    part`case when ${isWhole}::boolean then ${LOWEST}::uuid else event_floor(now() - interval '1 day') end`,
  )}
  select idle.id, case when due.id is not null then ${seconds} end as seconds
  from idle
  left join due on due.id = idle.id
  order by idle.id`

export type ActiveService = { service_id: Id }

/** Services with active endpoints; of these, or of all. */
export const activeServices = (sql: Sql, among: readonly Id[] | null) => sql<ActiveService>`
  select distinct service_id
  from webhooks
  where state = 'active'
    and (${among === null}::boolean or service_id = any (${bare(among ?? [])}::uuid[]))`

export type WebhookFigures = {
  active: number
  paused: number
  disabled: number
  failing: number
  behind_seconds: number
}

/** Endpoints that are looked at for the age of their oldest event. */
const MOST_LOOKED_AT = 200

export async function figures(sql: Sql): Promise<WebhookFigures> {
  const [row] = await sql<WebhookFigures>`
    select count(*) filter (where state = 'active')::integer as active,
           count(*) filter (where state = 'paused')::integer as paused,
           count(*) filter (where state = 'disabled')::integer as disabled,
           count(*) filter (where state = 'active' and failing_since is not null)::integer as failing,
           coalesce((
             select max(extract(epoch from clock_timestamp() - next.at))
             from (select service_id, key_type, stamp, seq, n
                   from webhooks
                   where state = 'active' and ticket is not null
                   order by failing_since
                   limit ${MOST_LOOKED_AT}) w
             cross join lateral (${firstAfter(part`w`, part`${LOWEST}::uuid`)}) next), 0)::float8 as behind_seconds
    from webhooks`
  return row ?? { active: 0, paused: 0, disabled: 0, failing: 0, behind_seconds: 0 }
}
