// Where contents are kept: in sealed pieces of at most a mebibyte, so that neither side ever needs a whole file in memory to
// pass it on. A store knows pieces by name and nothing of what is in them.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { addPiece, dropPieces, piece } from './sql.ts'

export type Kept = { content: Id; pieces: number }

export type FileStore = {
  readonly name: 'postgres' | 's3'
  /** Contents are not part of the database's transaction: they are there before it begins, and stay when it fails. */
  readonly isOutside: boolean
  /** On disk when it resolves, or at the latest when the given transaction commits. */
  put(sql: Sql, content: Id, n: number, sealed: Buffer): Promise<void>
  /** Null: it is not there any more. Throws while the store cannot be asked. */
  get(content: Id, n: number): Promise<Buffer | null>
  /** What is gone already is no trouble. */
  remove(sql: Sql, kept: readonly Kept[]): Promise<void>
}

export const createPostgresStore = (pool: Sql): FileStore => ({
  name: 'postgres',
  isOutside: false,
  put: async (sql, content, n, sealed) => void (await addPiece(sql, content, n, sealed)),
  get: (content, n) => piece(pool, content, n),
  remove: async (sql, kept) =>
    void (await dropPieces(
      sql,
      kept.map(one => one.content),
    )),
})
