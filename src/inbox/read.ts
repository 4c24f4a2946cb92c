// Reads the inbox of a service: pages, the next message to somebody, and one message with everything that an e-mail program would show.
import { type Channel, channelNames, recipientKey } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { keyOf, nameOf, piecesOf } from '../files/keep.ts'
import { type FileRow, filesOfMessages } from '../files/sql.ts'
import type { FileStore } from '../files/store.ts'
import { KEY_TYPES, type KeyType } from '../keys/key.ts'
import { recipientDigests } from '../notifications/notification.ts'
import { homePlan } from '../recipients/plans.ts'
import { inTurns, type Turns } from '../runtime/turns.ts'
import { retentionDays, type Service } from '../services/service.ts'
import { type Captured, type CapturedApp, capturedOf } from './captured.ts'
import { PAGE_BYTES, readable } from './inbox.ts'
import { type Link, linksOf } from './links.ts'
import { refuse } from './refusals.ts'
import { type Filter, find, markSeen, pageOf, type Scope } from './sql.ts'

export type ReadApp = CapturedApp & { clock: Clock }

export const INBOX_DAYS = 7
const DAY_MICROS = 86_400_000_000

/** Messages of one key type: what a caller of the API sees. */
export const scopeOfKey = (service: Id, key_type: KeyType) => ({ service_id: service, key_types: [key_type] })
/** What people of a service see. */
export const scopeOfService = (service: Id) => ({ service_id: service, key_types: KEY_TYPES })
/** What operators see: mails of Herald itself, and messages that an earlier version captured. */
export const OF_NOBODY: Scope = { service_id: null, key_types: [] }

export type InboxPage = { messages: Captured[]; hasMore: boolean; last: Id | null }

/** Newest first. `last`: where the next page begins; it may be shorter than `size`, or even empty. */
export async function listCaptured(
  app: ReadApp,
  scope: Scope,
  filter: Filter,
  size: number,
  service: Service | null,
): Promise<InboxPage> {
  const rows = await pageOf(app.sql, scope, boundsOf(app.clock, filter), size, PAGE_BYTES)
  const kept = rows.filter(row => isKept(app.clock, service, row))
  const { messages, last } = await capturedOf(app, kept, PAGE_BYTES)
  const isCut = last !== (kept.at(-1)?.id ?? null)
  return { messages, hasMore: isCut || rows.length === size, last: isCut ? last : (rows.at(-1)?.id ?? null) }
}

/** Nothing older than the inbox keeps. */
export function boundsOf(clock: Clock, filter: Filter): Filter {
  const oldest = floorOf(clock.micros() - INBOX_DAYS * DAY_MICROS)
  return { ...filter, after: filter.after && filter.after > oldest ? filter.after : oldest }
}

/** A read is cut off at the moment the retention ends; the row is purged later. */
export const isKept = (clock: Clock, service: Service | null, { id, channel }: { id: Id; channel: Channel }) =>
  service === null || id >= floorOf(clock.micros() - retentionDays(service, channel) * DAY_MICROS)

/** `file`: how its content is read; never shown. */
export type Attached = { filename: string; mediaType: string; bytes: number; isGone: boolean; file: FileRow }

export type WholeCaptured = Captured & { links: Link[]; attachments: Attached[] }

/** Throws a refusal when the scope has no such message. */
export async function getCaptured(app: ReadApp, scope: Scope, id: Id, service: Service | null): Promise<WholeCaptured> {
  const row = await find(app.sql, id, scope)
  const [message] = row && isKept(app.clock, service, row) ? (await capturedOf(app, [row])).messages : []
  if (!message) throw refuse.notFound()
  return (await withDetails(app, [message]))[0] ?? { ...message, links: [], attachments: [] }
}

export async function withDetails(app: CapturedApp, messages: readonly Captured[]): Promise<WholeCaptured[]> {
  const mails = messages.filter(({ content, service_id }) => content.channel === 'email' && service_id !== null)
  const files =
    mails.length === 0
      ? []
      : await filesOfMessages(
          app.sql,
          mails.map(({ id }) => id),
        )
  return messages.map(message => {
    const { html, text } = readable(message.content)
    return {
      ...message,
      links: linksOf(html, text),
      attachments: files.filter(file => file.notification_id === message.id && isAttached(file)).map(attachedOf(app)),
    }
  })
}

export const attachedTo = async (sql: Sql, id: Id): Promise<FileRow[]> =>
  (await filesOfMessages(sql, [id])).filter(isAttached)

const isAttached = ({ method, verdict }: FileRow) => method === 'attach' && verdict === 'clean'

const attachedOf = (app: CapturedApp) => (file: FileRow) => ({
  filename: nameOf(keyOf(app.seal, file), file),
  mediaType: file.media_type,
  bytes: file.bytes,
  isGone: file.emptied,
  file,
})

/** An attachment, by its place in the list of the message; each of its pieces is read in a turn of the file store. Null: there is none. */
export async function attachmentOf(
  app: ReadApp & { files: { store: FileStore; reading: Turns } },
  scope: Scope,
  id: Id,
  place: number,
): Promise<(Attached & { pieces: AsyncIterable<Buffer> }) | null> {
  const row = await find(app.sql, id, scope)
  if (!row || row.service_id === null) return null
  const file = (await attachedTo(app.sql, id))[place]
  if (!file || file.emptied) return null
  const { store, reading } = app.files
  const { service_id } = row
  const pieces = inTurns<Buffer>(read => reading.run(service_id, read), piecesOf(store, file, keyOf(app.seal, file)))
  return { ...attachedOf(app)(file), pieces }
}

/** A person has opened it. */
export const markAsSeen = (app: Pick<CapturedApp, 'sql'>, scope: Scope, id: Id) => markSeen(app.sql, scope, id)

/** The filter for a recipient: an address, or a number as the service writes it. Null: neither. */
export async function digestsOf(
  app: Pick<CapturedApp, 'seal' | 'services'>,
  service: Id,
  to: string,
): Promise<Buffer[] | null> {
  const loaded = await app.services.get(service)
  if (!loaded) return null
  const digests = channelNames.flatMap(channel => {
    const key = recipientKey(to, channel, homePlan(loaded.home_country))
    return key === undefined ? [] : recipientDigests(app.seal, service, channel, key)
  })
  return digests.length > 0 ? digests : null
}
