// Figures of the queue, for /metrics and doctor.
import type { Config } from './config/index.ts'
import type { Clock } from './core/clock.ts'
import type { Sql } from './db/connect.ts'
import { backupAgeOf } from './db/last-backup.ts'
import { LAG_STAGES, replicationProblem, replicationState } from './db/replication.ts'
import { daysAhead } from './maintenance/partitions.ts'
import { SCAN_LANE } from './notifications/lane.ts'
import { type LaneFigures, laneFigures, ticketFigures } from './queue/figures.ts'
import { RECEIPT_LANE } from './receipts/sql.ts'
import { LANES, RELEASED_LANES } from './sending.ts'
import { createReading, type LabelledValue, type Metrics } from './telemetry/metrics.ts'

export type Figures = {
  lanes: LaneFigures[]
  /** Tickets kept back by a release until the operator chooses them. */
  kept: number
  /** Receipts whose message is not known (yet). */
  unmatched: number
  /** How long the oldest message has waited for the scanner's verdict. */
  scan_oldest_seconds: number
}

export async function figuresOf(sql: Sql): Promise<Figures> {
  const lanes = await laneFigures(sql, LANES)
  const rest = await ticketFigures(sql, { held: RELEASED_LANES, retried: RECEIPT_LANE, aged: SCAN_LANE })
  return { lanes, kept: rest.kept, unmatched: rest.retried, scan_oldest_seconds: rest.oldest_seconds }
}

/** Figures that need a query; they are read when /metrics is scraped. */
export function measureQueue(metrics: Metrics, sql: Sql) {
  const figures = createReading(() => figuresOf(sql))
  const days = createReading(() => daysAhead(sql), { seconds: 60 })
  const perLane = (read: (lane: LaneFigures) => number) => async () =>
    ((await figures())?.lanes ?? []).map((one): LabelledValue => [{ lane: one.lane }, read(one)])
  const total = (read: (all: Figures) => number) => async () => {
    const all = await figures()
    return all ? [[{}, read(all)] as const] : []
  }
  const lane = ['lane']
  metrics.gauges(
    'herald_waiting_tickets',
    'Tickets that are due, at most 1,000.',
    lane,
    perLane(one => one.waiting),
    'database',
  )
  metrics.gauges(
    'herald_oldest_waiting_seconds',
    'How long the oldest ticket has been due.',
    lane,
    perLane(one => one.oldest_seconds),
    'database',
  )
  metrics.gauges(
    'herald_overdue_tickets',
    "Tickets that are due for over five minutes and in nobody's hands.",
    lane,
    perLane(one => one.overdue),
    'database',
  )
  metrics.gauges(
    'herald_kept_back_tickets',
    'Tickets kept back by a release.',
    [],
    total(all => all.kept),
    'database',
  )
  metrics.gauges(
    'herald_receipts_unmatched',
    'Receipts whose message is unknown.',
    [],
    total(all => all.unmatched),
    'database',
  )
  metrics.gauges(
    'herald_scan_oldest_seconds',
    'How long the oldest message has waited for a verdict on its files.',
    [],
    total(all => all.scan_oldest_seconds),
    'database',
  )
  metrics.gauges(
    'herald_partitions_ahead_days',
    'For how many coming days there are partitions.',
    [],
    async () => {
      const ahead = await days()
      return ahead === null ? [] : [[{}, ahead] as const]
    },
    'database',
  )
}

/** Only of the embedded database: backups of another one are made by its own tools. */
export function measureBackups(metrics: Metrics, config: Pick<Config, 'databaseUrl' | 'dataFolder'>, clock: Clock) {
  if (config.databaseUrl) return
  const age = createReading(() => backupAgeOf(config, clock.now()))
  metrics.gauges(
    'herald_backup_age_seconds',
    'Age of the newest backup of the embedded database; without one, the age of the database.',
    [],
    async () => {
      const now = await age()
      return now ? [[{}, now.seconds] as const] : []
    },
    'database',
  )
}

/** The embedded database has no standby, and `managed` says that nothing of it can be seen. */
export function measureReplication(
  metrics: Metrics,
  sql: Sql,
  { databaseUrl, replication }: Pick<Config, 'databaseUrl' | 'replication'>,
) {
  if (!databaseUrl || replication === 'managed') return
  const state = createReading(() => replicationState(sql))
  metrics.gauges(
    'herald_replication_synchronous_standbys',
    'Standbys that every commit waits for and that are connected.',
    [],
    async () => {
      const now = await state()
      return now ? [[{}, now.synchronous] as const] : []
    },
    'database',
  )
  metrics.gauges(
    'herald_replication_missing',
    '1 while HERALD_REPLICATION is required and what is accepted is not replicated.',
    [],
    async () => {
      const now = await state()
      return now ? [[{}, replication === 'required' && replicationProblem(now) ? 1 : 0] as const] : []
    },
    'database',
  )
  for (const unit of ['seconds', 'bytes'] as const)
    metrics.gauges(
      `herald_replication_lag_${unit}`,
      'What the slowest standby has not written, flushed to disk or replayed yet.',
      ['stage'],
      async () => {
        const now = await state()
        return now ? LAG_STAGES.map((stage): LabelledValue => [{ stage }, now[`${stage}_${unit}`]]) : []
      },
      'database',
    )
}
