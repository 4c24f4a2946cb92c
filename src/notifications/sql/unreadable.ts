import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

/**
 * Of the oldest messages before an id, at most `most`: how many there are, and how many none of the known secrets has sealed.
 * `known`: the first bytes of what can be opened.
 */
export const unreadableMessages = (sql: Sql, known: Buffer, before: Id, most: number) => sql<{
  rows: number
  unreadable: number
}>`
  select count(*)::integer as rows,
         (count(*) filter (where substring(sealed from 1 for 4) <> all(${known}::bytea[])))::integer as unreadable
  from (
    select sealed
    from notifications
    where id < ${before}
    order by id
    limit ${most}
  ) as oldest`
