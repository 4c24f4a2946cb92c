// Receipts are applied with optimistic concurrency: read the statuses, decide, and update only what has not changed meanwhile.

import type { Channel } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'
import { type Again, settleTail, stillLeased } from '../../queue/tickets.ts'
import type { Status } from '../status.ts'
import { highest, lowest, unpruned } from './bounds.ts'
import { moved } from './moved.ts'

/** Of a state s: the provider's time of the receipt that set the status. The same expression reads and compares it: no rounding. */
const receiptTime = part`(extract(epoch from s.receipt_at) * 1000)::float8`

export type StateRow = {
  id: Id
  channel: Channel
  status: Status
  provider: string | null
  receipt_at: number | null
  provider_response: string | null
  failure_detail: string | null
}

/** The current states of messages. */
export const currentStates = (sql: Sql, ids: readonly Id[]) => sql<StateRow>`
  select id, channel, status, provider, ${receiptTime} as receipt_at, provider_response, failure_detail
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
  response: string | null
  detail: string | null
  diagnosis: Buffer | null
  moves: string[]
}

/**
 * Writes the statuses of messages after their receipts, and settles the tickets of the receipts. A message that has changed since it
 * was read is left alone; then no ticket is settled, and the result is false. Equal moves are grouped into one row, as in `record`.
 */
export async function move(
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  moves: readonly Move[],
  settled: readonly Id[],
  again: readonly Again[],
  /** A further CTE, which may depend on `outcome` (all_moved). */
  also: Part | null = null,
): Promise<boolean> {
  const [row] = await sql<{ all_moved: boolean }>`
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
  ${moved(part`
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
      and ${receiptTime} is not distinct from m.were[array_position(m.ids, s.id)]`)},
  outcome as materialized (select count(*) = ${moves.length}::integer as all_moved from moved),
  leased as materialized (${stillLeased(owner, leased)} and (select all_moved from outcome) for update of t),
  ${also ? part`${also},` : part``}
  ${settleTail(settled, again)}
  select all_moved from outcome`
  return row?.all_moved === true
}
