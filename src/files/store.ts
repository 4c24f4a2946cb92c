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
  /** For people; no secrets. */
  readonly place: string
  /** Null: the store is the database itself. */
  readonly mark: StoreMark | null
  /** The piece is on disk when the promise resolves, or at the latest when the transaction commits. */
  put(sql: Sql, content: Id, n: number, sealed: Buffer): Promise<void>
  /** Null: the piece does not exist. Throws while the store is not available. */
  get(content: Id, n: number): Promise<Buffer | null>
  /** Pieces that do not exist are ignored. */
  remove(sql: Sql, kept: readonly Kept[]): Promise<void>
}

/** Name of the object that holds the id of the installation. Contents have the names of ids. */
export const MARK_NAME = 'herald-installation'
export const DATABASE_PLACE = 'the database'

/** An object that holds the id of the installation to which the store belongs. */
export type StoreMark = {
  /** Null: there is none. */
  read(): Promise<string | null>
  write(installation: Id): Promise<void>
}

export const createPostgresStore = (pool: Sql): FileStore => ({
  name: 'postgres',
  isOutside: false,
  place: DATABASE_PLACE,
  mark: null,
  put: async (sql, content, n, sealed) => void (await addPiece(sql, content, n, sealed)),
  get: (content, n) => piece(pool, content, n),
  remove: async (sql, kept) =>
    void (await dropPieces(
      sql,
      kept.map(one => one.content),
    )),
})
