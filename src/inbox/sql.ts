import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Channel } from '../services/service.ts'

export type Captured = { id: Id; channel: Channel; sealed: Buffer }

/** A message that is handed over twice is kept once. */
export const keep = (sql: Sql, messages: readonly Captured[]) => sql`
  insert into inbox (id, channel, sealed)
  select id, channel, sealed
  from unnest(${messages.map(m => m.id)}::uuid[], ${messages.map(m => m.channel)}::text[], ${messages.map(m => m.sealed)}::bytea[])
       as m (id, channel, sealed)
  on conflict do nothing`

export const page = (sql: Sql, olderThan: Id | null, size: number) => sql<Captured>`
  select id, channel, sealed
  from inbox
  where ${olderThan}::uuid is null or id < ${olderThan}
  order by id desc
  limit ${size}`

export async function find(sql: Sql, id: Id): Promise<Captured | null> {
  const [found] = await sql<Captured>`select id, channel, sealed from inbox where id = ${id}`
  return found ?? null
}

export const forgetBefore = (sql: Sql, id: Id) => sql`delete from inbox where id < ${id}`
