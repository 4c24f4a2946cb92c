import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../../db/connect.ts'
import { marked } from '../../events/sql.ts'
import type { KeyType } from '../../keys/key.ts'
import { type Again, settleTail, stillLeased, takenBefore } from '../../queue/tickets.ts'
import type { Status } from '../status.ts'
import { highest, lowest, unpruned } from './bounds.ts'
import { handedOver } from './handovers.ts'
import { moved } from './moved.ts'

export type Due = {
  id: Id
  service_id: Id
  channel: Channel
  key_type: KeyType
  template_id: Id
  template_version: number
  sender_id: Id | null
  is_international: boolean
  sealed: Buffer
}

/**
 * Those of these messages that are still to be sent. Two index scans instead of a join, which would probe the second index for
 * every message: 2.5 instead of 20 µs each.
 */
export const due = (sql: Sql, ids: readonly Id[]) => sql<Due>`
  select n.id, n.service_id, n.channel, n.key_type, n.template_id, n.template_version, n.sender_id,
         n.is_international, n.sealed
  from notifications n
  where n.id = any (array(
      select s.id
      from states s
      where s.id = any (${bare(ids)}::uuid[])
        and s.id between ${lowest(ids)} and ${highest(ids)}
        and s.status = 'created'))
    and n.id between ${lowest(ids)} and ${highest(ids)}`

/** A process ended while it had these tickets: what it had begun to hand over may have been sent without a record. */
export const markUncertain = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  ids: readonly Id[],
) => sql`
  with ${takenBefore(owner, leased, ids)},
  ${moved(
    part`
    update states s
    set uncertain = true,
        attempts = s.attempts + 1,
        was = s.status,
        ${marked}
    where s.id = any (array(select id from begun))
      and s.id between ${lowest(ids)} and ${highest(ids)}
      and s.status = 'created'`,
    { cause: 'crash', unmoved: { when: part`true`, type: part`'notification.uncertain'`, delay: part`null` } },
  )}
  select id from moved`

/** Whether one of these messages was tried before, or may have been sent. */
export const wasTried = (ids: Part): Part =>
  part`exists (select from states s where s.id = any (${ids}) and (s.attempts > 0 or s.uncertain))`

/** Marks a message just before it is sent; the outcome replaces the mark. Only for suspects, because it costs a statement each. */
const HANDING_OVER = 'handing over'
export const markHandingOver = (sql: Sql, id: Id) => sql`
  update states
  set failure_detail = ${HANDING_OVER}
  where id = ${id}
    and status = 'created'`

/** Those of these messages that the last owner had begun to send. */
export const handingOver = (sql: Sql, ids: readonly Id[]) => sql<{ id: Id }>`
  select id
  from states
  where id = any (${ids}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}
    and failure_detail = ${HANDING_OVER}`

export type Result = {
  id: Id
  ticket: Id
  takes: number
  /** Null: it was not sent this time. */
  status: Extract<
    Status,
    'sending' | 'sent' | 'delivered' | 'permanent-failure' | 'temporary-failure' | 'technical-failure'
  > | null
  /** All statuses on the way, for the history. */
  moves: readonly string[]
  provider: string | null
  /** The provider's reference, if it sends receipts. */
  ref: string | null
  response: string | null
  /** Our classification, and the sealed reply of the provider: of a permanent failure, or of an attempt that is repeated. */
  detail: string | null
  diagnosis: Buffer | null
  uncertain: boolean
  /** Milliseconds of the hand-over; null: it was not handed over. */
  took: number | null
  /** Of a text message that a provider was given. */
  parts: number | null
  /** Seconds until the next attempt; null: there is none. */
  delay: number | null
}

/**
 * Records results and settles tickets in one statement. Results of tickets that are no longer ours are ignored (fencing). A message
 * whose receipt was applied first keeps the status of the receipt. Equal results are grouped into one row, because the unpruned
 * join compares every message with every row; the figures of each message stay in arrays, in the order of ids.
 */
export const record = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  given: readonly Result[],
  settled: readonly Id[],
  again: readonly Again[],
) => {
  const results = [...given].sort((a, b) => (a.id < b.id ? -1 : 1))
  const ids = bare(results.map(r => r.id))
  return sql`
  with leased as materialized (${stillLeased(owner, leased)} order by t.id for update of t),
  results as (
    select r.*
    from unnest(${ids}::uuid[], ${bare(results.map(r => r.ticket))}::uuid[],
                ${bare(results.map(r => r.status))}::text[], ${bare(results.map(r => r.moves.join('/')))}::text[],
                ${bare(results.map(r => r.provider))}::text[], ${results.map(r => r.ref)}::text[],
                ${results.map(r => r.response)}::text[], ${bare(results.map(r => r.detail))}::text[],
                ${bytes(results.map(r => r.diagnosis))}::bytea[], ${bare(results.map(r => r.uncertain))}::boolean[])
         as r (id, ticket, status, moves, provider, ref, response, detail, diagnosis, uncertain)
    join leased on leased.id = r.ticket
  ),
  alike as materialized (
    select status, moves, provider, response, detail, diagnosis, uncertain, array_agg(id) as ids
    from results
    group by status, moves, provider, response, detail, diagnosis, uncertain
  ),
  ${moved(
    part`
    update states s
    set status = case when s.status = 'created' then coalesce(r.status, s.status) else s.status end,
        sent_at = case when ${isHanded}
                       then coalesce(s.sent_at, least(clock_timestamp(), s.completed_at)) else s.sent_at end,
        parts = case when ${isHanded} then coalesce(s.parts, ${figureOf(
          ids,
          results.map(r => r.parts),
        )}::smallint) else s.parts end,
        completed_at = case when s.status = 'created' and r.status is not null and r.status <> 'sending'
                            then clock_timestamp() else s.completed_at end,
        provider = coalesce(r.provider, s.provider),
        provider_response = case when s.status = 'created' then r.response else s.provider_response end,
        failure_detail = case when s.status <> 'created' then s.failure_detail when r.status is not null then r.detail end,
        diagnosis = case when s.status <> 'created' then s.diagnosis when r.status is not null then r.diagnosis end,
        attempts = s.attempts + 1,
        uncertain = s.uncertain or r.uncertain,
        was = s.status,
        moves = case when s.status = 'created' and r.status is not null then s.moves || string_to_array(r.moves, '/') else s.moves end,
        ${marked}
    from alike r
    where s.id = any (${ids}::uuid[])
      and s.id between ${lowest(results.map(r => r.id))} and ${highest(results.map(r => r.id))}
      and ${unpruned(part`s.id = any (r.ids)`)}`,
    {
      cause: 'attempt',
      returning: part`, r.provider as tried, r.response, r.detail, r.diagnosis, r.uncertain as unsure, r.status is null as open,
                        ${isHanded} as handed`,
      gained: part`was = status and status <> 'created' and handed and parts is not null`,
      provider: part`tried`,
      response: part`response`,
      detail: part`detail`,
      sealed: part`diagnosis`,
      took: figureOf(
        ids,
        results.map(r => r.took),
      ),
      unmoved: {
        when: part`status = 'created' and open`,
        type: part`case when unsure then 'notification.uncertain' else 'notification.deferred' end`,
        delay: figureOf(
          ids,
          results.map(r => r.delay),
        ),
      },
    },
  )},
  ${handedOver(part`select provider, ref, id from results where ref is not null`)},
  ${settleTail(settled, again)}
  select (select count(*) from moved)::integer as moved`
}

/** It was given to a provider. */
const isHanded = part`r.status in ('sending', 'sent', 'delivered', 'permanent-failure', 'temporary-failure')`

/**
 * The figure of the message `id`: they are in the order of the sorted ids, so that it is found by binary search. Without any figure
 * both lists are empty, because each is parsed.
 */
function figureOf(ids: string, figures: readonly (number | null)[]): Part {
  const hasAny = figures.some(one => one !== null)
  return part`(${hasAny ? bare(figures) : '{}'}::real[])[width_bucket(id, ${hasAny ? ids : '{}'}::uuid[])]`
}
