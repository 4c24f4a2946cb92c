// People look through the inbox: summaries without rendering whole e-mails, and a search for words in bounded steps, because contents
// are sealed.
import { setImmediate as turn } from 'node:timers/promises'
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Channel, channelNames } from '../channels/plain.ts'
import { fromMicros, type Timestamp } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { KeyType } from '../keys/key.ts'
import type { Reader } from '../limits/reads.ts'
import { openPersonal } from '../notifications/notification.ts'
import { capturedContents } from '../notifications/sql/captured.ts'
import type { Service } from '../services/service.ts'
import type { CapturedApp, SealedContent } from './captured.ts'
import { attachmentOf, boundsOf, getCaptured, isKept, markAsSeen, type ReadApp } from './read.ts'
import { type SourceApp, withSource } from './source.ts'
import { type InboxRow, pageOf, type Scope } from './sql.ts'

export type Summary = {
  id: Id
  channel: Channel
  at: Timestamp
  to: string
  /** The subject of an e-mail, the beginning of a text message. */
  title: string
  /** Null: a mail of Herald itself, or of an earlier version. */
  key_type: KeyType | null
  seen: boolean
}

export type Looking = {
  /** Digests of one recipient; null: all. */
  digests: readonly Buffer[] | null
  /** Only messages with these words; empty: all. */
  words: string
  before: Id | null
}

export type Looked = {
  messages: Summary[]
  /** Where older ones begin; null: there are none. */
  older: Id | null
  /** The search for words looked at so many messages and there are older ones. */
  isPartial: boolean
}

export const PAGE = 30
/** One page of a search for words opens at most so many messages. */
const MOST_SEARCHED = 600
const STEP = 200
const STEP_BYTES = 8_000_000
const TURN_MS = 10
const TITLE_CHARACTERS = 200

export const mayLook = (actor: Actor, { service_id }: Scope) =>
  requirePermission(actor, service_id === null ? 'manage-installation' : 'see-inbox', service_id)

/** `service` null: what belongs to no service. */
export async function look(
  app: ReadApp,
  actor: Actor,
  scope: Scope,
  service: Service | null,
  { digests, words, before }: Looking,
): Promise<Looked> {
  mayLook(actor, scope)
  const wanted = foldedWords(words)
  const messages: Summary[] = []
  let from = before
  for (let searched = 0; searched < MOST_SEARCHED; ) {
    const size = wanted.length === 0 ? PAGE + 1 : STEP
    const filter = boundsOf(app.clock, { channels: channelNames, digests, after: null, before: from })
    const rows = await pageOf(app.sql, scope, filter, size, STEP_BYTES)
    for (const summary of await summaries(
      app,
      rows.filter(row => isKept(app.clock, service, row)),
      wanted,
    )) {
      if (messages.length === PAGE) return { messages, older: messages.at(-1)?.id ?? null, isPartial: false }
      messages.push(summary)
    }
    if (rows.length < size) return { messages, older: null, isPartial: false }
    searched += rows.length
    from = rows.at(-1)?.id ?? null
    if (wanted.length === 0) break
  }
  return { messages, older: from, isPartial: wanted.length > 0 }
}

/** Those that have all the words, in order. Messages that were purged are left out. */
async function summaries(app: CapturedApp, rows: readonly InboxRow[], wanted: readonly string[]): Promise<Summary[]> {
  const ids = rows.filter(row => row.sealed === null).map(row => row.id)
  const stored = new Map(ids.length > 0 ? (await capturedContents(app.sql, ids)).map(row => [row.id, row]) : [])
  const found: Summary[] = []
  let began = performance.now()
  for (const row of rows) {
    const message = stored.get(row.id)
    const brief = row.sealed ? openedBrief(app, row.sealed) : message && (await briefOf(app, message))
    if (performance.now() - began > TURN_MS) {
      await turn()
      began = performance.now()
    }
    if (!brief) continue
    const text = wanted.length > 0 ? folded(`${brief.to} ${brief.subject ?? ''} ${brief.text}`) : ''
    if (!wanted.every(word => text.includes(word))) continue
    const { id, channel, key_type, seen } = row
    const title = (brief.subject ?? brief.text).trim().slice(0, TITLE_CHARACTERS)
    found.push({ id, channel, at: fromMicros(microsOf(id)), to: brief.to, title, key_type, seen })
  }
  return found
}

type Brief = Pick<SealedContent, 'to' | 'subject' | 'text'>

const openedBrief = (app: CapturedApp, sealed: Buffer): Brief =>
  JSON.parse(app.seal.open('captured message', sealed).toString('utf8')) as SealedContent

async function briefOf(
  app: CapturedApp,
  row: Awaited<ReturnType<typeof capturedContents>>[number],
): Promise<Brief | null> {
  const service = await app.services.get(row.service_id)
  if (!service) return null
  const { to, values, e164 } = openPersonal(app.seal, row.sealed)
  const version = await app.templates.version(row.template_id, row.template_version)
  const { subject, body } = version.excess(values, null)
    ? { subject: null, body: '' } // accepted by a version without this limit
    : version.received(values, service.sms_prefix ? service.name : null)
  return { to: e164 ?? to, subject, text: body }
}

const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
const foldedWords = (words: string) => folded(words).split(/\s+/).filter(Boolean).slice(0, 10)

/** How many are newer, at most a page of them. */
export async function newerThan(app: ReadApp, actor: Actor, scope: Scope, id: Id | null): Promise<number> {
  mayLook(actor, scope)
  const filter = boundsOf(app.clock, { channels: channelNames, digests: null, after: id, before: null })
  return (await pageOf(app.sql, scope, filter, PAGE, STEP_BYTES)).length
}

/** Opens a message: from now on it is not unread any more. Throws a refusal when there is none. */
export async function openCaptured(app: ReadApp, actor: Actor, scope: Scope, service: Service | null, id: Id) {
  mayLook(actor, scope)
  const message = await getCaptured(app, scope, id, service)
  if (!message.seen) await markAsSeen(app, scope, id)
  return message
}

type FilesApp = ReadApp & SourceApp

/** The e-mail as a file, which the returned function reads (source.ts). The message stays unread. */
export async function openSource(
  app: FilesApp,
  reader: Reader,
  actor: Actor,
  scope: Scope,
  service: Service | null,
  id: Id,
) {
  mayLook(actor, scope)
  return withSource(app, reader, id, () => getCaptured(app, scope, id, service))
}

export async function openAttachment(app: FilesApp, actor: Actor, scope: Scope, id: Id, place: number) {
  mayLook(actor, scope)
  return attachmentOf(app, scope, id, place)
}
