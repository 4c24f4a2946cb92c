// The partitions of the coming days are made ahead; those that no service keeps any longer are dropped.
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/connect.ts'
import { dropEventPartitions, makeEventPartitions } from '../events/partitions.ts'
import { dropPartitions, makePartitions } from '../notifications/partitions.ts'
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
