// The lane of messages whose files had no scan result when they were accepted.
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { marked } from '../../events/sql.ts'
import { judged } from '../../files/sql.ts'
import { type Again, settleTail, stillLeased, ticketsFor } from '../../queue/tickets.ts'
import { unpruned } from './bounds.ts'
import { moved } from './moved.ts'

/** Those of these messages that still wait for the scanner, with the lane they will go to. */
export const waitingForScan = (sql: Sql, ids: readonly Id[]) => sql<{ id: Id; lane: string }>`
  select m.id, n.lane
  from unnest(${ids}::uuid[]) as m (id)
  cross join lateral (select status from states where id = m.id limit 1) s
  cross join lateral (select lane from notifications where id = m.id limit 1) n
  where s.status = 'pending-virus-check'
  order by m.id`

export type Verdicts = {
  /** The message. */
  id: Id
  ticket: Id
  /** Null: not all files have a verdict yet. */
  status: 'created' | 'virus-scan-failed' | 'technical-failure' | null
  response: string | null
  /** Seconds until the next scan, while there is no verdict. */
  delay: number | null
  clean: readonly Id[]
  virus: readonly Id[]
}

/** The class of a scan without a result, for the log. */
const NO_VERDICT = 'no scan result'

/**
 * Records verdicts. A clean message gets the ticket it would have had at acceptance without files. Results of tickets that are no
 * longer ours are ignored, and a message that was cancelled meanwhile stays cancelled.
 */
export const recordVerdicts = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  results: readonly Verdicts[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql<{ lane: string }>`
  with leased as materialized (${stillLeased(owner, leased)} for update of t),
  results as materialized (
    select r.*
    from unnest(${results.map(r => r.id)}::uuid[], ${results.map(r => r.ticket)}::uuid[], ${results.map(r => r.status)}::text[],
                ${results.map(r => r.response)}::text[], ${results.map(r => r.delay)}::real[])
         as r (id, ticket, status, response, delay)
    join leased on leased.id = r.ticket
  ),
  ${moved(
    part`
    update states s
    set status = coalesce(r.status, s.status),
        completed_at = case when r.status <> 'created' then clock_timestamp() end,
        provider_response = r.response,
        was = s.status,
        moves = case when r.status is not null then s.moves || r.status else s.moves end,
        ${marked}
    from results r
    where s.id = any (${results.map(r => r.id)}::uuid[])
      and ${unpruned(part`s.id = r.id`)}
      and s.status = 'pending-virus-check'`,
    {
      cause: 'scan',
      returning: part`, r.response, r.delay`,
      response: part`response`,
      detail: part`case when was = status then ${NO_VERDICT}::text end`,
      unmoved: { when: part`true`, type: part`'notification.deferred'`, delay: part`delay` },
    },
  )},
  ${judged(
    part`(select id from results)`,
    results.flatMap(r => r.clean),
    results.flatMap(r => r.virus),
  )},
  due as (
    select n.id as ticket, n.lane, n.service_id, n.id, coalesce(n.scheduled_for, now()) as due_at
    from moved m
    cross join lateral (select * from notifications where id = m.id limit 1) n
    where m.status = 'created'
  ),
  ticketed as (${ticketsFor(null)}),
  ${settleTail(settled, again)}
  select lane from due`
