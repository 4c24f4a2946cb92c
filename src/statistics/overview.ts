// How many messages a service has sent in the last days, from the hourly counts: what it costs does not depend on how many messages
// are stored.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Channel } from '../channels/plain.ts'
import { fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { appliedAt } from '../db/migrate.ts'
import { isAccepted } from './accepted.ts'
import { startsOfDays } from './days.ts'
import { type CountRow, countsSince, failingTemplates, hasAny, type TemplateCountRow } from './sql/read.ts'
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
}

const DAYS = 7
const MOST_TEMPLATES = 5
const HOUR_MICROS = 3_600_000_000

type App = { sql: Sql; clock: { now(): number } }

/** Messages of test keys are not counted. */
export async function overview(app: App, actor: Actor, service: Id, timeZone: string): Promise<Overview> {
  requirePermission(actor, 'see-service', service)
  const starts = startsOfDays(app.clock.now(), timeZone, DAYS)
  const rows = await countsSince(app.sql, service, starts)
  return {
    days: starts.map((hour, day) => ({
      start: fromMicros(hour * HOUR_MICROS),
      noon: fromMicros((hour + 12) * HOUR_MICROS),
      counts: countsOfDay(rows, day),
    })),
    took: { today: tookOf(rows.filter(row => row.is_last)), days: tookOf(rows) },
  }
}

/**
 * The templates with the most failures in the last days, the most first; `failed`: the statuses that are failures. Counts of templates
 * are of UTC days: the first is the one in which the days of the zone begin.
 */
export async function failing(
  app: App,
  actor: Actor,
  service: Id,
  timeZone: string,
  failed: readonly string[],
): Promise<FailingTemplate[]> {
  requirePermission(actor, 'see-service', service)
  const [start = 0] = startsOfDays(app.clock.now(), timeZone, DAYS)
  return failingOf(await failingTemplates(app.sql, service, Math.floor(start / 24), failed, MOST_TEMPLATES), failed)
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
  rows.flatMap(row => (row.status !== null && row.day === wanted ? [row] : []))

function tookOf(rows: readonly CountRow[]): Took | null {
  const classes = rows.flatMap(row => (row.took === null || row.took === NOT_DELIVERED ? [] : [row]))
  const [p50, p95] = [percentile(classes, 0.5), percentile(classes, 0.95)]
  return p50 === null || p95 === null ? null : { p50, p95 }
}

function failingOf(rows: readonly TemplateCountRow[], failed: readonly string[]): FailingTemplate[] {
  return [...new Set(rows.map(row => row.template_id))].map(template_id => {
    const counts = rows.filter(row => row.template_id === template_id)
    const reasons = counts.filter(one => failed.includes(one.status))
    return { template_id, failed: sum(reasons), accepted: sum(counts.filter(one => isAccepted(one.status))), reasons }
  })
}

const sum = (counts: readonly { messages: number }[]) => counts.reduce((all, one) => all + one.messages, 0)
