import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { part, type Sql } from '../db/connect.ts'
import { type Again, settleTail } from '../queue/tickets.ts'

export type FileRow = {
  id: Id
  notification_id: Id
  service_id: Id
  position: number
  method: 'attach' | 'link'
  verdict: 'pending' | 'clean' | 'virus'
  media_type: string
  bytes: number
  sealed_name: Buffer
  content: Id
  pieces: number
  content_key: Buffer
  scan_key: Buffer | null
  token_digest: Buffer | null
  emptied: boolean
}

type Fresh = Omit<FileRow, 'emptied'>

export const add = (sql: Sql, files: readonly Fresh[]) => sql`
  insert into files (id, notification_id, service_id, position, method, verdict, media_type, bytes, sealed_name, content,
                     pieces, content_key, scan_key, token_digest)
  select *
  from unnest(${files.map(f => f.id)}::uuid[], ${files.map(f => f.notification_id)}::uuid[],
              ${files.map(f => f.service_id)}::uuid[], ${files.map(f => f.position)}::smallint[],
              ${files.map(f => f.method)}::text[], ${files.map(f => f.verdict)}::text[],
              ${files.map(f => f.media_type)}::text[], ${files.map(f => f.bytes)}::integer[],
              ${files.map(f => f.sealed_name)}::bytea[], ${files.map(f => f.content)}::uuid[],
              ${files.map(f => f.pieces)}::smallint[], ${files.map(f => f.content_key)}::bytea[],
              ${files.map(f => f.scan_key)}::bytea[], ${files.map(f => f.token_digest)}::bytea[])`

/** A message that was not accepted after all leaves nothing. */
export const dropOf = (sql: Sql, message: Id) => sql`delete from files where notification_id = ${message}`

const all = part`id, notification_id, service_id, position, method, verdict, media_type, bytes, sealed_name, content, pieces,
  content_key, scan_key, token_digest, emptied`

export const filesOfMessage = (sql: Sql, message: Id) => sql<FileRow>`
  select ${all}
  from files
  where notification_id = ${message}
  order by position`

/** Not of a message that was cancelled, also before its content is gone. */
export async function findByToken(sql: Sql, digest: Buffer): Promise<FileRow | null> {
  const [found] = await sql<FileRow>`
    select ${all}
    from files f
    where token_digest = ${digest}
      and not exists (select from states s where s.id = f.notification_id and s.status = 'cancelled')`
  return found ?? null
}

// ——— pieces, where PostgreSQL is the store ———

export const addPiece = (sql: Sql, content: Id, n: number, sealed: Buffer) => sql`
  insert into file_pieces (content, n, sealed)
  values (${content}, ${n}, ${sealed})`

export async function piece(sql: Sql, content: Id, n: number): Promise<Buffer | null> {
  const [found] = await sql<{ sealed: Buffer }>`
    select sealed
    from file_pieces
    where content = ${content}
      and n = ${n}`
  return found?.sealed ?? null
}

export const dropPieces = (sql: Sql, contents: readonly Id[]) => sql`
  delete from file_pieces
  where content = any (${contents})`

// ——— uploads, where the store is outside the database ———

export const beginUploads = (sql: Sql, kept: readonly { content: Id; pieces: number }[]) => sql`
  insert into uploads (content, pieces)
  select content, pieces
  from unnest(${kept.map(k => k.content)}::uuid[], ${kept.map(k => k.pieces)}::smallint[]) as k (content, pieces)`

/** How many of them were there. */
export async function endUploads(sql: Sql, contents: readonly Id[]): Promise<number> {
  const rows = await sql`
    delete from uploads
    where content = any (${contents}::uuid[])
    returning content`
  return rows.length
}

/** Uploads that no message came of, for as long that none will. */
export const orphans = (sql: Sql, after: Id | null, most: number) => sql<{ content: Id; pieces: number }>`
  select content, pieces
  from uploads
  where content > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    and begun_at < clock_timestamp() - interval '1 hour'
  order by content
  limit ${most}`

// ——— the scanner's lane ———

/** Files of messages that still wait for the scanner; the lane is the one their messages will go to. */
export type Waiting = FileRow & { lane: string }

export const waiting = (sql: Sql, messages: readonly Id[]) => sql<Waiting>`
  select ${part`f.id, f.notification_id, f.service_id, f.position, f.method, f.verdict, f.media_type, f.bytes, f.sealed_name,
         f.content, f.pieces, f.content_key, f.scan_key, f.token_digest, f.emptied`}, n.lane
  from unnest(${messages}::uuid[]) as m (id)
  cross join lateral (select status from states where id = m.id limit 1) s
  cross join lateral (select lane from notifications where id = m.id limit 1) n
  join files f on f.notification_id = m.id
  where s.status = 'pending-virus-check'
  order by f.notification_id, f.position`

export type Verdicts = {
  /** The message. */
  id: Id
  ticket: Id
  /** Null: not all files have a verdict yet. */
  status: 'created' | 'virus-scan-failed' | 'technical-failure' | null
  response: string | null
  clean: readonly Id[]
  virus: readonly Id[]
}

/**
 * Writes verdicts and passes messages on: a clean one gets the ticket that it would have been born with, in its own lane and
 * at its own time. Fenced by the ticket, and by the status: a message that was cancelled meanwhile stays cancelled.
 */
export const recordVerdicts = (
  sql: Sql,
  owner: Id,
  held: readonly { id: Id; takes: number }[],
  results: readonly Verdicts[],
  settled: readonly Id[],
  again: readonly Again[],
) => sql<{ lane: string }>`
  with held as materialized (
    select t.id
    from tickets t
    join unnest(${held.map(h => h.id)}::uuid[], ${held.map(h => h.takes)}::integer[]) as h (id, takes)
      on h.id = t.id and h.takes = t.takes
    where t.owner = ${owner}
    for update of t
  ),
  results as materialized (
    select r.*
    from unnest(${results.map(r => r.id)}::uuid[], ${results.map(r => r.ticket)}::uuid[], ${results.map(r => r.status)}::text[],
                ${results.map(r => r.response)}::text[]) as r (id, ticket, status, response)
    join held on held.id = r.ticket
  ),
  moved as (
    update states s
    set status = r.status,
        completed_at = case when r.status <> 'created' then clock_timestamp() end,
        provider_response = r.response,
        was = s.status,
        moves = s.moves || r.status
    from results r
    -- A list of ids, and a join that PostgreSQL cannot use to leave out partitions: notifications/sql/bounds.ts says why.
    where s.id = any (${results.map(r => r.id)}::uuid[])
      and (s.id = r.id) is true
      and s.status = 'pending-virus-check'
      and r.status is not null
    returning s.id, s.status
  ),
  judged as (
    update files f
    set verdict = case when f.id = any (${results.flatMap(r => r.virus)}::uuid[]) then 'virus' else 'clean' end,
        scan_key = null
    where f.id = any (${results.flatMap(r => [...r.clean, ...r.virus])}::uuid[])
      and f.notification_id in (select id from results)
  ),
  passed as (
    insert into tickets (id, lane, service_id, subjects, due_at)
    select n.id, n.lane, n.service_id, array[n.id], coalesce(n.scheduled_for, now())
    from moved m
    cross join lateral (select * from notifications where id = m.id limit 1) n
    where m.status = 'created'
    returning lane
  ),
  ${settleTail(settled, again)}
  select lane from passed`

// ——— what goes when its time is over ———

export type Kept = { id: Id; content: Id; pieces: number }

export type Look = Kept & {
  /**
   * empty: the content has to go, as that of an attachment whose message is over, of a virus and of a cancelled message.
   * stay: it stays until its age ends it. wait: the message is still open.
   */
  then: 'empty' | 'stay' | 'wait'
}

/** Files that are due for a look, the longest due first. */
export const dueForLook = (sql: Sql, now: Timestamp, most: number) => sql<Look>`
  select f.id, f.content, f.pieces,
         case when f.verdict = 'virus' or s.status = 'cancelled' then 'empty'
              when s.status in ('created', 'sending', 'pending', 'pending-virus-check') then 'wait'
              when f.method = 'attach' and s.status is not null then 'empty'
              else 'stay' end as then
  from (select id, content, pieces, verdict, method, notification_id, look_at
        from files
        where look_at <= ${now}::timestamptz
        order by look_at
        limit ${most}) f
  left join lateral (select status from states where id = f.notification_id limit 1) s on true
  order by f.look_at`

/** The next look at an open message comes after a quarter of its age, between one minute and a quarter of an hour. */
export const lookAgain = (sql: Sql, now: Timestamp, ids: readonly Id[]) => sql`
  update files
  set look_at = ${now}::timestamptz
    + least(interval '15 minutes', greatest(interval '1 minute', (${now}::timestamptz - uuid_time(id)) / 4))
  where id = any (${ids})`

export const lookNoMore = (sql: Sql, ids: readonly Id[]) => sql`
  update files
  set look_at = null
  where id = any (${ids})`

export const markEmptied = (sql: Sql, ids: readonly Id[]) => sql`
  update files
  set emptied = true,
      look_at = null
  where id = any (${ids})`

/** The next ones by id, whatever their method. */
export const filesBefore = (sql: Sql, before: Id, after: Id | null, most: number) => sql<
  Kept & { method: 'attach' | 'link' }
>`
  select id, content, pieces, method
  from files
  where id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    and id < ${before}
  order by id
  limit ${most}`

export const drop = (sql: Sql, ids: readonly Id[]) => sql`delete from files where id = any (${ids})`
