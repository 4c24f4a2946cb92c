import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

export type InstallationRow = {
  id: Id
  sealed: Buffer
  /** Null: no file store was marked yet. */
  file_store: string | null
}

/** Returns the row, of several first starts at the same time the same one. */
export async function register(sql: Sql, id: Id, sealed: Buffer): Promise<InstallationRow> {
  await sql`
    insert into installation (one, id, sealed)
    values (true, ${id}, ${sealed})
    on conflict (one) do nothing`
  const found = await find(sql)
  if (!found) throw new Error('the row of the installation is gone')
  return found
}

/** Null: no start of this version has run. */
export async function find(sql: Sql): Promise<InstallationRow | null> {
  const [found] = await sql<InstallationRow>`select id, sealed, file_store from installation`
  return found ?? null
}

export const reseal = (sql: Sql, sealed: Buffer) => sql`
  update installation
  set sealed = ${sealed}`

/** Returns where the contents are: the place given, unless another process was first. */
export async function claimFileStore(sql: Sql, place: string): Promise<string> {
  const [row] = await sql<{ file_store: string }>`
    update installation
    set file_store = coalesce(file_store, ${place})
    returning file_store`
  return row?.file_store ?? place
}

export const setFileStore = (sql: Sql, place: string | null) => sql`
  update installation
  set file_store = ${place}`
