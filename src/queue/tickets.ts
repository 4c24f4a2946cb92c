// Tickets are born in the statement that stores what they serve: no message without a ticket, no ticket without a message.
import type { Id } from '../core/id.ts'
import { bare, type Part, part } from '../db/connect.ts'

/**
 * Who delivers what it accepts holds its tickets from initialLease, so that the normal path has no claim. `leasedUntil` is on the
 * process's own clock, counted from before the statement, so that a process never believes in a lease that has run out.
 */
export type InitialLease = { owner: Id; leaseSeconds: number; leasedUntil: number } | null

/**
 * The tail of an accepting statement, which has a CTE `due` (ticket, lane, service_id, id, due_at). Messages of one lane and
 * service share a ticket; those with `ticket` set (scheduled ones) have one of their own, under that id.
 */
export const ticketsFor = (initialLease: InitialLease): Part => part`
  insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
  select coalesce(ticket, (array_agg(id order by id))[1]), lane, service_id, array_agg(id order by id), min(due_at),
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null then 1 else 0 end,
         case when ticket is null then ${initialLease?.owner ?? null}::uuid end,
         case when ticket is null and ${initialLease?.owner ?? null}::uuid is not null
              then clock_timestamp() + make_interval(secs => ${initialLease?.leaseSeconds ?? 0}) end
  from due
  group by ticket, lane, service_id`

/** Of these tickets, the ones that are still ours by the same take: the fence of whatever is written in their name. */
export const stillHeld = (owner: Id, held: readonly { id: Id; takes: number }[]): Part => part`
    select t.id
    from tickets t
    join unnest(${bare(held.map(h => h.id))}::uuid[], ${bare(held.map(h => h.takes))}::integer[]) as h (id, takes)
      on h.id = t.id and h.takes = t.takes
    where t.owner = ${owner}`

/** Takes away a ticket that nobody has taken or tried: an owner that ended without an answer may have sent its messages. */
export const withdrawn = (ticket: Part): Part => part`
    delete from tickets
    where id = (${ticket})
      and owner is null
      and attempts = 0
      and takes = 0
    returning id`

/** A CTE: takes away tickets whose work is gone. */
export const unqueued = (tickets: Part): Part => part`unqueued as (
      delete from tickets
      where id in (${tickets})
    )`

/** What is in somebody's hands at this moment, as `id`. */
export const leasedSubjects: Part = part`
    select unnest(subjects) as id
    from tickets
    where owner is not null`

/** A subject of the ticket `from` that is to be tried again, later: those with the same `ticket` travel together. */
export type Again = {
  from: Id
  ticket: Id
  lane: string
  service_id: Id
  id: Id
  delaySeconds: number
  attempts: number
  takes: number
}

/**
 * The tail of a recording statement, which has a CTE `held` (id) of tickets that are still ours: settled ones go, and what
 * was deferred goes on under new tickets, in the same commit. Only what this very statement settles goes on: when the answer
 * to a commit was lost and the statement comes again, or somebody else has taken over, there must not be a second ticket.
 */
export const settleTail = (settled: readonly Id[], again: readonly Again[]): Part => part`
  settled as (
    delete from tickets
    where id = any (${bare(settled)}::uuid[])
      and id in (select id from held)
    returning id
  ),
  later as (
    insert into tickets (id, lane, service_id, subjects, due_at, attempts, takes)
    select a.ticket, a.lane, a.service_id, array_agg(a.id order by a.id),
           clock_timestamp() + make_interval(secs => max(a.delay)), max(a.attempts), max(a.takes)
    from unnest(${bare(again.map(a => a.from))}::uuid[], ${bare(again.map(a => a.ticket))}::uuid[],
                ${bare(again.map(a => a.lane))}::text[], ${bare(again.map(a => a.service_id))}::uuid[],
                ${bare(again.map(a => a.id))}::uuid[], ${bare(again.map(a => a.delaySeconds))}::float8[],
                ${bare(again.map(a => a.attempts))}::integer[], ${bare(again.map(a => a.takes))}::integer[])
         as a (origin, ticket, lane, service_id, id, delay, attempts, takes)
    join settled on settled.id = a.origin
    group by a.ticket, a.lane, a.service_id
  )`
