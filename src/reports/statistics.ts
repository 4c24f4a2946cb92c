// How many messages of a period have which status, by day, month, template, status, channel, key type or key. From the counts: what it
// costs does not depend on how many messages there are.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Caller, KeyType } from '../keys/key.ts'
import { namesOf } from '../keys/sql.ts'
import { FAILURES } from '../notifications/status.ts'
import { isAccepted } from '../statistics/accepted.ts'
import { type Counted, countsBetween, keyCountsBetween, templateCountsBetween } from '../statistics/sql/report.ts'
import type { Period } from './period.ts'

export const GROUPINGS = ['day', 'month', 'template', 'status', 'channel', 'key_type', 'key'] as const
export type Grouping = (typeof GROUPINGS)[number]

export type CountGroup = {
  /** The day, the month, the id of the template, the status, the channel, the key type or the id of the key; null: without a key. */
  group: string | null
  /** Of the key. */
  name: string | null
  /** Accepted messages. Cancelled ones are counted only in the group `cancelled` of the grouping by status. */
  messages: number
  /** delivered, and sent where the provider reports no more. */
  delivered: number
  failed: number
  /** Not final yet, scheduled ones among them. */
  in_transit: number
  cancelled: number
  /** The parts of text messages that were handed over, and of how many messages they are. */
  text_parts: number
  text_parts_of: number
}

/** Counts are kept for thirteen months. */
export const MOST_DAYS = 403
const HOUR_MICROS = 3_600_000_000
const DAY_MS = 86_400_000
/** Of templates or keys. */
const MOST_ROWS = 50_000

/** Live and team keys see the messages of both, a test key those of test keys. Hours that the period touches count as a whole. */
const keyTypesFor = (own: KeyType): readonly KeyType[] => (own === 'test' ? ['test'] : ['normal', 'team'])

type App = { db: { sql: Sql } }

export const statistics = (app: App, { service, key }: Caller, period: Period, by: Grouping): Promise<CountGroup[]> =>
  countGroups(app, service.id, keyTypesFor(key.key_type), period, by)

/** For a person: of live and team keys, for as long as counts are kept. */
export function statisticsFor(
  app: App & { clock: Clock },
  actor: Actor,
  service: Id,
  by: Grouping,
): Promise<CountGroup[]> {
  requirePermission(actor, 'see-service', service)
  const until = app.clock.micros()
  return countGroups(app, service, ['normal', 'team'], { since: until - MOST_DAYS * DAY_MS * 1000, until }, by)
}

export async function countGroups(
  { db: { sql } }: App,
  service: Id,
  keyTypes: readonly KeyType[],
  { since, until }: Period,
  by: Grouping,
): Promise<CountGroup[]> {
  const hours = [Math.floor(since / HOUR_MICROS), Math.ceil(until / HOUR_MICROS)] as const
  const days = [Math.floor(hours[0] / 24), Math.ceil(hours[1] / 24)] as const
  if (by === 'template')
    return grouped(await templateCountsBetween(sql, service, keyTypes, ...days, MOST_ROWS), by, row => row.template_id)
  if (by !== 'key') return grouped(await countsBetween(sql, service, keyTypes, ...hours), by, row => groupOf(row, by))
  const groups = grouped(await keyCountsBetween(sql, service, keyTypes, ...days, MOST_ROWS), by, row => row.key_id)
  const keys = groups.flatMap(({ group }) => (group === null ? [] : [group as Id]))
  const names = keys.length === 0 ? new Map<Id, string>() : await namesOf(sql, keys)
  return groups.map(group => ({ ...group, name: names.get(group.group as Id) ?? null }))
}

/** Counts of keys have a column with their names. */
export function statisticsCsv(groups: readonly CountGroup[], by: Grouping): string {
  const names = [by, ...(by === 'key' ? ['key_name'] : []), ...NUMBERS]
  const rows = groups.map(one =>
    csvRow([one.group, ...(by === 'key' ? [one.name] : []), ...NUMBERS.map(name => one[name])]),
  )
  return [csvRow(names), ...rows, ''].join('\r\n')
}

const NUMBERS = ['messages', 'delivered', 'failed', 'in_transit', 'cancelled', 'text_parts', 'text_parts_of'] as const

/** Those without a name come last. */
function grouped<R extends Counted>(
  rows: readonly R[],
  by: Grouping,
  groupOf: (row: R) => string | null,
): CountGroup[] {
  const groups = new Map<string | null, CountGroup>()
  for (const row of rows) {
    const group = groupOf(row)
    const found = groups.get(group) ?? emptyGroup(group)
    const kind = kindOf(row.status)
    groups.set(group, {
      ...found,
      messages: found.messages + (by === 'status' || isAccepted(row.status) ? row.messages : 0),
      [kind]: found[kind] + row.messages,
      text_parts: found.text_parts + row.parts,
      text_parts_of: found.text_parts_of + row.parted,
    })
  }
  const rank = ({ group }: CountGroup) => group ?? '\uffff'
  return [...groups.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

const emptyGroup = (group: string | null): CountGroup => ({
  ...{ group, name: null, messages: 0, delivered: 0, failed: 0, in_transit: 0, cancelled: 0 },
  ...{ text_parts: 0, text_parts_of: 0 },
})

type Kind = 'delivered' | 'failed' | 'in_transit' | 'cancelled'

function kindOf(status: string): Kind {
  if (status === 'delivered' || status === 'sent') return 'delivered'
  if (status === 'cancelled') return 'cancelled'
  return FAILURES.some(one => one === status) ? 'failed' : 'in_transit'
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

function groupOf(
  row: { day: number; channel: string; key_type: string; status: string },
  by: Exclude<Grouping, 'template' | 'key'>,
): string {
  switch (by) {
    case 'day':
      return dayText(row.day)
    case 'month':
      return dayText(row.day).slice(0, 7)
    case 'status':
      // As `GET /v2/notifications/{id}` names it.
      return row.status === 'scheduled' ? 'created' : row.status
    case 'channel':
      return row.channel
    case 'key_type':
      return row.key_type
  }
}
