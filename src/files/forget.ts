// Contents do not stay: what was attached goes when its message is over, what was linked seven days after it was accepted.
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { aged, drop, finished, type Kept, markEmptied } from './sql.ts'
import type { FileStore } from './store.ts'

type App = { db: Database; clock: Clock; files: { store: FileStore } }

export const LINK_DAYS = 7
/** No message is open for longer: four days until it is due, three more until its last word (notifications/retention.ts). */
const OPEN_DAYS = 8
const DAY_MICROS = 86_400_000_000
const GROUP = 500
const FIRST = '00000000-0000-0000-0000-000000000000' as Id

/** Attached contents of messages that are over; viruses and files of cancelled messages too. The rows stay to say so. */
export async function emptyFinished({ db, files: { store } }: App): Promise<void> {
  for (let after = FIRST; ; ) {
    const group = await finished(db.sql, after, GROUP)
    const over = group.filter(file => file.over)
    if (over.length > 0) {
      await store.remove(db.sql, over)
      await markEmptied(
        db.sql,
        over.map(file => file.id),
      )
    }
    const last = group.at(-1)
    if (group.length < GROUP || !last) return
    after = last.id
  }
}

/** Links end to the moment when they are read; here their content and their row go. */
export async function forgetAged(app: App): Promise<void> {
  await forgetBefore(app, 'link', LINK_DAYS)
  await forgetBefore(app, 'attach', OPEN_DAYS)
}

async function forgetBefore({ db, clock, files: { store } }: App, method: 'attach' | 'link', days: number) {
  const before = floorOf(clock.micros() - days * DAY_MICROS)
  for (let group: Kept[] = []; ; ) {
    group = await aged(db.sql, before, method, GROUP)
    if (group.length === 0) return
    // The content first: a row without one is found again, a content without a row is not.
    await store.remove(db.sql, group)
    await drop(
      db.sql,
      group.map(file => file.id),
    )
  }
}
