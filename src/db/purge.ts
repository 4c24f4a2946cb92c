// One bounded step of deleting the oldest rows of a table.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Step } from '../runtime/steps.ts'
import { type Part, part, type Sql } from './connect.ts'

export type Aged = {
  table: Part
  /** The timestamp of a row. An index must begin with it, or with the columns of `where` and then it. */
  time: Part
  /** The columns of the key, and the condition that joins a row `t` of the table with a row of `old`, which has them and `time`. */
  key: Part
  match: Part
  where?: Part
}

/** Deletes up to `most` rows older than `before`, oldest first, beginning at `after`. */
export async function purgeAged(
  sql: Sql,
  { table, time, key, match, where = part`true` }: Aged,
  before: Part,
  after: Timestamp | null,
  most: number,
): Promise<Step<Timestamp>> {
  const [step] = await sql<Step<Timestamp>>`
    with old as materialized (
      select ${key}, ${time} as time
      from ${table}
      where ${where}
        and ${time} >= coalesce(${after}::timestamptz, '-infinity')
        and ${time} < ${before}
      order by ${time}
      limit ${most}
    ),
    gone as (
      delete from ${table} t
      using old
      where ${match}
    )
    select count(*)::integer as found, max(time) as last
    from old`
  return step ?? { found: 0, last: null }
}

/** The same for a table whose ids have the time at which its rows were made. */
export async function purgeById(sql: Sql, table: Part, before: Id, after: Id | null, most: number): Promise<Step<Id>> {
  const [step] = await sql<Step<Id>>`
    with old as materialized (
      select id
      from ${table}
      where id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
        and id < ${before}
      order by id
      limit ${most}
    ),
    gone as (
      delete from ${table} t
      using old
      where t.id = old.id
    )
    select count(*)::integer as found, (select id from old order by id desc limit 1) as last
    from old`
  return step ?? { found: 0, last: null }
}
