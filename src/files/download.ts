// Serves linked files. The token in the link is the permission, for seven days. Without it the reply does not even tell whether
// the file exists (S-20).
import type { Clock } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { LINK_DAYS } from './file.ts'
import { keyByToken, nameOf, piecesOf, tokenDigest } from './keep.ts'
import { refuse } from './refusals.ts'
import { findByToken } from './sql.ts'
import type { FileStore } from './store.ts'

export type Linked = {
  name: string
  mediaType: string
  bytes: number
  service: string
  /** Milliseconds since 1970. */
  until: number
  pieces(): AsyncGenerator<Buffer>
}

export type DownloadApp = {
  sql: Sql
  clock: Clock
  services: { get(id: string): { name: string } | null | Promise<{ name: string } | null> }
  store: FileStore
  /** Of a message. */
  isCancelled(sql: Sql, message: Id): Promise<boolean>
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/
const LINK_MS = LINK_DAYS * 86_400_000

export async function download(
  { sql, clock, services, store, isCancelled }: DownloadApp,
  token: string,
): Promise<Linked> {
  const file = TOKEN.test(token) ? await findByToken(sql, tokenDigest(token)) : null
  // The content of a cancelled message is deleted later.
  if (!file || (await isCancelled(sql, file.notification_id))) throw refuse.notFound()
  const until = microsOf(file.id) / 1000 + LINK_MS
  if (clock.now() >= until) throw refuse.notFound()
  if (file.verdict === 'pending') throw refuse.stillScanning()
  if (file.verdict === 'virus') throw refuse.infected()
  const service = await services.get(file.service_id)
  if (file.emptied || !service) throw refuse.notFound()
  const key = keyByToken(token, file)
  return {
    name: nameOf(key, file),
    mediaType: file.media_type,
    bytes: file.bytes,
    service: service.name,
    until,
    pieces: () => piecesOf(store, file, key),
  }
}
