// A counter of the daily limit and what it counts are written in one commit, so they do not diverge. If they ever do, a service
// must not have less than its limit for the rest of the day: counters that are too high are lowered.
import { reservedByJobs } from '../bulk/sql/read.ts'
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { dayOf } from '../limits/daily.ts'
import { type Counter, counters, freeze, lower, usedOf } from '../limits/sql/usage.ts'
import { countMessages } from '../notifications/sql/count.ts'
import { inSteps, runSteps, type Steps } from '../runtime/steps.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'>; clock: Clock }

/** A message may be scheduled four days ahead; one more for the hours of the day. */
const AHEAD_MICROS = 5 * 86_400_000_000

/** One counter per step. `onSurplus` gets by how much each was too high. */
export async function* recountDailyUsage({ db, clock }: App, onSurplus: (surplus: number) => void = () => {}): Steps {
  const since = floorOf(clock.micros() - AHEAD_MICROS)
  for (const counter of await counters(db.sql, dayOf(clock.now()))) {
    const surplus = await surplusOf(db, counter, since)
    if (surplus > 0) {
      await lower(db.sql, counter, surplus)
      onSurplus(surplus)
    }
    yield surplus > 0 ? 1 : 0
  }
}

/** By how much the counter is too high, counted in short statements that all read the same snapshot. */
const surplusOf = (db: App['db'], counter: Counter, since: Id): Promise<number> =>
  db.transaction(async sql => {
    await freeze(sql)
    const used = await usedOf(sql, counter)
    let counted = await reservedByJobs(sql, counter, since)
    for (const keyType of ['normal', 'team'] as const)
      await runSteps(
        inSteps<Id>(async (after, most) => {
          const step = await countMessages(sql, counter, keyType, after ?? since, most)
          counted += step.counted
          return step
        }),
      )
    return used - counted
  })
