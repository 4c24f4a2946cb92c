import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'

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

/** Deletes the files of a message that was refused after they were written. */
export const dropOf = (sql: Sql, message: Id) => sql`delete from files where notification_id = ${message}`

const all = part`id, notification_id, service_id, position, method, verdict, media_type, bytes, sealed_name, content, pieces,
  content_key, scan_key, token_digest, emptied`

export const filesOfMessages = (sql: Sql, messages: readonly Id[]) => sql<FileRow>`
  select ${all}
  from files
  where notification_id = any (${messages}::uuid[])
  order by notification_id, position`

export async function findByToken(sql: Sql, digest: Buffer): Promise<FileRow | null> {
  const [found] = await sql<FileRow>`
    select ${all}
    from files
    where token_digest = ${digest}`
  return found ?? null
}

// ——— pieces, where PostgreSQL is the store ———

export const addPiece = (sql: Sql, content: Id, n: number, sealed: Buffer) => sql`
  insert into file_pieces (content, n, sealed)
  values (${content}, ${n}, ${sealed})`

const SLICE_BYTES = 32 * 1024

/**
 * In rows of 32 KiB: the driver reads bytes as hexadecimal text, so a row with the whole piece would take 10 MB of memory on its way
 * to 1 MB. The server reads a part of an uncompressed value without the rest, and sealed values cannot be compressed.
 */
export async function piece(sql: Sql, content: Id, n: number): Promise<Buffer | null> {
  const rows = await sql<{ slice: Buffer }>`
    select substring(p.sealed from s.start for ${SLICE_BYTES}::integer) as slice
    from file_pieces p
    cross join lateral generate_series(1, octet_length(p.sealed), ${SLICE_BYTES}::integer) as s (start)
    where p.content = ${content}
      and p.n = ${n}
    order by s.start`
  return rows.length === 0 ? null : Buffer.concat(rows.map(row => row.slice))
}

export const dropPieces = (sql: Sql, contents: readonly Id[]) => sql`
  delete from file_pieces
  where content = any (${contents})`

// ——— uploads, where the store is outside the database ———

export const beginUploads = (sql: Sql, kept: readonly { content: Id; pieces: number }[]) => sql`
  insert into uploads (content, pieces)
  select content, pieces
  from unnest(${kept.map(k => k.content)}::uuid[], ${kept.map(k => k.pieces)}::smallint[]) as k (content, pieces)`

/** Returns how many there were. */
export async function endUploads(sql: Sql, contents: readonly Id[]): Promise<number> {
  const rows = await sql`
    delete from uploads
    where content = any (${contents}::uuid[])
    returning content`
  return rows.length
}

/** Uploads so old that their message can no longer be accepted. */
export const orphans = (sql: Sql, after: Id | null, most: number) => sql<{ content: Id; pieces: number }>`
  select content, pieces
  from uploads
  where content > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    and begun_at < clock_timestamp() - interval '1 hour'
  order by content
  limit ${most}`

// ——— verdicts of the scanner ———

/** A CTE that writes verdicts on files of these messages. */
export const judged = (messages: Part, clean: readonly Id[], virus: readonly Id[]): Part => part`judged as (
    update files
    set verdict = case when id = any (${virus}::uuid[]) then 'virus' else 'clean' end,
        scan_key = null
    where id = any (${[...clean, ...virus]}::uuid[])
      and notification_id in ${messages}
  )`

// ——— deletion ———

export type Kept = { id: Id; content: Id; pieces: number }

/** Files whose deletion is due for a check, oldest first. */
export const dueForLook = (sql: Sql, now: Timestamp, most: number) => sql<
  Kept & Pick<FileRow, 'verdict' | 'method' | 'notification_id'>
>`
  select id, content, pieces, verdict, method, notification_id
  from files
  where look_at <= ${now}::timestamptz
  order by look_at
  limit ${most}`

/** A file whose message is not final is checked again after a quarter of its age, between 1 and 15 minutes. */
export const lookAgain = (sql: Sql, now: Timestamp, ids: readonly Id[]) => sql`
  update files
  set look_at = ${now}::timestamptz
    + least(interval '15 minutes', greatest(interval '1 minute', (${now}::timestamptz - uuid_time(id)) / 4))
  where id = any (${ids})`

/** Attachments of these messages are looked at soon: nobody needs their contents any longer. */
export const lookSoon = (sql: Sql, messages: readonly Id[]) => sql`
  update files
  set look_at = now()
  where notification_id = any (${messages}::uuid[])
    and method = 'attach'
    and not emptied`

export const lookNoMore = (sql: Sql, ids: readonly Id[]) => sql`
  update files
  set look_at = null
  where id = any (${ids})`

export const markEmptied = (sql: Sql, ids: readonly Id[]) => sql`
  update files
  set emptied = true,
      look_at = null
  where id = any (${ids})`

/** The next files by id, attached or linked. */
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
