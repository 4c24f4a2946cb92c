// Follows the clock of the database, so that all processes agree on the time.
import type { Clock } from './core/clock.ts'
import { followDatabase } from './db/clock.ts'
import type { Database } from './db/connect.ts'
import { makeEventPartitions } from './events/partitions.ts'
import { dropFutureRequests } from './limits/sql/rates.ts'
import { makePartitions } from './notifications/partitions.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

// After a step of the database clock: partitions for the new time are created, then the process clock follows, and requests that
// were counted in the future are removed from the rate limits.
export function createFollower(db: Database, clock: Clock, log: Log, metrics: Metrics) {
  let steps = 0
  let isSettled = true
  metrics.gauge(
    'herald_clock_steps',
    'How often the clock of the database was set by more than 2 s.',
    () => steps,
    'max',
  )
  return {
    async follow() {
      const step = await followDatabase(db.sql, clock, async there => {
        const then = { micros: () => there * 1000 }
        await makePartitions(db, then)
        await makeEventPartitions(db, then)
      })
      if (step !== 0) {
        steps++
        isSettled = false
        log.warn({ step_seconds: Math.round(step / 100) / 10 }, 'the clock of the database was set: ours follows it')
      }
      if (isSettled) return
      await dropFutureRequests(db.sql)
      isSettled = true
    },
  }
}
