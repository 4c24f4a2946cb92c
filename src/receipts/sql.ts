import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../db/connect.ts'
import { purgeAged } from '../db/purge.ts'
import { messageOfRef } from '../notifications/sql/handovers.ts'
import type { Receipt } from '../providers/port.ts'
import { type InitialLease, ticketsFor } from '../queue/tickets.ts'

/** A receipt to store; its diagnosis is sealed. */
export type NewReceipt = Omit<Receipt, 'diagnosis'> & { id: Id; provider: string; diagnosis: Buffer | null }

/** Of a receipt r: its time in milliseconds, and its message, by the provider's reference or by our own id. */
const timeOf = part`(extract(epoch from coalesce(r.at, r.received_at)) * 1000)::float8`
const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'
const messageOf = part`coalesce(${messageOfRef(part`r.provider`, part`r.ref`)},
  case when r.ref ~ ${UUID} then r.ref::uuid end)`

export const RECEIPT_LANE = 'receipt'

/** The service of tickets of receipts, which belong to none. */
export const NOBODY = '00000000-0000-0000-0000-000000000000' as Id

/** A stored receipt: its time, its message if known, and whether that has older receipts. */
export type InsertedReceipt = Pick<StoredReceipt, 'id' | 'at' | 'notification'> & { has_older: boolean }

/** Stores receipts with their ticket. Returns the new ones; duplicates are ignored. */
export const accept = (sql: Sql, receipts: readonly NewReceipt[], initialLease: InitialLease) => sql<InsertedReceipt>`
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
    select null::uuid as ticket, ${RECEIPT_LANE}::text as lane, ${NOBODY}::uuid as service_id, id, now() as due_at
    from fresh
  ),
  ticketed as (${ticketsFor(initialLease)})
  select r.id, ${timeOf} as at, ${messageOf} as notification,
         -- Not "exists", which the planner would turn into a hash table of all receipts.
         (select true from receipts o where o.provider = r.provider and o.ref = r.ref limit 1) is true as has_older
  from fresh r
  order by r.id`

export type StoredReceipt = {
  id: Id
  /** The receipt that is to be applied: this one, or a later one of the same message. */
  asked: Id
  provider: string
  result: Receipt['result']
  detail: string | null
  response: string | null
  /** Sealed; deleted once the receipt is applied. */
  diagnosis: Buffer | null
  /** The provider's time in milliseconds, or when we received it if the provider gives none. */
  at: number
  age_seconds: number
  /** Its message; null while the reference is unknown. */
  notification: Id | null
}

/**
 * Loads receipts, each after the older ones of the same reference, which may not be applied yet. A webhook names a message by the
 * provider's reference, a bounced e-mail by our id.
 */
export const load = (sql: Sql, ids: readonly Id[]) => sql<StoredReceipt>`
  select r.id, a.id as asked, r.provider, r.result, r.detail, r.response, r.diagnosis, ${timeOf} as at,
         extract(epoch from clock_timestamp() - r.received_at)::float8 as age_seconds, ${messageOf} as notification
  from receipts a
  join receipts r on r.provider = a.provider and r.ref = a.ref and r.id <= a.id
  where a.id = any (${bare(ids)}::uuid[])
  order by r.id`

/** A CTE for `move` that deletes the diagnosis of receipts, which is now stored with the message; null without receipts. */
export const withoutDiagnosis = (receipts: readonly Id[]): Part | null =>
  receipts.length === 0
    ? null
    : part`applied as (
    update receipts
    set diagnosis = null
    where id = any (${bare(receipts)}::uuid[])
      and (select all_moved from outcome)
  )`

export const purge = (sql: Sql, hours: number, after: Timestamp | null, most: number) =>
  purgeAged(sql, RECEIPTS, part`clock_timestamp() - make_interval(hours => ${hours})`, after, most)

const RECEIPTS = { table: part`receipts`, time: part`received_at`, key: part`id`, match: part`t.id = old.id` }
