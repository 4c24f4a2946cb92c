// Taker by SKIP LOCKED and leases.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { MOST_OF_ONE, SUSPECT_TAKES, type Taker, type Ticket } from './port.ts'

/** Tickets one service may get in one take while others wait too. */
const PER_SERVICE = 4

export function createPostgresTaker(sql: Sql, owner: Id, leaseSeconds: number): Taker {
  return {
    // Services are found by leaping through the index from one to the next, so a service with a million waiting messages
    // costs no more to pass by than one with a single message.
    take: (lane, most, which, held = new Map()) => sql<Ticket>`
      with recursive waiting as (
        (select service_id
         from tickets
         where lane = ${lane} and owner is null
         order by service_id
         limit 1)
        union all
        select next.service_id
        from waiting
        cross join lateral (
          select service_id
          from tickets
          where lane = ${lane} and owner is null and service_id > waiting.service_id
          order by service_id
          limit 1
        ) next
      ),
      picked as (
        select due.id
        from waiting
        left join unnest(${[...held.keys()]}::uuid[], ${[...held.values()]}::integer[]) as h (service_id, held)
          on h.service_id = waiting.service_id
        cross join lateral (
          select id, due_at, row_number() over (order by due_at) + coalesce(h.held, 0) as rank
          from (select id, due_at
                from tickets
                where lane = ${lane}
                  and service_id = waiting.service_id
                  and owner is null
                  and due_at <= clock_timestamp()
                  and (takes >= ${SUSPECT_TAKES}) = ${which === 'suspects'}
                order by due_at
                limit ${PER_SERVICE}) first
        ) due
        where due.rank <= ${MOST_OF_ONE}
        order by due.rank, due.due_at
        limit ${most}
      ),
      locked as (
        select t.id
        from tickets t
        join picked p on p.id = t.id
        where t.owner is null
        for update of t skip locked
      )
      update tickets t
      set owner = ${owner},
          leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
          takes = takes + 1
      from locked
      where t.id = locked.id
        and t.owner is null
      returning t.id, t.lane, t.service_id, t.subjects, t.attempts, t.takes`,

    async renew(ids) {
      const kept = await sql<{ id: Id }>`
        update tickets
        set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
        where id = any (${ids})
          and owner = ${owner}
        returning id`
      return new Set(kept.map(row => row.id))
    },

    // While the database is away nobody can renew a lease or record what was sent. After its start owners have the time of a
    // lease to come back, or what they have sent would be sent again.
    async reap() {
      await sql`
        update tickets
        set owner = null,
            leased_until = null
        where id in (select id from tickets
                     where owner is not null
                       and leased_until < clock_timestamp()
                       and pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => ${leaseSeconds})
                     for update skip locked)`
    },

    async giveBack(ids) {
      await sql`
        update tickets
        set owner = null,
            leased_until = null,
            takes = greatest(0, takes - 1)
        where id = any (${ids})
          and owner = ${owner}`
    },

    async nextDue(lanes) {
      const rows = await sql<{ lane: string; ms: number }>`
        select lane, greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as ms
        from unnest(${lanes}::text[]) as l (lane)
        cross join lateral (
          select due_at
          from tickets t
          where t.lane = l.lane and owner is null
          order by due_at
          limit 1
        ) next`
      return new Map(rows.map(row => [row.lane, row.ms]))
    },
  }
}
