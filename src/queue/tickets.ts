// Tickets are inserted and deleted by the statements that store and record their messages, so that neither exists without the
// other. These are the parts of such statements.
import type { Id } from '../core/id.ts'
import { bare, type Part, part } from '../db/connect.ts'

/**
 * A process that delivers what it accepts leases the tickets to itself at insert, which saves the statement that would take them.
 * `leasedUntil` is on the clock of performance.now(), counted from before the statement: the lease in the database ends later.
 */
export type InitialLease = { owner: Id; leaseSeconds: number; leasedUntil: number } | null

/**
 * Of a ticket that is leased at its insert, so many subjects may be handed over without another statement: as many as there are in the
 * usual batch of a busy service.
 */
export const BEGUN_AT_INSERT = 32

/**
 * Inserts the tickets of a CTE `due` (ticket, lane, service_id, id, due_at). Messages of one lane and service share a ticket; a row
 * with `ticket` set (a scheduled message) gets its own, under that id.
 */
export const ticketsFor = (initialLease: InitialLease): Part => part`
  insert into tickets (id, lane, service_id, subjects, due_at, takes, known, begun, owner, leased_until)
  select coalesce(ticket, (array_agg(id order by id))[1]), lane, service_id, array_agg(id order by id), min(due_at),
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null then 1 else 0 end,
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null then 1 else 0 end,
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null
              then least(count(*)::integer, ${BEGUN_AT_INSERT}::integer) else 0 end,
         case when ticket is null then ${initialLease?.owner ?? null}::uuid end,
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null
              then clock_timestamp() + make_interval(secs => ${initialLease?.leaseSeconds ?? 0}) end
  from due
  group by ticket, lane, service_id`

/** Inserts a ticket of its own, due now or later, for each of `rows` (id, service_id). Its id is that of its subject. */
export const ticketsOf = (lane: string, rows: Part, delaySeconds = 0): Part => part`
  insert into tickets (id, lane, service_id, subjects, due_at)
  select id, ${lane}::text, service_id, array[id], clock_timestamp() + make_interval(secs => ${delaySeconds}::float8)
  from (${rows}) due (id, service_id)`

/** Selects the tickets that are still leased to us by the same take. Results are written only for these (fencing). */
export const stillLeased = (owner: Id, leased: readonly { id: Id; takes: number }[]): Part => part`
    select t.id
    from tickets t
    join unnest(${bare(leased.map(h => h.id))}::uuid[], ${bare(leased.map(h => h.takes))}::integer[]) as h (id, takes)
      on h.id = t.id and h.takes = t.takes
    where t.owner = ${owner}`

/**
 * CTEs for a statement that marks as uncertain what may have been handed over under an earlier take of these tickets, which are leased to
 * us: `begun` has these subjects. They are forgotten in the same statement, so that it can be repeated. `subjects` are those that the
 * statement marks; where a ticket has others, nothing is forgotten.
 */
export const takenBefore = (
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  subjects: readonly Id[],
): Part => part`
  ours as materialized (${stillLeased(owner, leased)} order by t.id for update of t),
  begun as materialized (
    select t.id as ticket, unnest(case when t.known = t.takes then t.subjects[1:t.begun] else t.subjects end) as id
    from tickets t
    join ours on ours.id = t.id
  ),
  forgotten as (
    update tickets t
    set begun = 0,
        known = t.takes
    from ours
    where t.id = ours.id
      and t.subjects <@ ${bare(subjects)}::uuid[]
  )`

/** Deletes a ticket that was never leased or tried: after a lease its message may have been sent. */
export const withdrawn = (ticket: Part): Part => part`
    delete from tickets
    where id = (${ticket})
      and owner is null
      and attempts = 0
      and faults = 0
      and takes = 0
    returning id`

/** A CTE that deletes tickets whose subjects were deleted. */
export const unqueued = (tickets: Part): Part => part`unqueued as (
      delete from tickets
      where id in (${tickets})
    )`

/** The id of the ticket that has the subject, among tickets with these ids. */
export const ticketOf = (ids: readonly Id[], subject: Part): Part => part`(
    select t.id
    from tickets t
    where t.id = any (${bare(ids)}::uuid[])
      and ${subject} = any (t.subjects)
    limit 1
  )`

/** Selects the subjects of all leased tickets, as `id`. */
export const leasedSubjects: Part = part`
    select unnest(subjects) as id
    from tickets
    where owner is not null`

/** A retry of one subject of the ticket `from`. Retries with the same `ticket` share that new ticket. */
export type Again = {
  from: Id
  ticket: Id
  lane: string
  service_id: Id
  id: Id
  delaySeconds: number
  attempts: number
  faults?: number | undefined
  takes: number
}

/**
 * CTEs that delete settled tickets and insert the tickets of retries, for a statement with a CTE `leased` (id) of tickets that are
 * still ours. A retry is inserted only if this statement deletes its old ticket: when the statement is repeated after a lost
 * connection, or another process has taken the ticket, there must not be a second one. The time of the first deferral goes over to it.
 */
export const settleTail = (settled: readonly Id[], again: readonly Again[]): Part => part`
  settled as (
    delete from tickets
    where id = any (${bare(settled)}::uuid[])
      and id in (select id from leased)
    returning id, attempts, tried_at
  ),
  later as (
    insert into tickets (id, lane, service_id, subjects, due_at, attempts, faults, tried_at, takes, known)
    select a.ticket, a.lane, a.service_id, array_agg(a.id order by a.id),
           clock_timestamp() + make_interval(secs => max(a.delay)), max(a.attempts), max(a.faults),
           min(case when a.attempts > settled.attempts then coalesce(settled.tried_at, clock_timestamp()) else settled.tried_at end),
           max(a.takes), max(a.takes)
    from unnest(${bare(again.map(a => a.from))}::uuid[], ${bare(again.map(a => a.ticket))}::uuid[],
                ${bare(again.map(a => a.lane))}::text[], ${bare(again.map(a => a.service_id))}::uuid[],
                ${bare(again.map(a => a.id))}::uuid[], ${bare(again.map(a => a.delaySeconds))}::float8[],
                ${bare(again.map(a => a.attempts))}::integer[], ${bare(again.map(a => a.faults ?? 0))}::integer[],
                ${bare(again.map(a => a.takes))}::integer[])
         as a (origin, ticket, lane, service_id, id, delay, attempts, faults, takes)
    join settled on settled.id = a.origin
    group by a.ticket, a.lane, a.service_id
  )`
