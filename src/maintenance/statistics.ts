// The hourly counts: changes are added up, hours past their retention are deleted, and recent hours are compared with the messages.
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/connect.ts'
import { recountDay } from '../notifications/sql/recount.ts'
import { inSteps, type Steps } from '../runtime/steps.ts'
import { fold, purgeCounts } from '../statistics/sql/fold.ts'

type App = { db: Pick<Database, 'sql'>; clock: Clock }

const HOUR_MICROS = 3_600_000_000
/** Thirteen months: a month can be compared with the same one a year before. */
const KEPT_HOURS = 13 * 31 * 24
/** No message is purged before (OPEN_DAYS in purge.ts). */
const RECOUNTED_DAYS = 7

const hourNow = (clock: Clock) => Math.floor(clock.micros() / HOUR_MICROS)

export const foldHourlyCounts = ({ db: { sql } }: Pick<App, 'db'>): Steps =>
  inSteps<never>((_after, most) => fold(sql, most))

export function purgeHourlyCounts({ db: { sql }, clock }: App): Steps {
  const before = hourNow(clock) - KEPT_HOURS
  return inSteps<never>((_after, most) => purgeCounts(sql, before, most))
}

/**
 * During an upgrade the version before delivers messages that this version has accepted and counted, and does not count the change.
 * One day per step, newest first; the rows of a step are the counts that were wrong.
 */
export async function* recountDays({ db: { sql }, clock }: App): Steps {
  const today = Math.floor(hourNow(clock) / 24)
  for (let ago = 0; ago < RECOUNTED_DAYS; ago++) yield await recountDay(sql, today - ago)
}
