// How many messages a service has sent in the last days, from the hourly counts: what it costs does not depend on how many messages
// are stored.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Channel } from '../channels/index.ts'
import { fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { appliedAt } from '../db/migrate.ts'
import { startsOfDays } from './days.ts'
import { type CountRow, countsSince, hasAny } from './sql/read.ts'
import { NOT_DELIVERED, percentile } from './took.ts'

export type StatusCount = { channel: Channel; status: string; messages: number }

/** `noon` names the day: in some zones it begins a little before its midnight (days.ts). */
export type DayCounts = { start: Timestamp; noon: Timestamp; counts: readonly StatusCount[] }

/** About how many seconds it took half of the messages, and 95 % of them. */
export type Took = { p50: number; p95: number }

export type FailingTemplate = {
  template_id: Id
  failed: number
  accepted: number
  /** By status, the most first. */
  reasons: readonly { status: string; messages: number }[]
}

export type Overview = {
  /** Oldest first; the last is today. */
  days: readonly DayCounts[]
  /** Of messages accepted today, and in all these days; null when none was delivered. */
  took: { today: Took | null; days: Took | null }
  /** Templates with the most failures in these days, the most first. */
  failing: readonly FailingTemplate[]
}

const DAYS = 7
const MOST_TEMPLATES = 5
const HOUR_MICROS = 3_600_000_000

type App = { sql: Sql; clock: { now(): number } }

/** `failed`: the statuses that are failures. Messages of test keys are not counted. */
export async function overview(
  app: App,
  actor: Actor,
  service: Id,
  timeZone: string,
  failed: readonly string[],
): Promise<Overview> {
  requirePermission(actor, 'see-service', service)
  const starts = startsOfDays(app.clock.now(), timeZone, DAYS)
  const rows = await countsSince(app.sql, service, starts)
  return {
    days: starts.map((hour, day) => ({
      start: fromMicros(hour * HOUR_MICROS),
      noon: fromMicros((hour + 12) * HOUR_MICROS),
      counts: countsOfDay(rows, day),
    })),
    took: {
      today: tookOf(rows.filter(row => row.day === DAYS - 1)),
      days: tookOf(rows.filter(row => row.day !== null)),
    },
    failing: failingOf(rows, failed),
  }
}

/** Whether the service has sent a message, other than with test keys. */
export function hasSent(app: Pick<App, 'sql'>, actor: Actor, service: Id): Promise<boolean> {
  requirePermission(actor, 'see-service', service)
  return hasAny(app.sql, service)
}

/** From when on messages are counted, if the service is older than that: messages accepted before are not in the counts. */
export async function countedSince(
  app: Pick<App, 'sql'>,
  actor: Actor,
  service: { id: Id; created_at: Timestamp },
): Promise<Timestamp | null> {
  requirePermission(actor, 'see-service', service.id)
  const since = (await appliedAt(app.sql, COUNTED_FROM)) as Timestamp | null
  return since !== null && zulu(service.created_at) < zulu(since) ? since : null
}

const COUNTED_FROM = '0018_statistics.sql'

const countsOfDay = (rows: readonly CountRow[], wanted: number): StatusCount[] =>
  rows.flatMap(({ day, channel, status, messages }) =>
    day === wanted && channel !== null && status !== null ? [{ channel, status, messages }] : [],
  )

function tookOf(rows: readonly CountRow[]): Took | null {
  const classes = rows.flatMap(({ took, messages }) =>
    took === null || took === NOT_DELIVERED ? [] : [{ took, messages }],
  )
  const [p50, p95] = [percentile(classes, 0.5), percentile(classes, 0.95)]
  return p50 === null || p95 === null ? null : { p50, p95 }
}

function failingOf(rows: readonly CountRow[], failed: readonly string[]): FailingTemplate[] {
  const byTemplate = new Map<Id, { status: string; messages: number }[]>()
  for (const { template_id, status, messages } of rows)
    if (template_id !== null && status !== null)
      byTemplate.set(template_id, [...(byTemplate.get(template_id) ?? []), { status, messages }])
  return [...byTemplate]
    .map(([template_id, counts]) => {
      const reasons = counts.filter(one => failed.includes(one.status)).sort((a, b) => b.messages - a.messages)
      return { template_id, failed: sum(reasons), accepted: sum(counts), reasons }
    })
    .filter(one => one.failed > 0)
    .sort((a, b) => b.failed - a.failed)
    .slice(0, MOST_TEMPLATES)
}

const sum = (counts: readonly { messages: number }[]) => counts.reduce((all, one) => all + one.messages, 0)
