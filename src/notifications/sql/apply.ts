// Receipts are applied with optimistic concurrency: read the statuses, decide, and update only what has not changed meanwhile.

import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'
import { logged, marked } from '../../events/sql.ts'
import type { KeyType } from '../../keys/key.ts'
import { type Again, settleTail, stillLeased } from '../../queue/tickets.ts'
import type { Status } from '../status.ts'
import { highest, lowest, unpruned } from './bounds.ts'
import { moved } from './moved.ts'

/** Of a state s: the provider's time of the receipt that set the status. The same expression reads and compares it: no rounding. */
const receiptTime = part`(extract(epoch from s.receipt_at) * 1000)::float8`

export type StateRow = {
  id: Id
  service_id: Id
  key_type: KeyType
  channel: Channel
  status: Status
  provider: string | null
  receipt_at: number | null
  provider_response: string | null
  failure_detail: string | null
}

/** The current states of messages. */
export const currentStates = (sql: Sql, ids: readonly Id[]) => sql<StateRow>`
  select id, service_id, key_type, channel, status, provider, ${receiptTime} as receipt_at, provider_response, failure_detail
  from states s
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`

export type Move = {
  id: Id
  /** The state that was read. */
  from: Pick<StateRow, 'status' | 'receipt_at'>
  status: Status
  at: number | null
  isFinal: boolean
  /** False: the receipts change nothing but the log. */
  changes: boolean
  /** Of the receipt that decides: who sent it, and its time. */
  provider: string | null
  decidedAt: number | null
  response: string | null
  detail: string | null
  diagnosis: Buffer | null
  moves: string[]
}

/** A receipt that does not decide the status of its message: it came late, again, or together with one that decides. */
export type Note = Pick<StateRow, 'service_id' | 'key_type' | 'channel'> & {
  id: Id
  /** The ticket of the receipt. */
  ticket: Id
  provider: string
  result: string
  at: number
  diagnosis: Buffer | null
}

/**
 * Writes the statuses of messages after their receipts, and settles the tickets of the receipts. A message that has changed since it
 * was read is left alone; then no ticket is settled and nothing is noted. Returns the messages that were written. Equal moves are
 * grouped into one row, as in `record`.
 */
export async function move(
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  given: readonly Move[],
  notes: readonly Note[],
  settled: readonly Id[],
  again: readonly Again[],
  /** A further CTE, which may depend on `outcome` (all_moved). */
  also: Part | null = null,
): Promise<{ allMoved: boolean; moved: Id[] }> {
  const moves = [...given].sort((a, b) => (a.id < b.id ? -1 : 1))
  const ids = bare(moves.map(m => m.id))
  const [row] = await sql<{ all_moved: boolean; moved: Id[] | null }>`
  with alike as materialized (
    select was, status, is_final, changes, provider, response, detail, diagnosis, moves, array_agg(id) as ids,
           array_agg(was_at) as were, array_agg(at) as times
    from unnest(${ids}::uuid[], ${bare(moves.map(m => m.from.status))}::text[],
                ${bare(moves.map(m => m.from.receipt_at))}::float8[], ${bare(moves.map(m => m.status))}::text[],
                ${bare(moves.map(m => m.at))}::float8[], ${bare(moves.map(m => m.isFinal))}::boolean[],
                ${bare(moves.map(m => m.changes))}::boolean[], ${bare(moves.map(m => m.provider))}::text[],
                ${moves.map(m => m.response)}::text[], ${moves.map(m => m.detail)}::text[],
                ${bytes(moves.map(m => m.diagnosis))}::bytea[], ${bare(moves.map(m => m.moves.join('/')))}::text[])
         as m (id, was, was_at, status, at, is_final, changes, provider, response, detail, diagnosis, moves)
    group by was, status, is_final, changes, provider, response, detail, diagnosis, moves
  ),
  ${moved(
    part`
    update states s
    set status = m.status,
        completed_at = case when m.is_final then coalesce(s.completed_at, clock_timestamp()) end,
        receipt_at = case when m.changes then to_timestamp(m.times[array_position(m.ids, s.id)] / 1000.0) else s.receipt_at end,
        provider_response = case when m.changes then m.response else s.provider_response end,
        failure_detail = case when m.changes then m.detail else s.failure_detail end,
        diagnosis = case when m.changes then m.diagnosis else s.diagnosis end,
        was = s.status,
        moves = s.moves || string_to_array(m.moves, '/'),
        ${marked}
    from alike m
    where s.id = any (${ids}::uuid[])
      and s.id between ${lowest(moves.map(m => m.id))} and ${highest(moves.map(m => m.id))}
      and ${unpruned(part`s.id = any (m.ids)`)}
      and s.status = m.was
      and ${receiptTime} is not distinct from m.were[array_position(m.ids, s.id)]`,
    {
      cause: 'receipt',
      returning: part`, m.provider as reporter, m.response, m.detail, m.diagnosis`,
      provider: part`reporter`,
      response: part`response`,
      detail: part`detail`,
      sealed: part`diagnosis`,
      time: part`to_timestamp((${bare(moves.map(m => m.decidedAt))}::float8[])[width_bucket(id, ${ids}::uuid[])] / 1000.0)`,
    },
  )},
  outcome as materialized (select count(*) = ${moves.length}::integer as all_moved from moved),
  leased as materialized (${stillLeased(owner, leased)} and (select all_moved from outcome) for update of t),
  ${logged(
    part`noted`,
    'receipt',
    part`
      select n.id, n.service_id, n.key_type, n.channel, 'notification.receipt', n.provider, null::text, n.result, false,
             null::integer, null::real, to_timestamp(n.at / 1000.0), n.diagnosis
      from unnest(${bare(notes.map(n => n.id))}::uuid[], ${bare(notes.map(n => n.ticket))}::uuid[],
                  ${bare(notes.map(n => n.service_id))}::uuid[], ${bare(notes.map(n => n.key_type))}::text[],
                  ${bare(notes.map(n => n.channel))}::text[], ${bare(notes.map(n => n.provider))}::text[],
                  ${bare(notes.map(n => n.result))}::text[], ${bare(notes.map(n => n.at))}::float8[],
                  ${bytes(notes.map(n => n.diagnosis))}::bytea[])
           as n (id, ticket, service_id, key_type, channel, provider, result, at, diagnosis)
      join leased on leased.id = n.ticket`,
  )},
  ${also ? part`${also},` : part``}
  ${settleTail(settled, again)}
  select all_moved, case when not all_moved then array(select id from moved) end as moved
  from outcome`
  return { allMoved: row?.all_moved === true, moved: row?.moved ?? moves.map(m => m.id) }
}
