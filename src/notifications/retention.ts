// How long messages stay. Reads are cut off to the moment; the rows themselves go by the hour, whole days at once where
// no service keeps them longer.
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { KEY_TYPES } from '../keys/key.ts'
import { inSteps } from '../runtime/steps.ts'
import { idsBefore, longestRetention, remove, retentions } from './sql/expire.ts'

type App = { db: Pick<Database, 'sql'>; clock: Clock }

const DAY_MICROS = 86_400_000_000
/** A message may be scheduled four days ahead and wait three more for its last word: no row goes before that is over. */
const OPEN_DAYS = 8

/** Microseconds since 1970 before which no message is kept. */
export async function keptSince(app: App): Promise<number> {
  const days = Math.max(OPEN_DAYS, await longestRetention(app.db.sql))
  return app.clock.micros() - days * DAY_MICROS
}

/** Services that keep less than others: their own rows go first. */
export async function* purgeMessages({ db: { sql }, clock }: App): AsyncGenerator<void, void> {
  const now = clock.micros()
  for (const { service_id, channel, days } of await retentions(sql)) {
    const before = floorOf(now - Math.max(days, OPEN_DAYS) * DAY_MICROS)
    for (const key_type of KEY_TYPES)
      for (const in_job of [false, true])
        yield* inSteps<Id>(async (after, most) => {
          const ids = await idsBefore(sql, { service_id, key_type, channel, in_job }, before, after, most)
          if (ids.length > 0) await remove(sql, ids)
          return { found: ids.length, last: ids.at(-1) ?? null }
        })
  }
}
