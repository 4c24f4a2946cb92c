// Takes an upload in, piece by piece: the memory it needs does not depend on its size. An upload that ends early leaves nothing.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import type { Templates } from '../templates/cache.ts'
import type { SheetReading } from './reading.ts'
import { refuse } from './refusals.ts'
import { LIMITS, MOST_SHEETS, type Origin } from './sheet.ts'
import { add, addPiece, received, remove } from './sql.ts'

export type ReceiveApp = {
  db: Database
  ids: { next(): Id }
  seal: Seal
  templates: Templates
  sheets: Pick<SheetReading, 'begin'>
}

export type Upload = {
  template_id: Id
  origin: Origin
  /** Of the file; empty for pasted text. */
  name: string
  chunks: AsyncIterable<Uint8Array>
}

/** The size of what is sealed and stored at once. */
const PIECE_BYTES = 512 * 1024
const LONGEST_NAME = 255

/** Returns when all bytes are stored; then the file is read in the background (read.ts says how far). */
export async function receive(
  app: ReceiveApp,
  actor: PersonActor,
  service: Id,
  { template_id, origin, name, chunks }: Upload,
): Promise<Id> {
  requirePermission(actor, 'send-messages', service)
  const template = await app.templates.head(service, template_id)
  if (!template) throw refuseSend.templateNotFound()
  if (template.archived) throw refuseSend.templateDeleted()
  const { sql } = app.db
  const owner = { service_id: service, person_id: actor.id }
  const id = app.ids.next()
  await add(sql, { id, ...owner, template_id, origin, name: app.seal.seal('sheet name', cleanName(name)) })
  try {
    const bytes = await storePieces(app, id, chunks)
    if (bytes === 0) throw refuse.empty()
    await received(sql, owner, id, bytes, MOST_SHEETS)
  } catch (error) {
    await remove(sql, id)
    throw error
  }
  app.sheets.begin(service, id)
  return id
}

async function storePieces({ db: { sql }, seal }: ReceiveApp, id: Id, chunks: AsyncIterable<Uint8Array>) {
  let open: Uint8Array[] = []
  let [waiting, bytes, position] = [0, 0, 0]
  const close = async () => {
    if (waiting === 0) return
    const piece = Buffer.concat(open, waiting)
    open = []
    waiting = 0
    await addPiece(sql, id, position++, seal.seal('sheet piece', piece))
  }
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > LIMITS.bytes) throw refuse.tooLarge(LIMITS.bytes / 1024 / 1024)
    open.push(chunk)
    waiting += chunk.length
    if (waiting >= PIECE_BYTES) await close()
  }
  await close()
  return bytes
}

/** Some browsers give a whole path. Control characters and signs that turn the direction of text around are removed. */
const cleanName = (name: string) =>
  (name.split(/[/\\]/).at(-1) ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, LONGEST_NAME)
