// A counter and what it counts are one commit, so they do not drift apart. If they ever do, a service must not have less than it
// may have for the rest of the day: off the request path, counters that stand too high are set right.
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { inSteps, runSteps } from '../runtime/steps.ts'
import { dayOf } from './daily.ts'
import { type Counter, counters, countMessages, freeze, lower, reserved } from './sql.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'>; clock: Clock }

/** A message may be scheduled four days ahead; one more for the hours of the day. */
const AHEAD_MICROS = 5 * 86_400_000_000

/** One counter a step. `onSurplus` hears by how much each was too high. */
export async function* recount(
  { db, clock }: App,
  onSurplus: (surplus: number) => void = () => {},
): AsyncGenerator<void, void> {
  const since = floorOf(clock.micros() - AHEAD_MICROS)
  for (const counter of await counters(db.sql, dayOf(clock.now()))) {
    const surplus = await surplusOf(db, counter, since)
    if (surplus > 0) {
      await lower(db.sql, counter, surplus)
      onSurplus(surplus)
    }
    yield
  }
}

/** What it was too high at one moment, counted in short statements that all see that moment. */
const surplusOf = (db: App['db'], counter: Counter, since: Id): Promise<number> =>
  db.transaction(async sql => {
    await freeze(sql)
    const { used, byJobs } = await reserved(sql, counter, since)
    let counted = byJobs
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
