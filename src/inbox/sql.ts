import type { Actor } from '../audit/actor.ts'
import { recorded } from '../audit/sql.ts'
import { type Channel, channelNames } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import { bare, bytes, type Part, part, type Sql } from '../db/connect.ts'
import { purgeById } from '../db/purge.ts'
import type { KeyType } from '../keys/key.ts'
import { LAST } from '../notifications/sql/bounds.ts'
import { rowsForInbox } from '../notifications/sql/captured.ts'

/** A message in the inbox. `sealed`: the content of a mail of Herald itself, or of a row of an earlier version; null: of a message. */
export type InboxRow = {
  id: Id
  channel: Channel
  service_id: Id | null
  key_type: KeyType | null
  sealed: Buffer | null
  seen: boolean
}

export type SealedMessage = { id: Id; channel: Channel; sealed: Buffer }

/** Whose messages: of a service and these types of keys; or, without a service, those that belong to none. */
export type Scope = { service_id: Id | null; key_types: readonly KeyType[] }

export type Filter = {
  channels: readonly Channel[]
  /** Digests of one recipient; null: all recipients. */
  digests: readonly Buffer[] | null
  /** Ids, both excluded; null: no bound. */
  after: Id | null
  before: Id | null
}

const FIRST = '00000000-0000-0000-0000-000000000000' as Id

export const ALL: Filter = { channels: channelNames, digests: null, after: null, before: null }

const columns = part`i.id, i.channel, i.service_id, i.key_type, i.sealed, i.seen_at is not null as seen`

/** Adds messages by their ids, each once; only those of keys of this type, if it is given. Returns the ids that were added. */
export const note = (sql: Sql, ids: readonly Id[], keyType: KeyType | null = null) => sql<{ id: Id }>`
  insert into inbox (id, channel, service_id, key_type, recipient_digest)
  ${rowsForInbox(ids, keyType)}
  on conflict do nothing
  returning id`

/** Stores mails that are not messages of a service. One that is captured twice is stored once. */
export const keep = (sql: Sql, mails: readonly SealedMessage[]) => sql`
  insert into inbox (id, channel, sealed)
  select id, channel, sealed
  from unnest(${mails.map(m => m.id)}::uuid[], ${mails.map(m => m.channel)}::text[], ${mails.map(m => m.sealed)}::bytea[])
       as m (id, channel, sealed)
  on conflict do nothing`

/** Of all services, newest first, at most `most` bytes of sealed contents together but at least one. */
export const page = (sql: Sql, olderThan: Id | null, size: number, most: number) => sql<InboxRow>`
  ${bounded(
    part`
    select ${columns}
    from inbox i
    where i.id < ${olderThan ?? LAST}::uuid
    order by i.id desc
    limit ${size}`,
    most,
  )}`

/** Newest first. Each combination of equal columns is one walk down an index. */
export const pageOf = (sql: Sql, scope: Scope, filter: Filter, size: number, most: number) => sql<InboxRow>`
  ${bounded(walks(scope, filter, size), most)}`

const bounded = (rows: Part, most: number): Part => part`
  select id, channel, service_id, key_type, sealed, seen
  from (select r.*,
               sum(coalesce(octet_length(r.sealed), 0)) over (order by r.id desc) - coalesce(octet_length(r.sealed), 0) as before
        from (${rows}) r) m
  where before < ${most}
  order by id desc`

function walks({ service_id, key_types }: Scope, { channels, digests, after, before }: Filter, size: number): Part {
  const between = part`i.id > ${after ?? FIRST}::uuid and i.id < ${before ?? LAST}::uuid`
  const newest = part`order by i.id desc limit ${size}`
  if (service_id === null)
    return part`
    select w.*
    from unnest(${channels}::text[]) as c (channel)
    cross join lateral (
      select ${columns}
      from inbox i
      where i.service_id is null and i.key_type is null and i.channel = c.channel and ${between}
      ${newest}
    ) w
    order by w.id desc
    limit ${size}`
  if (digests === null)
    return part`
    select w.*
    from unnest(${key_types}::text[]) as k (key_type)
    cross join unnest(${channels}::text[]) as c (channel)
    cross join lateral (
      select ${columns}
      from inbox i
      where i.service_id = ${service_id} and i.key_type = k.key_type and i.channel = c.channel and ${between}
      ${newest}
    ) w
    order by w.id desc
    limit ${size}`
  return part`
    select w.*
    from unnest(${key_types}::text[]) as k (key_type)
    cross join unnest(${bytes(digests)}::bytea[]) as d (digest)
    cross join lateral (
      select ${columns}
      from inbox i
      where i.recipient_digest is not null
        and ${digested} > (d.digest, k.key_type, ${after ?? FIRST}::uuid)
        and ${digested} < (d.digest, k.key_type, ${before ?? LAST}::uuid)
        and i.service_id = ${service_id}
        and i.channel = any (${channels}::text[])
      order by i.recipient_digest desc, i.key_type desc, i.id desc
      limit ${size}
    ) w
    order by w.id desc
    limit ${size}`
}

/**
 * The columns of the index, compared as a row: between equal digests and key types lie only ids. Written with equalities, the planner
 * expects to meet a match soon and walks all ids (test/explain-lists.test.ts).
 */
const digested = part`(i.recipient_digest, i.key_type, i.id)`

const owned = ({ service_id, key_types }: Scope): Part =>
  service_id === null
    ? part`i.service_id is null and i.key_type is null`
    : part`i.service_id = ${service_id} and i.key_type = any (${key_types}::text[])`

export async function find(sql: Sql, id: Id, scope: Scope | 'every-service'): Promise<InboxRow | null> {
  const [found] = await sql<InboxRow>`
    select ${columns}
    from inbox i
    where i.id = ${id}
      and ${scope === 'every-service' ? part`true` : owned(scope)}`
  return found ?? null
}

/** Which of these messages are in the inbox. */
export const among = (sql: Sql, ids: readonly Id[]) => sql<{ id: Id }>`
  select id
  from inbox
  where id = any (${bare(ids)}::uuid[])`

export const markSeen = (sql: Sql, scope: Scope, id: Id) => sql`
  update inbox i
  set seen_at = now()
  where i.id = ${id}
    and i.seen_at is null
    and ${owned(scope)}`

/** What a request waits for: a message after `after`, to one of the digests if there are any. */
export type Awaited = { scope: Scope; filter: Filter }

/** The places of those in the list that have a message now. */
export const arrived = (sql: Sql, awaited: readonly Awaited[]) => {
  const rows = awaited.flatMap(({ scope, filter }, place) =>
    scope.key_types.flatMap(key_type =>
      filter.channels.flatMap(channel =>
        (filter.digests ?? [null]).map(digest => ({
          ...{ place, service_id: scope.service_id, key_type, channel, digest, after: filter.after ?? FIRST },
        })),
      ),
    ),
  )
  return sql<{ place: number }>`
  select distinct w.place
  from unnest(${rows.map(r => r.place)}::integer[], ${rows.map(r => r.service_id)}::uuid[], ${rows.map(r => r.key_type)}::text[],
              ${rows.map(r => r.channel)}::text[], ${rows.map(r => r.after)}::uuid[], ${bytes(rows.map(r => r.digest))}::bytea[])
       as w (place, service_id, key_type, channel, after, digest)
  where case when w.digest is null
          -- Not exists, whose limit the planner ignores: it would read all that match into a bitmap.
          then (
            select true from inbox i
            where i.service_id = w.service_id and i.key_type = w.key_type and i.channel = w.channel and i.id > w.after
            order by i.id
            limit 1)
          else (
            select true from inbox i
            where i.recipient_digest is not null
              and ${digested} > (w.digest, w.key_type, w.after)
              and ${digested} < (w.digest, w.key_type, ${LAST}::uuid)
              and i.service_id = w.service_id and i.channel = w.channel
            order by i.recipient_digest, i.key_type, i.id
            limit 1)
        end`
}

/** Deletes a message from the inbox; the message itself stays. Returns whether there was one. */
export async function removeOne(sql: Sql, scope: Scope, id: Id, actor: Actor): Promise<boolean> {
  const gone = await sql`
    with gone as (
      delete from inbox i
      where i.id = ${id}
        and ${owned(scope)}
      returning i.service_id, i.id
    )${byPerson(actor, 'captured message deleted', part`gone`)}
    select id from gone`
  return gone.length > 0
}

/** Deletes up to `most` messages, newest first. Returns their ids. */
export const removeSome = (sql: Sql, scope: Scope, filter: Filter, most: number, actor: Actor) => sql<{ id: Id }>`
  with chosen as materialized (${walks(scope, filter, most)}),
  gone as (
    delete from inbox i
    using chosen
    where i.id = chosen.id
    returning i.service_id, i.id
  )${byPerson(actor, filter.digests ? 'captured message deleted' : 'inbox emptied', part`(select service_id, coalesce(service_id, id) as id from gone limit 1)`)}
  select id from gone`

/** Deletes these messages. Returns the ids of those that were there. */
export const removeThese = (sql: Sql, scope: Scope, ids: readonly Id[], actor: Actor) => sql<{ id: Id }>`
  with gone as (
    delete from inbox i
    where i.id = any (${bare(ids)}::uuid[])
      and ${owned(scope)}
    returning i.service_id, i.id
  )${byPerson(actor, 'captured message deleted', part`(select service_id, coalesce(service_id, id) as id from gone limit 1)`)}
  select id from gone`

// Tests that call the API delete what they have read, many times an hour. It is a copy of what nobody got: only what people delete is
// recorded.
const byPerson = (actor: Actor, action: 'captured message deleted' | 'inbox emptied', done: Part): Part =>
  actor.kind === 'key' ? part`` : part`, ${recorded(action, actor, done)}`

/** Deletes up to `most` messages older than `before`, oldest first. */
export const purge = (sql: Sql, before: Id, after: Id | null, most: number) =>
  purgeById(sql, part`inbox`, before, after, most)
