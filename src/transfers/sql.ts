import type { Sql } from '../db/connect.ts'

/** All statements of the transaction read the same snapshot. */
export const snapshot = (sql: Sql) => sql`set transaction isolation level repeatable read`
