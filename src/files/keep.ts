// Stores and reads files. A content is cut into pieces, each sealed with a key of that content. The key of an attachment is
// sealed with the key of the installation, the key of a linked file with the token of its link.
import { createHash, randomBytes } from 'node:crypto'
import type { Id } from '../core/id.ts'
import { createSeal, openable, type Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { TypedFile } from './attach.ts'
import { add, beginUploads, dropOf, endUploads, type FileRow } from './sql.ts'
import type { FileStore } from './store.ts'

const PIECE_BYTES = 1024 * 1024

export type ScannedFile = TypedFile & { verdict: 'clean' | 'pending' }

/** Files that are stored if and only if their message is. */
export type Keeping = {
  /** Before the transaction: uploads contents to a store outside the database. A second call changes nothing. */
  stage(sql: Sql): Promise<void>
  /** In the transaction of the message. */
  put(sql: Sql): Promise<void>
  /** In the same transaction, if the message is refused there. */
  drop(sql: Sql): Promise<void>
  /** After a transaction that refused the message. If this fails, purgeOrphanedUploads does it later. */
  discard(sql: Sql): Promise<void>
}

type App = { seal: Seal; store: FileStore; ids: { next(): Id } }

export function keeping(app: App, message: { id: Id; service_id: Id }, files: readonly ScannedFile[]): Keeping {
  const { store } = app
  const shares = sharesOf(app.ids, files)
  const kept = shares.map(({ id, bytes }) => ({ content: id, pieces: piecesIn(bytes) }))
  const contents = kept.map(one => one.content)
  let staged: Promise<void> | null = null

  async function putPieces(sql: Sql) {
    for (const share of shares) {
      const seal = app.seal.keyedBy(share.key)
      for (let n = 0; n < piecesIn(share.bytes); n++) await store.put(sql, share.id, n, sealedPiece(seal, share, n))
    }
  }

  // Recorded before the upload, so that uploads of a process that crashes can be found and deleted.
  async function upload(sql: Sql) {
    await beginUploads(sql, kept)
    await putPieces(sql)
  }

  return {
    async stage(sql) {
      if (!store.isOutside) return
      staged ??= upload(sql)
      await staged
    },
    async put(sql) {
      if (!store.isOutside) await putPieces(sql)
      else if ((await endUploads(sql, contents)) < contents.length)
        throw new Error('uploaded files were purged before their message was stored')
      await add(
        sql,
        files.map((file, position) => {
          const share = shares.find(one => one.files.includes(file))
          if (!share) throw new Error('a file without a content')
          return rowOf(app, message, file, position, share)
        }),
      )
    },
    async drop(sql) {
      await dropOf(sql, message.id)
      if (store.isOutside) await beginUploads(sql, kept)
      else await store.remove(sql, kept)
    },
    async discard(sql) {
      if (!store.isOutside) return
      await store.remove(sql, kept)
      await endUploads(sql, contents)
    },
  }
}

/** `bytes`: of the content, whose memory may be gone when an attempt to store it comes too late. */
type Share = { id: Id; key: string; method: TypedFile['method']; content: Buffer; bytes: number; files: ScannedFile[] }

// Equal contents are stored once. Attachments are deleted earlier than linked files, so the two are not shared.
function sharesOf(ids: { next(): Id }, files: readonly ScannedFile[]): Share[] {
  const shares: Share[] = []
  for (const file of files) {
    const same = shares.find(one => one.method === file.method && one.content.equals(file.content))
    if (same) same.files.push(file)
    else
      shares.push({
        id: ids.next(),
        key: randomBytes(32).toString('hex'),
        method: file.method,
        content: file.content,
        bytes: file.content.length,
        files: [file],
      })
  }
  return shares
}

const rowOf = (
  { seal, ids }: App,
  message: { id: Id; service_id: Id },
  file: ScannedFile,
  position: number,
  { id, key, bytes }: Share,
) => ({
  id: ids.next(),
  notification_id: message.id,
  service_id: message.service_id,
  position,
  method: file.method,
  verdict: file.verdict,
  media_type: file.mediaType,
  bytes,
  sealed_name: seal.keyedBy(key).seal('file name', file.name),
  content: id,
  pieces: piecesIn(bytes),
  content_key:
    file.token === null ? seal.seal('file key', key) : seal.keyedBy(file.token).seal('file key for its link', key),
  scan_key: file.token !== null && file.verdict === 'pending' ? seal.seal('file key for its scan', key) : null,
  token_digest: file.token === null ? null : tokenDigest(file.token),
})

/** The token has 256 random bits, so its digest needs no secret. */
export const tokenDigest = (token: string) => createHash('sha256').update(token).digest()

const piecesIn = (bytes: number) => Math.ceil(bytes / PIECE_BYTES)

// The number of a piece is sealed with it, so that pieces cannot be put in another order.
function sealedPiece(seal: Seal, { content, bytes }: Share, n: number): Buffer {
  if (content.length !== bytes) throw new Error('the request of a file ended before it was stored')
  return seal.sealParts('file content', [Buffer.from([n]), content.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES)])
}

/** The key of an attachment's content. */
export const keyOf = (seal: Seal, file: Pick<FileRow, 'content_key'>) =>
  seal.open('file key', file.content_key).toString('utf8')

/** The key of a linked file's content, for a caller with the token of its link. */
export const keyByToken = (token: string, file: Pick<FileRow, 'content_key'>) =>
  createSeal([token]).open('file key for its link', file.content_key).toString('utf8')

/** The key of a content that is to be scanned. */
export const keyForScan = (seal: Seal, file: Pick<FileRow, 'content_key' | 'scan_key'>) =>
  file.scan_key ? seal.open('file key for its scan', file.scan_key).toString('utf8') : keyOf(seal, file)

export const nameOf = (key: string, file: Pick<FileRow, 'sealed_name'>) =>
  createSeal([key]).open('file name', file.sealed_name).toString('utf8')

/** The content is no longer in the store; a retry is useless. */
export class ContentGone extends Error {}

type Content = Pick<FileRow, 'content' | 'pieces' | 'bytes'>

/** The content piece by piece, so that only one piece is in memory. */
export async function* piecesOf(store: FileStore, file: Content, key: string): AsyncGenerator<Buffer> {
  const seal = createSeal([key])
  let left = file.bytes
  for (let n = 0; n < file.pieces; n++) {
    const sealed = await store.get(file.content, n)
    if (sealed === null) throw new ContentGone('the content of a file is not there any more')
    const piece = openable(seal, 'file content', sealed)
    // The key is the file's own: no secret is missing.
    if (piece === null) throw new Error('the content of a file is damaged')
    left -= piece.length - 1
    if (piece[0] !== n || left < 0) throw new Error('the pieces of a file do not fit')
    yield piece.subarray(1)
  }
  if (left !== 0) throw new Error('the pieces of a file do not fit')
}

/** `allocate`: where the content is put. */
export async function wholeOf(
  store: FileStore,
  file: Content,
  key: string,
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafeSlow,
): Promise<Buffer> {
  const whole = allocate(file.bytes)
  let at = 0
  for await (const piece of piecesOf(store, file, key)) at += piece.copy(whole, at)
  return whole
}
