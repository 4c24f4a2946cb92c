import type { Id } from '../core/id.ts'
import { part, type Sql } from '../db/connect.ts'
import { highest, jobCounts, lowest, unpruned } from '../notifications/sql.ts'
import type { Status } from '../notifications/status.ts'
import type { Receipt } from '../providers/port.ts'
import { type Again, type Birth, settleTail, stillHeld, ticketsFor } from '../queue/tickets.ts'
import type { Channel } from '../services/service.ts'

export type NewReceipt = Receipt & { id: Id; provider: string }

const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Stores receipts with their ticket. News that is known already changes nothing. */
export const accept = (sql: Sql, receipts: readonly NewReceipt[], birth: Birth) => sql<{ id: Id }>`
  with fresh as (
    insert into receipts (id, provider, event_id, ref, at, result, detail, response)
    select id, provider, event_id, ref, to_timestamp(at / 1000.0), result, detail, response
    from unnest(${receipts.map(r => r.id)}::uuid[], ${receipts.map(r => r.provider)}::text[],
                ${receipts.map(r => r.eventId)}::text[], ${receipts.map(r => r.ref)}::text[],
                ${receipts.map(r => r.at)}::float8[], ${receipts.map(r => r.result)}::text[],
                ${receipts.map(r => r.detail)}::text[], ${receipts.map(r => r.response)}::text[])
         as r (id, provider, event_id, ref, at, result, detail, response)
    on conflict (provider, event_id) do nothing
    returning id
  ),
  due as (
    select null::uuid as ticket, 'receipt' as lane, ${NOBODY}::uuid as service_id, id, now() as due_at
    from fresh
  ),
  ticketed as (${ticketsFor(birth)})
  select id from fresh order by id`

export type StoredReceipt = {
  id: Id
  /** The receipt that was asked for: itself, or a later one of the same message. */
  asked: Id
  provider: string
  result: Receipt['result']
  detail: string | null
  response: string | null
  /** The provider's time, or when it reached us where it gives none; milliseconds. */
  at: number
  age_seconds: number
  /** The message it speaks of; null while its reference is not known. */
  notification: Id | null
}

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'

/**
 * A provider that reports calls a message by its own name; one that bounces mail calls it by ours. Each receipt comes after the
 * older ones of its message, which may still be waiting for the message to be known.
 */
export const load = (sql: Sql, ids: readonly Id[]) => sql<StoredReceipt>`
  select r.id, a.id as asked, r.provider, r.result, r.detail, r.response,
         (extract(epoch from coalesce(r.at, r.received_at)) * 1000)::float8 as at,
         extract(epoch from clock_timestamp() - r.received_at)::float8 as age_seconds,
         coalesce(h.id, case when r.ref ~ ${UUID} then r.ref::uuid end) as notification
  from receipts a
  join receipts r on r.provider = a.provider and r.ref = a.ref and r.id <= a.id
  left join handovers h on h.provider = r.provider and h.ref = r.ref
  where a.id = any (${ids}::uuid[])
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

/** The states of messages, held until the end of the transaction, always in the same order; the bounds name their days. */
export const hold = (sql: Sql, ids: readonly Id[]) => sql<StateRow>`
  select id, channel, status, provider, (extract(epoch from receipt_at) * 1000)::float8 as receipt_at, provider_response, failure_detail
  from states
  where id = any (${ids}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}
  order by id
  for update`

export type Move = {
  id: Id
  status: Status
  at: number | null
  isFinal: boolean
  response: string | null
  detail: string | null
  moves: string[]
}

/** Writes where news has moved messages, and settles the tickets of the news. Alike moves are one row, as in `record`. */
export const move = (
  sql: Sql,
  owner: Id,
  held: readonly { id: Id; takes: number }[],
  moves: readonly Move[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql`
  with held as materialized (${stillHeld(owner, held)} for update of t),
  alike as materialized (
    select status, is_final, response, detail, moves, array_agg(id) as ids, array_agg(at) as times
    from unnest(${moves.map(m => m.id)}::uuid[], ${moves.map(m => m.status)}::text[], ${moves.map(m => m.at)}::float8[],
                ${moves.map(m => m.isFinal)}::boolean[], ${moves.map(m => m.response)}::text[],
                ${moves.map(m => m.detail)}::text[], ${moves.map(m => m.moves.join(','))}::text[])
         as m (id, status, at, is_final, response, detail, moves)
    group by status, is_final, response, detail, moves
  ),
  moved as (
    update states s
    set status = m.status,
        completed_at = case when m.is_final then coalesce(s.completed_at, clock_timestamp()) end,
        receipt_at = to_timestamp(m.times[array_position(m.ids, s.id)] / 1000.0),
        provider_response = m.response,
        failure_detail = m.detail,
        was = s.status,
        moves = s.moves || string_to_array(m.moves, ',')
    from alike m
    where s.id = any (${moves.map(m => m.id)}::uuid[])
      and s.id between ${lowest(moves.map(m => m.id))} and ${highest(moves.map(m => m.id))}
      and ${unpruned(part`s.id = any (m.ids)`)}
    returning s.job_id, s.was, s.status
  ),
  ${jobCounts},
  ${settleTail(settled, again)}
  select 1 as one`

export const forgetOld = (sql: Sql, hours: number) => sql`
  with receipts_gone as (
    delete from receipts where received_at < clock_timestamp() - make_interval(hours => ${hours})
  )
  delete from handovers where at < clock_timestamp() - make_interval(hours => ${hours})`
