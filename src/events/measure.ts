import type { Sql } from '../db/connect.ts'
import { createReading, type Metrics } from '../telemetry/metrics.ts'
import { oldestHolder, oldestNumber } from './sql/horizon.ts'

/** A transaction of another user is not visible: its age is then counted from when its number was first seen. */
export function measureHorizon(metrics: Pick<Metrics, 'gauges'>, sql: Sql): void {
  let seen: { oldest: string; at: number } | null = null
  const read = createReading(async () => {
    const oldest = await oldestNumber(sql)
    const now = performance.now()
    if (oldest !== seen?.oldest) seen = oldest === null ? null : { oldest, at: now }
    const known = (await oldestHolder(sql))?.seconds ?? 0
    return Math.max(known, seen ? (now - seen.at) / 1000 : 0)
  })
  metrics.gauges(
    'herald_events_horizon_seconds',
    'How long the oldest transaction has run that readers of events wait for.',
    [],
    async () => {
      const seconds = await read()
      return seconds === null ? [] : [[{}, seconds] as const]
    },
    'database',
  )
}
