// Pages of the log, event by event, with what they say about their messages and jobs. Webhooks and timeline read the same way.
import { type JobDetails, details as jobDetails } from '../bulk/sql/read.ts'
import { type Channel, channelNames } from '../channels/plain.ts'
import { type Clock, fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import {
  BEGINNING,
  type Cause,
  type EventGroup,
  type EventType,
  eventId,
  groupOf,
  type Position,
  type Scope,
} from '../events/event.ts'
import { byId, lastGroup, placeAt, type ReadGroup, read } from '../events/sql.ts'
import { details, type MessageDetails, wholeDetails } from '../notifications/sql/details.ts'
import { retentionDays, type Service } from '../services/service.ts'

/** `message`, `job`: null when it is an event of the other, or its row was purged. */
export type LoggedEvent = {
  id: Id
  position: Position
  type: EventType
  at: Timestamp
  /** The message or job. */
  subject: Id
  channel: Channel | null
  cause: Cause
  provider: string | null
  response: string | null
  detail: string | null
  uncertain: boolean
  /** Milliseconds of the attempt. */
  took: number | null
  /** The next attempt. */
  nextAt: Timestamp | null
  /** The time that the provider gives. */
  time: Timestamp | null
  sealed: Buffer | null
  message: MessageDetails | null
  job: JobDetails | null
}

/** The lowest ids of messages and jobs within the retention period. */
export type Oldest = Readonly<Record<Channel | 'job', Id>>

export type ReadOptions = {
  types: readonly EventType[] | null
  /** The most events. */
  most: number
  /** The last place in the log. */
  until?: Pick<Position, 'stamp' | 'seq'> | null
  /** Ids of events, both included. */
  range?: { first: Id; last: Id } | null
  /** Events of older messages are left out. */
  oldest?: Oldest | null
  /** With the sealed recipient and the times of messages. */
  whole?: boolean
}

export type EventPage = {
  events: LoggedEvent[]
  /** Where the next page begins: also after events that were left out. */
  position: Position
  /** Whether more of the log can be read now. A page may be empty although there is more. */
  hasMore: boolean
}

const LOWEST = '00000000-0000-0000-0000-000000000000' as Id
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id
/** Groups of other types that one page looks at, at least. */
const LEAST_GROUPS = 1_000

/** Most pages are full after this many groups. */
const FEW_GROUPS = 100

/**
 * A page of the log: one statement for its groups, or two if the groups are small; one for their messages, one for their jobs.
 */
export async function readEvents(
  sql: Sql,
  scope: Scope,
  after: Position,
  { types, most, until = null, range = null, oldest = null, whole = false }: ReadOptions,
): Promise<EventPage> {
  const { first, last: end } = range ?? { first: LOWEST, last: HIGHEST }
  const from = dayOf(maximum(first, oldest ? minimum(...Object.values(oldest)) : LOWEST))
  const look = async (place: Position, most: number, groups: number) => {
    const found = await read(sql, scope, place, { types, most, groups, until, from, first, last: end })
    const last = found.at(-1)
    const isWhole = last?.scanned === groups
    return { found, last, isFull: (last?.total ?? 0) >= most, hasMore: isWhole || (last?.total ?? 0) > most, isWhole }
  }
  // The group of the position may have been read to its end, and one more tells whether there is more.
  const all = Math.max(most + 2, types ? LEAST_GROUPS : 0)
  let { found, last, isFull, hasMore, isWhole } = await look(after, most, Math.min(FEW_GROUPS, all))
  if (last && isWhole && !isFull && all > FEW_GROUPS) {
    const rest = await look(endOf(last), most - last.total, all)
    found = [...found, ...rest.found]
    last = rest.last ?? last
    hasMore = rest.hasMore
  }
  if (!last) return { events: [], position: after, hasMore: false }
  const events = found.flatMap(group => (group.wanted ? eventsOf(group, oldest) : []))
  await describe(sql, events, whole)
  return { events, position: endOf(last), hasMore }
}

/** The place after what was read of a group. */
const endOf = ({ stamp, seq, wanted, skipped, subjects, size }: ReadGroup): Position => ({
  stamp,
  seq,
  n: (wanted ? skipped + countOf(subjects) : size) - 1,
})

/** Events that still exist, in the order of the log. */
export async function eventsById(sql: Sql, ids: readonly Id[], whole = false): Promise<LoggedEvent[]> {
  const wanted = ids.map(groupOf)
  const groups = new Map((await byId(sql, [...new Set(wanted.map(one => one.group))])).map(group => [group.id, group]))
  const events = wanted.flatMap(({ group: id, n }) => {
    const group = groups.get(id)
    return group && n < group.subjects.length ? eventIn(group, n) : []
  })
  await describe(sql, events, whole)
  return events.sort((a, b) => comparePositions(a.position, b.position))
}

/** The position after everything that is complete now. */
export const endOfLog = async (sql: Sql, scope: Scope): Promise<Position> => (await lastGroup(sql, scope)) ?? BEGINNING

/** No transaction that logs events takes longer. */
const SLACK_MICROS = 120_000_000

/** The position before the first event of this time or later; the end of the log, if there is none. */
export const positionAt = async (sql: Sql, scope: Scope, micros: number): Promise<Position> =>
  (await placeAt(sql, scope, { at: fromMicros(micros), before: floorOf(micros - SLACK_MICROS) })) ?? BEGINNING

const DAY_MICROS = 86_400_000_000

/** As in /v2, a message is not shown after the retention period of its channel; a job has the longest of them. */
export function oldestOf(clock: Pick<Clock, 'micros'>, service: Service): Oldest {
  const now = clock.micros()
  const from = (days: number) => floorOf(now - days * DAY_MICROS)
  const days = channelNames.map(channel => retentionDays(service, channel))
  return {
    ...(Object.fromEntries(channelNames.map((channel, at) => [channel, from(days[at] ?? 0)])) as Record<Channel, Id>),
    job: from(Math.max(...days)),
  }
}

export const comparePositions = (a: Position, b: Position): number =>
  compare(BigInt(a.stamp), BigInt(b.stamp)) || compare(BigInt(a.seq), BigInt(b.seq)) || a.n - b.n

const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
const dayOf = (id: Id) => floorOf(Math.floor(microsOf(id) / DAY_MICROS) * DAY_MICROS)
const minimum = (...ids: Id[]) => ids.reduce((low, id) => (id < low ? id : low))
const maximum = (a: Id, b: Id) => (a > b ? a : b)
const countOf = (list: string | null) => (list ? list.split(',').length : 0)

function eventsOf(group: ReadGroup, oldest: Oldest | null): LoggedEvent[] {
  const floor = oldest?.[group.channel ?? 'job'] ?? LOWEST
  const subjects = group.subjects ? group.subjects.split(',') : []
  const took = group.took?.split(',')
  const delays = group.delays?.split(',')
  const times = group.times?.split(',')
  const events: LoggedEvent[] = []
  subjects.forEach((subject, at) => {
    if (subject < floor) return
    events.push(
      made(group, group.skipped + at, subject as Id, {
        took: numberOf(took?.[at]),
        delay: numberOf(delays?.[at]),
        time: times?.[at] || null,
      }),
    )
  })
  return events
}

const eventIn = (group: EventGroup, n: number): LoggedEvent =>
  made(group, n, group.subjects[n] as Id, {
    took: group.took?.[n] ?? null,
    delay: group.delays?.[n] ?? null,
    time: group.times?.[n] ?? null,
  })

const numberOf = (text: string | undefined) => (text ? Number(text) : null)

type Single = { took: number | null; delay: number | null; time: Timestamp | null }

const made = (
  group: Omit<EventGroup, 'service_id' | 'key_type' | 'subjects' | 'took' | 'delays' | 'times'>,
  n: number,
  subject: Id,
  { took, delay, time }: Single,
): LoggedEvent => ({
  id: eventId(group.id, n),
  position: { stamp: group.stamp, seq: group.seq, n },
  type: group.type,
  at: group.at,
  subject,
  channel: group.channel,
  cause: group.cause,
  provider: group.provider,
  response: group.response,
  detail: group.detail,
  uncertain: group.uncertain,
  took,
  nextAt: delay === null ? null : fromMicros(Math.round((Date.parse(zulu(group.at)) + delay * 1000) * 1000)),
  time,
  sealed: group.sealed,
  message: null,
  job: null,
})

/** Adds what the owners know about messages and jobs. */
async function describe(sql: Sql, events: readonly LoggedEvent[], whole: boolean): Promise<void> {
  const messages = [...new Set(events.filter(event => event.channel).map(event => event.subject))]
  const jobs = [...new Set(events.filter(event => !event.channel).map(event => event.subject))]
  const [ofMessages, ofJobs] = await Promise.all([
    messages.length === 0 ? [] : whole ? wholeDetails(sql, messages) : details(sql, messages),
    jobs.length === 0 ? [] : jobDetails(sql, jobs),
  ])
  const messageOf = new Map(ofMessages.map(one => [one.id, { ...WITHOUT, ...one }]))
  const jobOf = new Map(ofJobs.map(one => [one.id, one]))
  for (const event of events) {
    if (event.channel) event.message = messageOf.get(event.subject) ?? null
    else event.job = jobOf.get(event.subject) ?? null
  }
}

const WITHOUT = { sealed: null, sent_at: null, completed_at: null }
