// Ends messages that never got a final answer (contract 6.3): 72 hours after it was due, a message that was not handed over, or whose
// files were not scanned, is a technical failure; 72 hours after it was handed over, one without a final receipt is a temporary failure.
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { giveUp, idsIn, openStretches } from '../notifications/sql/expire.ts'
import { inSteps, type Steps } from '../runtime/steps.ts'
import { allServices } from '../services/sql.ts'

const LIMIT_MICROS = 72 * 3_600_000_000
const SERVICES_AT_ONCE = 50

type App = { db: Pick<Database, 'sql'>; clock: Clock; hints: Pick<EventHints, 'announce'> }

/** The cost depends on the messages that are still open after 72 hours, not on all that are stored. */
export async function* endOverdueMessages({ db: { sql }, clock, hints }: App): Steps {
  // Nothing created later can be overdue yet, so today's partitions are not read.
  const before = floorOf(clock.micros() - LIMIT_MICROS)
  const services = await allServices(sql)
  for (let at = 0; at < services.length; at += SERVICES_AT_ONCE) {
    const stretches = await openStretches(sql, services.slice(at, at + SERVICES_AT_ONCE), before)
    yield 0
    for (const stretch of stretches)
      yield* inSteps<Id>(async (after, most) => {
        const ids = await idsIn(sql, stretch, before, after, most)
        const ended = ids.length > 0 ? await giveUp(sql, stretch.status, ids) : []
        if (ended.length > 0) hints.announce([stretch.service_id])
        return { found: ids.length, last: ids.at(-1) ?? null }
      })
  }
}
