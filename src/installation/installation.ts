// What all machines of an installation share besides the database: the sealing secret and the file store. Both are checked at every
// start: a machine with another secret cannot read what others have sealed, and one with another store does not find their files.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { OTHER_SECRET, OtherInstallation } from '../db/seal.ts'
import { DATABASE_PLACE, type FileStore, MARK_NAME, type StoreMark } from '../files/store.ts'
import { within } from '../runtime/within.ts'
import { claimFileStore, find, register, reseal, setFileStore } from './sql/installation.ts'

/** Throws unless the id of the installation was sealed with a secret of ours. The first start creates it. */
export async function checkInstallation(sql: Sql, ids: { next(): Id }, seal: Seal): Promise<void> {
  const created = ids.next()
  const { id, sealed } = await register(sql, created, seal.seal('installation id', created))
  if (!isSealed(seal, id, sealed)) throw new OtherInstallation(OTHER_SECRET)
  if (!seal.isCurrent('installation id', sealed)) await reseal(sql, seal.seal('installation id', id))
}

function isSealed(seal: Seal, id: Id, sealed: Buffer): boolean {
  try {
    return seal.open('installation id', sealed).toString('utf8') === id
  } catch {
    return false // sealed with another secret: the caller reports it
  }
}

/** In a restored copy the store may be a new one: the next start may mark it. */
export const forgetFileStore = (sql: Sql) => setFileStore(sql, null)

/** A start does not wait longer for a store that hangs. */
const ANSWER_MS = 5_000

/**
 * Runs at every start. Rejects with OtherInstallation when this process has another store than the others. The first process marks
 * the store. A store that does not answer is no reason to refuse: `onUnknown` is called, and requests without files work.
 */
export async function checkFileStore(
  db: Pick<Database, 'sql' | 'transaction'>,
  store: FileStore,
  onUnknown: (error: unknown) => void,
): Promise<void> {
  try {
    const late = 'the file store did not answer in time'
    const before = await within(ANSWER_MS, compareFileStore(db.sql, store), late)
    if (before.kind === 'new') await within(ANSWER_MS, claim(db, store, before.id), late)
    // After a claim again: another process may have been first.
    const found = before.kind === 'new' ? await within(ANSWER_MS, compareFileStore(db.sql, store), late) : before
    if (found.kind === 'differs') throw new OtherInstallation(`${found.sentence} ${STORE_REMEDY}`)
  } catch (error) {
    if (error instanceof OtherInstallation) throw error
    onUnknown(error)
  }
}

/** `new`: no process has marked a store yet, and this one has no mark of another installation. */
export type StoreComparison =
  | { kind: 'same' | 'unregistered' }
  | { kind: 'new'; id: Id }
  | { kind: 'differs'; sentence: string }

/** Changes nothing. Rejects when the store does not answer. */
export async function compareFileStore(sql: Sql, store: FileStore): Promise<StoreComparison> {
  const row = await find(sql)
  if (!row) return { kind: 'unregistered' }
  const { id, file_store: known } = row
  const differs = (sentence: string) => ({ kind: 'differs' as const, sentence })
  const isElsewhere = known !== null && isDatabase(known) !== isDatabase(store.place)
  if (isElsewhere) return differs(`The contents of files are in ${known}, but this process is set to ${store.place}.`)
  if (!store.mark) return known === null ? { kind: 'new', id } : { kind: 'same' }
  const marked = await ownerOf(store.mark, known === null)
  if (marked === id) return known === null ? { kind: 'new', id } : { kind: 'same' }
  if (marked !== null) return differs(`The file store ${store.place} belongs to another installation of Herald.`)
  if (known === null) return { kind: 'new', id }
  return differs(
    `The file store ${store.place} is not the one of this installation, ${known}: it has no object ${MARK_NAME}.`,
  )
}

export const STORE_REMEDY =
  'All machines of an installation need the same HERALD_FILE_STORE and HERALD_S3_ settings, and each installation a bucket of its own. If the files were moved here, run herald file-store adopt with these settings.'

const isDatabase = (place: string) => place === DATABASE_PLACE

/** `mayBeNew`: a key that may not list the bucket gets an error, not a "not found", for an object that does not exist. */
async function ownerOf(mark: StoreMark, mayBeNew: boolean): Promise<string | null> {
  try {
    return await mark.read()
  } catch (error) {
    if (mayBeNew) return null
    throw error
  }
}

/** The row stays locked until the mark is written, so that of two processes with different stores only one marks its own. */
async function claim(db: Pick<Database, 'transaction'>, store: FileStore, id: Id): Promise<void> {
  await db.transaction(async sql => {
    if ((await claimFileStore(sql, store.place)) === store.place) await store.mark?.write(id)
  })
}

/** An operator says that this store is the one of the installation, after the files were moved. Returns its place. */
export async function adoptFileStore(
  app: { db: Pick<Database, 'sql' | 'transaction'> },
  actor: Actor,
  store: FileStore,
): Promise<string> {
  requirePermission(actor, 'manage-installation', null)
  const row = await find(app.db.sql)
  if (!row) throw new Error('No Herald has started on this database yet. The first start marks its file store itself.')
  await store.mark?.write(row.id)
  await app.db.transaction(async sql => {
    await setFileStore(sql, store.place)
    await record(sql, 'file store adopted', actor, null, row.id, { file_store: store.place })
  })
  return store.place
}
