// Takes tickets from PostgreSQL with SKIP LOCKED and leases.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { commitRecord, isSynchronous } from '../db/replicated.ts'
import { MOST_OF_ONE, SUSPECT_TAKES, type Taker, type Ticket } from './port.ts'
import { stillLeased } from './tickets.ts'

/** An answer of the database that is older says nothing about now. */
const REAP_SECONDS = 2

/** Tickets of one service in one take. */
const PER_SERVICE = 4

/** The most subjects of a ticket. */
const MOST_SUBJECTS = 500
/** A ticket with at most 4 subjects is small. Its array has fewer than 100 bytes; the size is known without reading the array. */
const SMALL = 4
const SMALL_BYTES = 100
/** Small tickets merged in one statement: about as many messages as one take leases for one service. */
const MOST_MERGED = PER_SERVICE * MOST_SUBJECTS

/** `apart`: lanes whose tickets are never merged. */
export function createPostgresTaker(sql: Sql, owner: Id, leaseSeconds: number, apart: readonly string[] = []): Taker {
  /** By lane: services with more small tickets due than one take leases. */
  const mergeable = new Map<string, Set<Id>>()

  // A scheduled message has its own ticket, so that it can be cancelled. Thousands of them due at the same moment would be taken
  // four at a time. Merged into large tickets they are taken as fast as the messages of a bulk job.
  async function mergeSmall(lane: string, leased: ReadonlyMap<Id, number>) {
    for (const service of mergeable.get(lane) ?? []) {
      if ((leased.get(service) ?? 0) >= MOST_OF_ONE) continue
      const merged = await merge(sql, lane, service)
      if (merged < MOST_MERGED) mergeable.get(lane)?.delete(service)
    }
  }

  function noteSmall(lane: string, tickets: readonly Ticket[]) {
    if (apart.includes(lane)) return
    const small = new Map<Id, number>()
    for (const { service_id, subjects } of tickets)
      if (subjects.length <= SMALL) small.set(service_id, (small.get(service_id) ?? 0) + 1)
    for (const [service, count] of small) {
      if (count < PER_SERVICE) continue
      const known = mergeable.get(lane)
      if (known) known.add(service)
      else mergeable.set(lane, new Set([service]))
    }
  }

  // A loose index scan finds the services: its cost depends on the number of services, not on the number of their tickets.
  const take = (
    lane: string,
    most: number,
    which: 'usual' | 'suspects',
    leased: ReadonlyMap<Id, number>,
    mostOfOne: number,
  ) => sql<Ticket>`
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
      left join unnest(${[...leased.keys()]}::uuid[], ${[...leased.values()]}::integer[]) as h (service_id, leased)
        on h.service_id = waiting.service_id
      cross join lateral (
        select id, due_at, row_number() over (order by due_at) + coalesce(h.leased, 0) as rank
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
      where due.rank <= ${mostOfOne}
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
        takes = takes + 1,
        known = case when takes in (0, known) then takes + 1 else 0 end,
        begun = case when takes = 0 then 0 else begun end
    from locked
    where t.id = locked.id
      and t.owner is null
    returning t.id, t.lane, t.service_id, t.subjects, t.attempts, t.faults, t.tried_at, t.takes`

  return {
    async take(lane, most, which, leased = new Map(), mostOfOne = MOST_OF_ONE) {
      if (which === 'suspects') return take(lane, most, which, leased, mostOfOne)
      if (mergeable.size > 0) await mergeSmall(lane, leased)
      const tickets = await take(lane, most, which, leased, mostOfOne)
      noteSmall(lane, tickets)
      return tickets
    },

    async renew(ids) {
      const kept = await sql<{ id: Id; takes: number }>`
        update tickets
        set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
        where id in (select id
                     from tickets
                     where id = any (${ids})
                       and owner = ${owner}
                     order by id
                     for update)
        returning id, takes`
      return new Map(kept.map(({ id, takes }) => [id, takes]))
    },

    // Rows are locked in order, as by the statement that records results, so that the two cannot deadlock.
    async begin(tickets) {
      const begun = await sql<{ id: Id }>`
        with ours as materialized (${stillLeased(owner, tickets)} order by t.id for update of t)
        update tickets t
        set begun = greatest(t.begun, b.begun)
        from ours
        join unnest(${tickets.map(one => one.id)}::uuid[], ${tickets.map(one => one.begun)}::integer[]) as b (id, begun)
          on b.id = ours.id
        where t.id = ours.id
        returning t.id`
      return new Set(begun.map(row => row.id))
    },

    // A ticket that was begun at its first take was leased at its insert: the answer to its message may be on its way until the lease
    // expires. Another one is unknown as soon as the answer to its take must have come. What earlier takes began stays begun.
    async freeUnknown(lanes, known) {
      await sql`
        update tickets
        set owner = null,
            leased_until = null,
            takes = takes - 1,
            known = case when known = takes then takes - 1 else 0 end,
            begun = case when takes = 1 then 0 else begun end
        where id in (select id
                     from tickets
                     where owner = ${owner}
                       and lane = any (${lanes}::text[])
                       and id <> all (${known}::uuid[])
                       and leased_until < clock_timestamp()
                             + case when takes > 1 or begun = 0
                                    then make_interval(secs => ${(leaseSeconds * 2) / 3}) else interval '0' end
                     for update skip locked)
          and owner = ${owner}`
    },

    // Not before a commit: while commits hang, owners cannot renew. The time that the first statement returns keeps the second one
    // from running much later than it was sent, in a server that hung meanwhile.
    async reap() {
      const [expired] = await sql<{ at: Timestamp }>`
        select clock_timestamp() as at, ${commitRecord} as lsn
        where exists (select from tickets
                      where owner is not null
                        and leased_until < (select clock_timestamp()))`
      if (!expired) return
      await sql`
        update tickets
        set owner = null,
            leased_until = null
        where id in (select id from tickets
                     where owner is not null
                       and leased_until < ${expired.at}::timestamptz
                       and (select clock_timestamp() < ${expired.at}::timestamptz + make_interval(secs => ${REAP_SECONDS}))
                     for update skip locked)`
    },

    async giveBack(ids) {
      await sql`
        update tickets
        set owner = null,
            leased_until = null,
            takes = greatest(0, takes - 1),
            known = greatest(0, takes - 1),
            begun = 0
        where id = any (${ids})
          and owner = ${owner}`
    },

    async nextDue(lanes) {
      const rows = await sql<{ lane: string | null; ms: number }>`
        select lane, greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as ms
        from unnest(${lanes}::text[]) as l (lane)
        cross join lateral (
          select due_at
          from tickets t
          where t.lane = l.lane and owner is null
          order by due_at
          limit 1
        ) next
        union all
        select null, (${commitRecord} - '0/0')::float8
        where ${isSynchronous}`
      return new Map(rows.flatMap(({ lane, ms }) => (lane === null ? [] : [[lane, ms]])))
    },
  }
}

/**
 * Merges small tickets that are free, have the same number of attempts and faults, and were first deferred within the same ten minutes.
 * Returns how many there were.
 */
async function merge(sql: Sql, lane: string, service: Id): Promise<number> {
  const [row] = await sql<{ merged: number }>`
    with small as materialized (
      select id
      from tickets
      where lane = ${lane}
        and service_id = ${service}
        and owner is null
        and due_at <= clock_timestamp()
        and takes = 0
        and pg_column_size(subjects) < ${SMALL_BYTES}
      order by due_at
      limit ${MOST_MERGED}
      for update skip locked
    ),
    gone as (
      delete from tickets t
      using small
      where t.id = small.id
        and t.owner is null
      returning t.subjects, t.due_at, t.attempts, t.faults, t.tried_at
    ),
    placed as (
      select subject, due_at, attempts, faults, tried_at, tried_about,
             (row_number() over (partition by attempts, faults, tried_about order by due_at, subject) - 1)
               / ${MOST_SUBJECTS} as place
      from gone
      cross join lateral (select date_bin('10 minutes', tried_at, 'epoch') as tried_about) tried
      cross join lateral unnest(subjects) as subject
    ),
    merged as (
      insert into tickets (id, lane, service_id, subjects, due_at, attempts, faults, tried_at)
      select gen_random_uuid(), ${lane}, ${service}, array_agg(subject order by subject), min(due_at), attempts, faults,
             min(tried_at)
      from placed
      group by attempts, faults, tried_about, place
    )
    select count(*)::integer as merged from gone`
  return row?.merged ?? 0
}
