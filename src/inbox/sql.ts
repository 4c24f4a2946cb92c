import type { Channel } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Step } from '../runtime/steps.ts'

export type CapturedMessage = { id: Id; channel: Channel; sealed: Buffer }

/** A message that is captured twice is stored once. */
export const keep = (sql: Sql, messages: readonly CapturedMessage[]) => sql`
  insert into inbox (id, channel, sealed)
  select id, channel, sealed
  from unnest(${messages.map(m => m.id)}::uuid[], ${messages.map(m => m.channel)}::text[], ${messages.map(m => m.sealed)}::bytea[])
       as m (id, channel, sealed)
  on conflict do nothing`

/** Newest first, at most `bytes` together but at least one. */
export const page = (sql: Sql, olderThan: Id | null, size: number, bytes: number) => sql<CapturedMessage>`
  select id, channel, sealed
  from (select id, channel, sealed, sum(octet_length(sealed)) over (order by id desc) - octet_length(sealed) as before
        from (select id, channel, sealed
              from inbox
              where ${olderThan}::uuid is null or id < ${olderThan}
              order by id desc
              limit ${size}) newest) m
  where before < ${bytes}
  order by id desc`

export async function find(sql: Sql, id: Id): Promise<CapturedMessage | null> {
  const [found] = await sql<CapturedMessage>`select id, channel, sealed from inbox where id = ${id}`
  return found ?? null
}

/** Deletes up to `most` messages older than `before`, oldest first. */
export async function purge(sql: Sql, before: Id, after: Id | null, most: number): Promise<Step<Id>> {
  const [step] = await sql<Step<Id>>`
    with old as materialized (
      select id
      from inbox
      where id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
        and id < ${before}
      order by id
      limit ${most}
    ),
    gone as (
      delete from inbox i
      using old
      where i.id = old.id
    )
    select count(*)::integer as found, (select id from old order by id desc limit 1) as last
    from old`
  return step ?? { found: 0, last: null }
}
