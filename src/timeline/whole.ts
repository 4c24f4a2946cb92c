// Everything that a person may see of one message: what happened, what the recipient gets, and its files.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { details as jobDetails } from '../bulk/sql/read.ts'
import { channelNames } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import { type Id, isTimed, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { keyOf, nameOf } from '../files/keep.ts'
import { type FileRow, filesOfMessages } from '../files/sql.ts'
import { type ContentApp, contentOf, type MessageContent } from '../notifications/content.ts'
import { isCopyable } from '../notifications/copy.ts'
import { openPersonal } from '../notifications/notification.ts'
import { isExpired, oldestKept } from '../notifications/read.ts'
import { refuse } from '../notifications/refusals.ts'
import { storedMessage } from '../notifications/sql/read.ts'
import { isScheduledAt } from '../notifications/status.ts'
import type { Service } from '../services/service.ts'
import { type Timeline, type TimelineApp, timeline } from './read.ts'

export type WholeApp = Omit<TimelineApp, 'sql'> & ContentApp & { db: { sql: TimelineApp['sql'] } }

export type ShownFile = Pick<FileRow, 'id' | 'method' | 'verdict' | 'media_type' | 'bytes' | 'emptied'> & {
  /** Null: only the link of the recipient opens it. */
  name: string | null
}

export type WholeMessage = Timeline & {
  to: string
  content: MessageContent
  files: ShownFile[]
  lane: string
  job: { id: Id; name: string } | null
  isScheduled: boolean
  /** Whether a copy can be sent: its files are still there. */
  isCopyable: boolean
  /** The version of the template that a copy would use; null: the template is archived. */
  currentVersion: number | null
}

/** `write`: how times are written in the sentences. */
export async function wholeMessage(
  app: WholeApp,
  actor: PersonActor,
  service: Service,
  id: Id,
  write: (at: Timestamp) => string,
): Promise<WholeMessage> {
  requirePermission(actor, 'see-messages', service.id)
  const { sql } = app.db
  const found = await timeline({ ...app, sql }, service, id, write)
  const { message } = found
  const stored = await storedMessage(sql, service.id, id)
  if (!stored) throw refuse.notFound()
  const [content, files, head, jobs] = await Promise.all([
    contentOf(app, stored),
    filesOfMessages(sql, [id]),
    app.templates.head(service.id, message.template_id),
    message.job_id === null ? [] : jobDetails(sql, [message.job_id]),
  ])
  return {
    ...found,
    to: openPersonal(app.seal, stored.sealed).to,
    content,
    files: files.map(file => shownFile(app.seal, file)),
    lane: stored.lane,
    job: message.job_id && { id: message.job_id, name: jobs[0]?.name ?? message.job_id },
    isScheduled: isScheduledAt(message, app.clock.now()),
    isCopyable: isCopyable(files),
    currentVersion: head === null || head.archived ? null : head.version,
  }
}

/** What the recipient gets, alone. */
export async function messageContent(
  app: WholeApp,
  actor: PersonActor,
  service: Service,
  id: Id,
): Promise<MessageContent> {
  requirePermission(actor, 'see-messages', service.id)
  const stored = await storedMessage(app.db.sql, service.id, id)
  if (!stored || isExpired(app.clock, service, stored)) throw refuse.notFound()
  return contentOf(app, stored)
}

/** Whether an id is older than anything that the service keeps, whatever it named. */
export const isGone = ({ clock }: Pick<WholeApp, 'clock'>, service: Service, id: Id): boolean =>
  isTimed(id) && channelNames.every(channel => id < oldestKept(clock, service, channel)) && microsOf(id) > 0

function shownFile(seal: Seal, file: FileRow): ShownFile {
  const { id, method, verdict, media_type, bytes, emptied } = file
  const name = method === 'attach' ? nameOf(keyOf(seal, file), file) : null
  return { id, method, verdict, media_type, bytes, emptied, name }
}
