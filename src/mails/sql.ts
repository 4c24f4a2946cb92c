import type { Id } from '../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../db/connect.ts'
import { handedOver } from '../notifications/sql/handovers.ts'
import { type Again, settleTail, stillLeased, ticketsOf } from '../queue/tickets.ts'
import { MAIL_LANE } from './mail.ts'

/** A mail to store: whose matter it is, and the sealed mail. */
export type QueuedMail = { id: Id; service_id: Id; sealed: Buffer }

/**
 * CTEs that queue mails in the commit of another statement, so that neither happens without the other. `condition` may name CTEs
 * of that statement: `exists (select from disabled)`. Afterwards the caller wakes MAIL_LANE, unless they are sent later.
 */
export const mailsQueued = (mails: readonly QueuedMail[], condition: Part = part`true`, delaySeconds = 0): Part => part`
  mails_queued as (
    insert into mails (id, sealed)
    select m.id, m.sealed
    from unnest(${bare(mails.map(m => m.id))}::uuid[], ${bytes(mails.map(m => m.sealed))}::bytea[]) as m (id, sealed)
    where ${condition}
    returning id
  ),
  mail_tickets as (${ticketsOf(
    MAIL_LANE,
    part`select q.id, m.service_id
    from mails_queued q
    join unnest(${bare(mails.map(m => m.id))}::uuid[], ${bare(mails.map(m => m.service_id))}::uuid[]) as m (id, service_id)
      on m.id = q.id`,
    delaySeconds,
  )})`

export const queue = (sql: Sql, mails: readonly QueuedMail[]) => sql`
  with ${mailsQueued(mails)}
  select from mails_queued`

export type StoredMail = { id: Id; sealed: Buffer }

export const load = (sql: Sql, ids: readonly Id[]) => sql<StoredMail>`
  select id, sealed
  from mails
  where id = any (${bare(ids)}::uuid[])`

/** A mail that has ended: handed over under a provider's reference, or given up. */
export type Ended = { id: Id; ticket: Id; provider: string | null; ref: string | null }

/**
 * Deletes mails that have ended, settles tickets and inserts those of retries. The references of providers are stored like those of
 * messages, so that a receipt for a mail is recognised, and changes nothing.
 */
export const record = (
  sql: Sql,
  owner: Id,
  leased: readonly { id: Id; takes: number }[],
  ended: readonly Ended[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql`
  with leased as (${stillLeased(owner, leased)}),
  ended as (
    select e.id, e.provider, e.ref
    from unnest(${bare(ended.map(e => e.id))}::uuid[], ${bare(ended.map(e => e.ticket))}::uuid[],
                ${bare(ended.map(e => e.provider))}::text[], ${ended.map(e => e.ref)}::text[]) as e (id, ticket, provider, ref)
    join leased on leased.id = e.ticket
  ),
  gone as (
    delete from mails m
    using ended
    where m.id = ended.id
  ),
  ${handedOver(part`select provider, ref, id from ended where ref is not null`)},
  ${settleTail(settled, again)}
  select`
