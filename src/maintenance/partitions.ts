// The partitions of the coming days are made ahead; those that no service keeps any longer are dropped. Partitions from before a
// migration get the indexes that it added.
import type { Clock } from '../core/clock.ts'
import type { Database, Sql } from '../db/connect.ts'
import type { PartitionsAbout } from '../db/partitions.ts'
import {
  aboutEventPartitions,
  buildEventIndexes,
  dropEventPartitions,
  eventDaysAhead,
  makeEventPartitions,
} from '../events/partitions.ts'
import {
  aboutPartitions,
  buildIndexes,
  dropPartitions,
  makePartitions,
  daysAhead as messageDaysAhead,
} from '../notifications/partitions.ts'
import type { Steps } from '../runtime/steps.ts'
import { longestRetention } from '../services/sql.ts'
import { OPEN_DAYS } from './purge.ts'

const DAY_MICROS = 86_400_000_000

type App = { db: Database; clock: Clock }

export async function* makeComingPartitions({ db, clock }: App): Steps {
  yield (await makePartitions(db, clock)).length
  yield (await makeEventPartitions(db, clock)).length
}

export async function* dropExpiredPartitions({ db, clock }: App): Steps {
  const days = Math.max(OPEN_DAYS, await longestRetention(db.sql))
  const before = clock.micros() - days * DAY_MICROS
  yield (await dropPartitions(db, before)).length
  yield (await dropEventPartitions(db, before)).length
}

export async function* buildMissingIndexes({ db }: Pick<App, 'db'>): Steps {
  yield* buildIndexes(db)
  yield* buildEventIndexes(db)
}

/** For how many days after today there are partitions of messages and of events. */
export async function daysAhead(sql: Sql): Promise<number | null> {
  const days = [await messageDaysAhead(sql), await eventDaysAhead(sql)]
  return days.reduce((least, one) => (least === null || one === null ? null : Math.min(least, one)))
}

/** The partitions of messages and of events. */
export async function partitionsNow(sql: Sql): Promise<PartitionsAbout | null> {
  const all = [await aboutPartitions(sql), await aboutEventPartitions(sql)].flatMap(one => one ?? [])
  if (all.length === 0) return null
  const days = all.flatMap(({ oldest, newest }) => [oldest, newest]).sort()
  return { count: all.reduce((sum, { count }) => sum + count, 0), oldest: days[0] ?? '', newest: days.at(-1) ?? '' }
}
