import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Delimiter, Encoding, Format, Match, Origin, SheetState, Unreadable } from './sheet.ts'

export type SheetRecord = {
  id: Id
  service_id: Id
  person_id: Id
  template_id: Id
  state: SheetState
  origin: Origin
  name: Buffer
  head: Buffer | null
  bytes: number
  format: Format | null
  encoding: Encoding | null
  delimiter: Delimiter | null
  problem: Unreadable | null
  row_count: number
  blank_rows: number
  match: Match | null
  left_out: number[]
  job_id: Id | null
  created_at: Timestamp
  /** Another process may take over the reading. */
  is_abandoned: boolean
}

/** Whose sheet: nobody else sees it. */
export type Owner = { service_id: Id; person_id: Id }

/** After this time without an end, another process may read the file. */
const LEASE_SECONDS = 120

export const add = (
  sql: Sql,
  sheet: Pick<SheetRecord, 'id' | 'service_id' | 'person_id' | 'template_id' | 'origin' | 'name'>,
) => sql`
  insert into sheets (id, service_id, person_id, template_id, state, origin, name)
  values (${sheet.id}, ${sheet.service_id}, ${sheet.person_id}, ${sheet.template_id}, 'receiving', ${sheet.origin}, ${sheet.name})`

export const addPiece = (sql: Sql, sheet: Id, position: number, sealed: Buffer) => sql`
  insert into sheet_chunks (sheet_id, part, position, sealed)
  values (${sheet}, 'piece', ${position}, ${sealed})`

/** All bytes are there. Older sheets of the person make room, those that cannot be read first. */
export const received = (sql: Sql, { service_id, person_id }: Owner, id: Id, bytes: number, most: number) => sql`
  with dropped as (
    delete from sheets
    where id in (
      select id
      from sheets
      where service_id = ${service_id}
        and person_id = ${person_id}
        and id <> ${id}
        and state <> 'sent'
      order by state = 'unreadable', id desc
      offset ${most - 1}
      limit 100)
  )
  update sheets
  set state = 'received',
      bytes = ${bytes}
  where id = ${id}`

export async function find(sql: Sql, { service_id, person_id }: Owner, id: Id): Promise<SheetRecord | null> {
  const [found] = await sql<SheetRecord>`
    select id, service_id, person_id, template_id, state, origin, name, head, bytes, format, encoding, delimiter, problem,
           row_count, blank_rows, match, left_out, job_id, created_at,
           state = 'received' or (state = 'reading' and leased_at < now() - make_interval(secs => ${LEASE_SECONDS})) as is_abandoned
    from sheets
    where id = ${id}
      and service_id = ${service_id}
      and person_id = ${person_id}`
  return found ?? null
}

/** The sheets of a person that are not sent, newest first. */
export const listOf = (sql: Sql, { service_id, person_id }: Owner, most: number) => sql<SheetRecord>`
  select id, service_id, person_id, template_id, state, origin, name, head, bytes, format, encoding, delimiter, problem,
         row_count, blank_rows, match, left_out, job_id, created_at, false as is_abandoned
  from sheets
  where service_id = ${service_id}
    and person_id = ${person_id}
    and state not in ('sent', 'receiving')
  order by id desc
  limit ${most}`

/** Null: it is gone, or another process reads it. */
export async function lease(sql: Sql, id: Id): Promise<Pick<SheetRecord, 'origin' | 'bytes'> | null> {
  const [leased] = await sql<Pick<SheetRecord, 'origin' | 'bytes'>>`
    update sheets
    set state = 'reading',
        leased_at = now()
    where id = ${id}
      and (state = 'received' or (state = 'reading' and leased_at < now() - make_interval(secs => ${LEASE_SECONDS})))
    returning origin, bytes`
  return leased ?? null
}

export async function pieceAt(sql: Sql, sheet: Id, position: number): Promise<Buffer | null> {
  const [found] = await sql<{ sealed: Buffer }>`
    select sealed
    from sheet_chunks
    where sheet_id = ${sheet}
      and part = 'piece'
      and position = ${position}`
  return found?.sealed ?? null
}

export const addRows = (sql: Sql, sheet: Id, position: number, lines: readonly number[], sealed: Buffer) => sql`
  insert into sheet_chunks (sheet_id, part, position, lines, sealed)
  values (${sheet}, 'rows', ${position}, ${lines}, ${sealed})`

type Read = Pick<SheetRecord, 'head' | 'format' | 'encoding' | 'delimiter' | 'problem' | 'row_count' | 'blank_rows'> & {
  state: 'ready' | 'unreadable'
}

/** The uploaded bytes are not needed any more. False: it is gone, or has been read by another process. */
export async function readDone(sql: Sql, id: Id, read: Read): Promise<boolean> {
  const rows = await sql`
    with done as (
      update sheets
      set state = ${read.state},
          head = ${read.head},
          format = ${read.format},
          encoding = ${read.encoding},
          delimiter = ${read.delimiter},
          problem = ${read.problem && JSON.stringify(read.problem)}::jsonb,
          row_count = ${read.row_count},
          blank_rows = ${read.blank_rows},
          leased_at = null
      where id = ${id}
        and state = 'reading'
      returning id
    ),
    emptied as (
      delete from sheet_chunks
      where part = 'piece'
        and sheet_id in (select id from done)
    )
    select id from done`
  return rows.length > 0
}

export type StoredRows = { position: number; lines: number[]; sealed: Buffer }

/** Chunks with rows from `from` on, in order. */
export const rowsFrom = (sql: Sql, sheet: Id, from: number, most: number) => sql<StoredRows>`
  select position, lines, sealed
  from sheet_chunks
  where sheet_id = ${sheet}
    and part = 'rows'
    and position + cardinality(lines) > ${from}
  order by position
  limit ${most}`

/** `lines` in order, without the contents. */
export async function linesOf(sql: Sql, sheet: Id): Promise<number[]> {
  const rows = await sql<{ lines: number[] }>`
    select lines
    from sheet_chunks
    where sheet_id = ${sheet}
      and part = 'rows'
    order by position`
  return rows.flatMap(row => row.lines)
}

/** Another match: rows that were left out count again. */
export const setMatch = (sql: Sql, id: Id, match: Match) => sql`
  update sheets
  set match = ${JSON.stringify(match)}::jsonb,
      left_out = '{}'
  where id = ${id}
    and state = 'ready'`

export const setLeftOut = (sql: Sql, id: Id, lines: readonly number[]) => sql`
  update sheets
  set left_out = ${lines}
  where id = ${id}
    and state = 'ready'`

/** In the transaction that stores the job: its rows are deleted. False: it was sent before, or removed. */
export async function markSent(sql: Sql, id: Id, job: Id): Promise<boolean> {
  const rows = await sql`
    with done as (
      update sheets
      set state = 'sent',
          job_id = ${job},
          head = null,
          match = null,
          left_out = '{}'
      where id = ${id}
        and state = 'ready'
      returning id
    ),
    emptied as (
      delete from sheet_chunks
      where sheet_id in (select id from done)
    )
    select id from done`
  return rows.length > 0
}

export const remove = (sql: Sql, id: Id) => sql`
  delete from sheets
  where id = ${id}`

/** Uploads that were broken off by a crash go after an hour. */
export async function purge(sql: Sql, before: Timestamp, brokenBefore: Timestamp, most: number): Promise<number> {
  const rows = await sql`
    delete from sheets
    where id in (
      select id
      from sheets
      where created_at < ${before}
         or (state = 'receiving' and created_at < ${brokenBefore})
      order by created_at
      limit ${most})
    returning id`
  return rows.length
}
