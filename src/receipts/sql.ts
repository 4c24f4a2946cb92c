import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { bare, bytes, part, type Sql } from '../db/connect.ts'
import { highest, lowest, unpruned } from '../notifications/sql/bounds.ts'
import { jobCounts } from '../notifications/sql/moved.ts'
import type { Status } from '../notifications/status.ts'
import type { Receipt } from '../providers/port.ts'
import { type Again, type InitialLease, settleTail, stillHeld, ticketsFor } from '../queue/tickets.ts'
import type { Step } from '../runtime/steps.ts'
import type { Channel } from '../services/service.ts'

/** Its diagnosis is sealed. */
export type NewReceipt = Omit<Receipt, 'diagnosis'> & { id: Id; provider: string; diagnosis: Buffer | null }

/** Of a receipt r: the provider's time or ours, in milliseconds, and its message by the provider's name or by our own. */
const timeOf = part`(extract(epoch from coalesce(r.at, r.received_at)) * 1000)::float8`
const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'
const messageOf = part`coalesce((select h.id from handovers h where h.provider = r.provider and h.ref = r.ref),
  case when r.ref ~ ${UUID} then r.ref::uuid end)`

/** Of a state s: the provider's time of the receipt that counts now. Read and compared in the same words, so that no rounding matters. */
const receiptTime = part`(extract(epoch from s.receipt_at) * 1000)::float8`

/** Whose tickets those of receipts are: they belong to no service. */
export const NOBODY = '00000000-0000-0000-0000-000000000000' as Id

/** A receipt that has just been stored: its time, its message if that is known, and whether the message has older ones. */
export type Kept = Pick<StoredReceipt, 'id' | 'at' | 'notification'> & { has_older: boolean }

/** Stores receipts with their ticket. News that is known already changes nothing, and does not come back. */
export const accept = (sql: Sql, receipts: readonly NewReceipt[], initialLease: InitialLease) => sql<Kept>`
  with fresh as (
    insert into receipts (id, provider, event_id, ref, at, result, detail, response, diagnosis)
    select id, provider, event_id, ref, to_timestamp(at / 1000.0), result, detail, response, diagnosis
    from unnest(${bare(receipts.map(r => r.id))}::uuid[], ${bare(receipts.map(r => r.provider))}::text[],
                ${receipts.map(r => r.eventId)}::text[], ${receipts.map(r => r.ref)}::text[],
                ${bare(receipts.map(r => r.at))}::float8[], ${bare(receipts.map(r => r.result))}::text[],
                ${receipts.map(r => r.detail)}::text[], ${receipts.map(r => r.response)}::text[],
                ${bytes(receipts.map(r => r.diagnosis))}::bytea[])
         as r (id, provider, event_id, ref, at, result, detail, response, diagnosis)
    on conflict (provider, event_id) do nothing
    returning id, provider, ref, at, received_at
  ),
  due as (
    select null::uuid as ticket, 'receipt' as lane, ${NOBODY}::uuid as service_id, id, now() as due_at
    from fresh
  ),
  ticketed as (${ticketsFor(initialLease)})
  select r.id, ${timeOf} as at, ${messageOf} as notification,
         -- Not "exists", for which the planner would read them all and keep them in a table.
         (select true from receipts o where o.provider = r.provider and o.ref = r.ref limit 1) is true as has_older
  from fresh r
  order by r.id`

export type StoredReceipt = {
  id: Id
  /** The receipt that was asked for: itself, or a later one of the same message. */
  asked: Id
  provider: string
  result: Receipt['result']
  detail: string | null
  response: string | null
  /** Sealed; gone from the receipt once it has been applied. */
  diagnosis: Buffer | null
  /** The provider's time, or when it reached us where it gives none; milliseconds. */
  at: number
  age_seconds: number
  /** The message it speaks of; null while its reference is not known. */
  notification: Id | null
}

/**
 * A provider that reports calls a message by its own name; one that bounces mail calls it by ours. Each receipt comes after the
 * older ones of its message, which may still be waiting for the message to be known.
 */
export const load = (sql: Sql, ids: readonly Id[]) => sql<StoredReceipt>`
  select r.id, a.id as asked, r.provider, r.result, r.detail, r.response, r.diagnosis, ${timeOf} as at,
         extract(epoch from clock_timestamp() - r.received_at)::float8 as age_seconds, ${messageOf} as notification
  from receipts a
  join receipts r on r.provider = a.provider and r.ref = a.ref and r.id <= a.id
  where a.id = any (${bare(ids)}::uuid[])
  order by r.id`

export type StateRow = {
  id: Id
  channel: Channel
  status: Status
  provider: string | null
  receipt_at: number | null
  provider_response: string | null
  failure_detail: string | null
}

/** Where messages stand; the bounds name their days. */
export const standing = (sql: Sql, ids: readonly Id[]) => sql<StateRow>`
  select id, channel, status, provider, ${receiptTime} as receipt_at, provider_response, failure_detail
  from states s
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`

export type Move = {
  id: Id
  /** Where it was found, and may have left meanwhile. */
  from: Pick<StateRow, 'status' | 'receipt_at'>
  status: Status
  at: number | null
  isFinal: boolean
  response: string | null
  detail: string | null
  diagnosis: Buffer | null
  moves: string[]
}

/**
 * Writes where news has moved messages, and settles the tickets of the news. A message that does not stand where it was found is
 * left alone, and then no ticket is settled: false, and it has to be looked at again. Alike moves are one row, as in `record`.
 */
export async function move(
  sql: Sql,
  owner: Id,
  held: readonly { id: Id; takes: number }[],
  moves: readonly Move[],
  settled: readonly Id[],
  again: readonly Again[],
  /** Receipts whose diagnosis is with its message now. */
  diagnosed: readonly Id[] = [],
): Promise<boolean> {
  const [told] = await sql<{ all_moved: boolean }>`
  with alike as materialized (
    select was, status, is_final, response, detail, diagnosis, moves, array_agg(id) as ids, array_agg(was_at) as were, array_agg(at) as times
    from unnest(${bare(moves.map(m => m.id))}::uuid[], ${bare(moves.map(m => m.from.status))}::text[],
                ${bare(moves.map(m => m.from.receipt_at))}::float8[], ${bare(moves.map(m => m.status))}::text[],
                ${bare(moves.map(m => m.at))}::float8[], ${bare(moves.map(m => m.isFinal))}::boolean[],
                ${moves.map(m => m.response)}::text[], ${moves.map(m => m.detail)}::text[],
                ${bytes(moves.map(m => m.diagnosis))}::bytea[], ${bare(moves.map(m => m.moves.join('/')))}::text[])
         as m (id, was, was_at, status, at, is_final, response, detail, diagnosis, moves)
    group by was, status, is_final, response, detail, diagnosis, moves
  ),
  moved as (
    update states s
    set status = m.status,
        completed_at = case when m.is_final then coalesce(s.completed_at, clock_timestamp()) end,
        receipt_at = to_timestamp(m.times[array_position(m.ids, s.id)] / 1000.0),
        provider_response = m.response,
        failure_detail = m.detail,
        diagnosis = m.diagnosis,
        was = s.status,
        moves = s.moves || string_to_array(m.moves, '/')
    from alike m
    where s.id = any (${bare(moves.map(m => m.id))}::uuid[])
      and s.id between ${lowest(moves.map(m => m.id))} and ${highest(moves.map(m => m.id))}
      and ${unpruned(part`s.id = any (m.ids)`)}
      and s.status = m.was
      and ${receiptTime} is not distinct from m.were[array_position(m.ids, s.id)]
    returning s.job_id, s.was, s.status
  ),
  ${jobCounts},
  outcome as materialized (select count(*) = ${moves.length}::integer as all_moved from moved),
  held as materialized (${stillHeld(owner, held)} and (select all_moved from outcome) for update of t),
  ${diagnosed.length > 0 ? withoutDiagnosis(diagnosed) : part``}
  ${settleTail(settled, again)}
  select all_moved from outcome`
  return told?.all_moved === true
}

const withoutDiagnosis = (receipts: readonly Id[]) => part`applied as (
    update receipts
    set diagnosis = null
    where id = any (${bare(receipts)}::uuid[])
      and (select all_moved from outcome)
  ),`

/** Receipts of before, oldest first. */
export async function purge(sql: Sql, hours: number, after: Timestamp | null, most: number): Promise<Step<Timestamp>> {
  const [step] = await sql<Step<Timestamp>>`
    with old as materialized (
      select id, received_at
      from receipts
      where received_at >= coalesce(${after}::timestamptz, '-infinity')
        and received_at < clock_timestamp() - make_interval(hours => ${hours})
      order by received_at
      limit ${most}
    ),
    gone as (
      delete from receipts r
      using old
      where r.id = old.id
    )
    select count(*)::integer as found, max(received_at) as last
    from old`
  return step ?? { found: 0, last: null }
}

/** References of providers, which are needed for as long as receipts may come. */
export async function purgeHandovers(
  sql: Sql,
  hours: number,
  after: Timestamp | null,
  most: number,
): Promise<Step<Timestamp>> {
  const [step] = await sql<Step<Timestamp>>`
    with old as materialized (
      select provider, ref, at
      from handovers
      where at >= coalesce(${after}::timestamptz, '-infinity')
        and at < clock_timestamp() - make_interval(hours => ${hours})
      order by at
      limit ${most}
    ),
    gone as (
      delete from handovers h
      using old
      where h.provider = old.provider
        and h.ref = old.ref
    )
    select count(*)::integer as found, max(at) as last
    from old`
  return step ?? { found: 0, last: null }
}
