import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'
import type { StoredRows } from '../sql.ts'

/** Chunks with at least one of these lines, in the order of the file. */
export const chunksWith = (sql: Sql, id: Id, lines: readonly number[]) => sql<StoredRows>`
  select position, lines, sealed
  from sheet_chunks
  where sheet_id = ${id}
    and part = 'rows'
    and lines && ${lines}::integer[]
  order by position`
