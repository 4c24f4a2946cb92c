// Tickets are born in the statement that stores what they serve: no message without a ticket, no ticket without a message.
import type { Id } from '../core/id.ts'
import { type Part, part } from '../db/connect.ts'

/** Who delivers what it accepts holds its tickets from birth, so that the normal path has no claim. */
export type Birth = { owner: Id; leaseSeconds: number } | null

/**
 * The tail of an accepting statement, which has a CTE `due` (ticket, lane, service_id, id, due_at). Messages of one lane and
 * service share a ticket; those with `ticket` set (scheduled ones) have one of their own, under that id.
 */
export const ticketsFor = (birth: Birth): Part => part`
  insert into tickets (id, lane, service_id, subjects, due_at, attempts, owner, leased_until)
  select coalesce(ticket, (array_agg(id order by id))[1]), lane, service_id, array_agg(id order by id), min(due_at),
         case when ticket is null and ${birth?.owner ?? null}::uuid is not null then 1 else 0 end,
         case when ticket is null then ${birth?.owner ?? null}::uuid end,
         case when ticket is null and ${birth?.owner ?? null}::uuid is not null
              then clock_timestamp() + make_interval(secs => ${birth?.leaseSeconds ?? 0}) end
  from due
  group by ticket, lane, service_id`
