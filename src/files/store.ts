// The port of file stores. Contents are sealed pieces of at most 1 MiB, so that no whole file needs to be in memory. A store
// cannot read the pieces.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { addPiece, dropPieces, piece } from './sql.ts'

export type Kept = { content: Id; pieces: number }

export type FileStore = {
  readonly name: 'postgres' | 's3'
  /** The store is outside the database: pieces are written before the transaction and are not rolled back with it. */
  readonly isOutside: boolean
  /** The piece is on disk when the promise resolves, or at the latest when the transaction commits. */
  put(sql: Sql, content: Id, n: number, sealed: Buffer): Promise<void>
  /** Null: the piece does not exist. Throws while the store is not available. */
  get(content: Id, n: number): Promise<Buffer | null>
  /** Pieces that do not exist are ignored. */
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
