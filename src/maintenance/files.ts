// Deletes contents of files: attachments when their message is final and the inbox does not show it, links seven days after they were accepted.
import { type Clock, fromMicros } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { LINK_DAYS } from '../files/file.ts'
import {
  drop,
  dueForLook,
  endUploads,
  type FileRow,
  filesBefore,
  type Kept,
  lookAgain,
  lookNoMore,
  markEmptied,
  orphans,
} from '../files/sql.ts'
import type { FileStore } from '../files/store.ts'
import { among } from '../inbox/sql.ts'
import { statusOf } from '../notifications/sql/read.ts'
import { isFinal, type Status } from '../notifications/status.ts'
import { inSteps, type Steps } from '../runtime/steps.ts'
import { OPEN_DAYS } from './purge.ts'

type App = { db: Pick<Database, 'sql'>; clock: Clock; files: { store: FileStore } }

const DAY_MICROS = 86_400_000_000
/** A file may have many pieces, and in S3 each piece is a request. */
const MOST_FILES = 500

/**
 * Attachments of messages that are final; also viruses and files of cancelled messages. The rows stay, without content. A file is
 * checked again only while its message is open, so that the cost depends on what changes and not on what is stored.
 */
export function emptyFinishedFiles({ db: { sql }, clock, files: { store } }: App): Steps {
  const now = fromMicros(clock.micros())
  return inSteps<Id>(async (_after, most) => {
    const group = await dueForLook(sql, now, most)
    const statuses = await statusOf(
      sql,
      group.map(file => file.notification_id),
    )
    // The inbox shows the attachments of messages that were sent to nobody, as long as it shows the message.
    const shown = new Set((await among(sql, finalIn(group, statuses))).map(({ id }) => id))
    const dueOf = (file: (typeof group)[number]): Due => {
      const due = dueFor(file, statuses.get(file.notification_id))
      return due === 'empty' && file.verdict === 'clean' && shown.has(file.notification_id) ? 'stay' : due
    }
    const those = (due: Due) => group.filter(file => dueOf(file) === due)
    const finished = those('empty')
    if (finished.length > 0) {
      await store.remove(sql, finished)
      await markEmptied(sql, idsOf(finished))
    }
    await lookNoMore(sql, idsOf(those('stay')))
    await lookAgain(sql, now, idsOf(those('wait')))
    return { found: group.length, last: null, changed: finished.length }
  }, MOST_FILES)
}

const finalIn = (files: readonly { notification_id: Id }[], statuses: ReadonlyMap<Id, Status>) => [
  ...new Set(
    files
      .map(file => file.notification_id)
      .filter(id => {
        const status = statuses.get(id)
        return status !== undefined && isFinal(status) && status !== 'cancelled'
      }),
  ),
]

/** empty: the content is deleted. stay: until it expires. wait: the message is still open. */
type Due = 'empty' | 'stay' | 'wait'

function dueFor({ verdict, method }: Pick<FileRow, 'verdict' | 'method'>, status: Status | undefined): Due {
  if (verdict === 'virus' || status === 'cancelled') return 'empty'
  if (status === undefined) return 'stay'
  if (!isFinal(status)) return 'wait'
  return method === 'attach' ? 'empty' : 'stay'
}

/** A read refuses an expired link to the moment; here content and row are deleted. */
export function purgeExpiredFiles({ db: { sql }, clock, files: { store } }: App): Steps {
  const now = clock.micros()
  const attachedBefore = now - OPEN_DAYS * DAY_MICROS
  return inSteps<Id>(async (after, most) => {
    const group = await filesBefore(sql, floorOf(now - LINK_DAYS * DAY_MICROS), after, most)
    const expired = group.filter(({ id, method }) => method === 'link' || microsOf(id) < attachedBefore)
    if (expired.length > 0) {
      // The content first: a row without content is found again, content without a row is not.
      await store.remove(sql, expired)
      await drop(sql, idsOf(expired))
    }
    return { found: group.length, last: group.at(-1)?.id ?? null, changed: expired.length }
  }, MOST_FILES)
}

/** Contents in S3 whose message was refused, or whose process ended before it was stored. */
export function purgeOrphanedUploads({ db: { sql }, files: { store } }: Omit<App, 'clock'>): Steps {
  return inSteps<Id>(async (after, most) => {
    const group = await orphans(sql, after, most)
    if (group.length > 0) {
      await store.remove(sql, group)
      await endUploads(
        sql,
        group.map(({ content }) => content),
      )
    }
    return { found: group.length, last: group.at(-1)?.content ?? null }
  }, MOST_FILES)
}

const idsOf = (files: readonly Kept[]) => files.map(file => file.id)
