// Contents do not stay: what was attached goes when its message is over, what was linked seven days after it was accepted.
import { type Clock, fromMicros } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { inSteps } from '../runtime/steps.ts'
import {
  drop,
  dueForLook,
  endUploads,
  filesBefore,
  type Kept,
  lookAgain,
  lookNoMore,
  markEmptied,
  orphans,
} from './sql.ts'
import type { FileStore } from './store.ts'

type App = { db: Pick<Database, 'sql'>; clock: Clock; files: { store: FileStore } }

export const LINK_DAYS = 7
/** No message is open for longer: four days until it is due, three more until its last word (notifications/retention.ts). */
const OPEN_DAYS = 8
const DAY_MICROS = 86_400_000_000
/** A file may be many pieces, and in another store each is a request. */
const MOST_FILES = 500

/**
 * Attached contents of messages that are over; viruses and files of cancelled messages too. The rows stay to say so. A file is
 * looked at again only while its message is open, so that the cost goes by what changes and not by what is kept.
 */
export function emptyFinished({ db: { sql }, clock, files: { store } }: App): AsyncGenerator<void, void> {
  const now = fromMicros(clock.micros())
  return inSteps<Id>(async (_after, most) => {
    const group = await dueForLook(sql, now, most)
    const those = (then: (typeof group)[number]['then']) => group.filter(file => file.then === then)
    const over = those('empty')
    if (over.length > 0) {
      await store.remove(sql, over)
      await markEmptied(sql, idsOf(over))
    }
    await lookNoMore(sql, idsOf(those('stay')))
    await lookAgain(sql, now, idsOf(those('wait')))
    return { found: group.length, last: null }
  }, MOST_FILES)
}

/** Links end to the moment when they are read; here their content and their row go. */
export function purgeAged({ db: { sql }, clock, files: { store } }: App): AsyncGenerator<void, void> {
  const now = clock.micros()
  const attachedBefore = now - OPEN_DAYS * DAY_MICROS
  return inSteps<Id>(async (after, most) => {
    const group = await filesBefore(sql, floorOf(now - LINK_DAYS * DAY_MICROS), after, most)
    const old = group.filter(({ id, method }) => method === 'link' || microsOf(id) < attachedBefore)
    if (old.length > 0) {
      // The content first: a row without one is found again, a content without a row is not.
      await store.remove(sql, old)
      await drop(sql, idsOf(old))
    }
    return { found: group.length, last: group.at(-1)?.id ?? null }
  }, MOST_FILES)
}

/** Contents outside the database whose message was refused, or whose process ended before it was stored. */
export function purgeUploads({ db: { sql }, files: { store } }: App): AsyncGenerator<void, void> {
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
