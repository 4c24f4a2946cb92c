// People look through the messages of their service: of all keys and jobs, newest first, within the retention period.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { idsOfJob } from '../bulk/job.ts'
import { find as findJob, details as jobDetails } from '../bulk/sql/read.ts'
import { type Channel, type Compiled, channelNames } from '../channels/index.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { KEY_TYPES, type KeyType } from '../keys/key.ts'
import { namesOf as keyNames } from '../keys/sql.ts'
import type { Reads } from '../limits/reads.ts'
import { openPersonal, type Personal } from '../notifications/notification.ts'
import { oldestKept } from '../notifications/read.ts'
import { type BrowsedMessage, type Browsing, examinedTo, browse as readPage } from '../notifications/sql/browse.ts'
import { describe, FAILURES, isScheduledAt, type Status } from '../notifications/status.ts'
import type { Service } from '../services/service.ts'
import type { Templates } from '../templates/cache.ts'
import { namesOf as templateNames } from '../templates/sql.ts'

export type BrowseApp = {
  db: { sql: Sql }
  clock: Clock
  seal: Seal
  templates: Templates
  reads: Pick<Reads, 'giveWay'>
}

/** Groups of statuses, and each status alone. */
export const STATUS_FILTERS = {
  'in-transit': ['created', 'pending-virus-check', 'sending', 'pending'],
  delivered: ['delivered', 'sent'],
  failed: FAILURES,
  scheduled: ['created', 'pending-virus-check'],
  cancelled: ['cancelled'],
  created: ['created'],
  'pending-virus-check': ['pending-virus-check'],
  sending: ['sending'],
  pending: ['pending'],
  sent: ['sent'],
  'permanent-failure': ['permanent-failure'],
  'temporary-failure': ['temporary-failure'],
  'technical-failure': ['technical-failure'],
  'virus-scan-failed': ['virus-scan-failed'],
} as const satisfies Record<string, readonly Status[]>
export type StatusFilter = keyof typeof STATUS_FILTERS

export type Filters = {
  status: StatusFilter | null
  channel: Channel | null
  template: Id | null
  job: Id | null
  keyType: KeyType | null
  /** Accepted at this time or later, and before that one: microseconds since 1970. */
  since: number | null
  until: number | null
  reference: string | null
  /** Keyed digests of one recipient. */
  digests: readonly Buffer[] | null
}

export const NO_FILTERS: Filters = {
  ...{ status: null, channel: null, template: null, job: null, keyType: null },
  ...{ since: null, until: null, reference: null, digests: null },
}

export type Cursor = Browsing['from']

export type ListedMessage = Omit<BrowsedMessage, 'sealed' | 'key_id'> & {
  created_at: Timestamp
  isScheduled: boolean
  to: string
  /** The subject, or the text of a text message. */
  title: string
  template_name: string
  job_name: string | null
  /** The person who sent it by hand; else the name of the key. */
  person: string | null
  key_name: string | null
}

export type MessagesPage = {
  messages: ListedMessage[]
  /** Where the next and the previous page begin; null: there is none. */
  older: Id | null
  newer: Id | null
  /** The page is not full because it takes long to find messages that match; older ones may follow. */
  isPartial: boolean
}

export const PAGE = 50
/** Opening and rendering a page yields the event loop after this time. */
const TURN_MS = 2

export async function browse(
  app: BrowseApp,
  actor: PersonActor,
  service: Service,
  filters: Filters,
  from: Cursor,
): Promise<MessagesPage> {
  requirePermission(actor, 'see-messages', service.id)
  const browsing = await browsingOf(app, service, filters, from, PAGE + 1)
  const page = browsing ? await pageOf(app, browsing) : NOTHING
  await app.templates.warm(page.rows)
  const names = await namesFor(app, page.rows)
  const messages: ListedMessage[] = []
  let turn = performance.now()
  for (const row of page.rows) {
    const version = await app.templates.version(row.template_id, row.template_version)
    messages.push(listedMessage(app, row, openPersonal(app.seal, row.sealed), version, names))
    if (performance.now() - turn < TURN_MS) continue
    await app.reads.giveWay()
    turn = performance.now()
  }
  return { messages, older: page.older, newer: page.newer, isPartial: page.isPartial }
}

/** How many messages are newer than this one; `PAGE` and more are not counted on. */
export async function countNewer(
  app: BrowseApp,
  actor: PersonActor,
  service: Service,
  filters: Filters,
  than: Id | null,
): Promise<number> {
  requirePermission(actor, 'see-messages', service.id)
  const from = { newer: than ?? lowestKept(app.clock, service) }
  const browsing = await browsingOf(app, service, filters, from, PAGE)
  return browsing === null ? 0 : (await readPage(app.db.sql, browsing)).length
}

type Rows = { rows: BrowsedMessage[]; older: Id | null; newer: Id | null; isPartial: boolean }
const NOTHING: Rows = { rows: [], older: null, newer: null, isPartial: false }

/**
 * `browsing.size` is one more than a page has. A scan that was ended by its limit has not seen what comes after it, although others may
 * have filled the page: the page ends where the first of them was ended, and the next page goes on there.
 */
async function pageOf({ db }: Pick<BrowseApp, 'db'>, browsing: Browsing): Promise<Rows> {
  const { from, size } = browsing
  const isNewer = from !== null && 'newer' in from
  const found = await readPage(db.sql, browsing)
  const isFull = found.length === size
  const whole = !isFull ? found : isNewer ? found.slice(1) : found.slice(0, -1)
  const reached = await examinedTo(db.sql, browsing)
  const rows = reached === null ? whole : whole.filter(row => (isNewer ? row.id <= reached : row.id >= reached))
  const isPartial = reached !== null && (!isFull || rows.length < whole.length)
  const [first, last] = [rows.at(0)?.id ?? null, rows.at(-1)?.id ?? null]
  if (isNewer)
    return {
      rows,
      older: last ?? nextId(from.newer),
      newer: isPartial ? reached : isFull ? first : null,
      isPartial,
    }
  return {
    rows,
    older: isPartial ? reached : isFull ? last : null,
    newer: from === null ? null : (first ?? from.older),
    isPartial,
  }
}

/** Older than this are the message itself and those before it. */
const nextId = (id: Id): Id =>
  `${id.slice(0, -1)}${id.endsWith('f') ? 'f' : (Number.parseInt(id.slice(-1), 16) + 1).toString(16)}` as Id

/** Null: nothing can match. */
export async function browsingOf(
  { db, clock }: Pick<BrowseApp, 'db' | 'clock'>,
  service: Service,
  filters: Filters,
  from: Cursor,
  size: number,
): Promise<Browsing | null> {
  const { job: jobId } = filters
  const job = jobId === null ? null : await findJob(db.sql, service.id, jobId)
  if (jobId !== null && !job) return null
  if (job && filters.template !== null && job.template_id !== filters.template) return null
  const ids = job && idsOfJob(job)
  const floors = [filters.since === null ? null : floorOf(filters.since), ids?.from].filter(one => one != null)
  const ceilings = [filters.until === null ? null : floorOf(filters.until), ids?.below].filter(one => one != null)
  const channels = channelNames.filter(one => one === (filters.channel ?? one) && one === (job?.channel ?? one))
  const keyTypes = KEY_TYPES.filter(one => one === (filters.keyType ?? one) && one === (job?.key_type ?? one))
  if (channels.length === 0 || keyTypes.length === 0) return null
  return {
    service: service.id,
    keyTypes,
    channels: channels.map(channel => ({ channel, from: highest([oldestKept(clock, service, channel), ...floors]) })),
    below: ceilings.length === 0 ? null : lowest(ceilings),
    statuses: filters.status && STATUS_FILTERS[filters.status],
    dueAfter: filters.status === 'scheduled' ? fromMicros(clock.micros()) : null,
    template: filters.template,
    job: jobId,
    reference: filters.reference,
    digests: filters.digests,
    from,
    size,
  }
}

const highest = (ids: readonly Id[]) => ids.reduce((a, b) => (b > a ? b : a))
const lowest = (ids: readonly Id[]) => ids.reduce((a, b) => (b < a ? b : a))

const lowestKept = (clock: Clock, service: Service) =>
  lowest(channelNames.map(channel => oldestKept(clock, service, channel)))

type Names = {
  templates: ReadonlyMap<string, string>
  keys: ReadonlyMap<Id, string>
  jobs: ReadonlyMap<Id, string>
}

async function namesFor({ db: { sql } }: Pick<BrowseApp, 'db'>, rows: readonly BrowsedMessage[]): Promise<Names> {
  const unique = (ids: readonly (Id | null)[]) => [...new Set(ids.filter(one => one !== null))]
  const [keyIds, jobIds] = [unique(rows.map(row => row.key_id)), unique(rows.map(row => row.job_id))]
  const [templates, keys, jobs] = await Promise.all([
    rows.length === 0 ? new Map<string, string>() : templateNames(sql, rows),
    keyIds.length === 0 ? new Map<Id, string>() : keyNames(sql, keyIds),
    jobIds.length === 0 ? [] : jobDetails(sql, jobIds),
  ])
  return { templates, keys, jobs: new Map(jobs.map(job => [job.id, job.name])) }
}

const namesOf = (row: BrowsedMessage, { by }: Personal, names: Names) => ({
  template_name: names.templates.get(`${row.template_id}/${row.template_version}`) ?? '',
  job_name: row.job_id && (names.jobs.get(row.job_id) ?? row.job_id),
  person: by ?? null,
  key_name: row.key_id && (names.keys.get(row.key_id) ?? null),
})

const LONGEST_TITLE = 120

function shortened(text: string): string {
  const characters = [...text.slice(0, 4 * LONGEST_TITLE)]
  return characters.length > LONGEST_TITLE ? `${characters.slice(0, LONGEST_TITLE).join('')}…` : text
}

function listedMessage(
  { clock }: Pick<BrowseApp, 'clock'>,
  { sealed: _, key_id: __, ...row }: BrowsedMessage,
  personal: Personal,
  version: Compiled,
  names: Names,
): ListedMessage {
  const { subject, body }: { body: string; subject?: string } = version.stored(personal.values)
  return {
    ...row,
    ...namesOf({ ...row, sealed: _, key_id: __ }, personal, names),
    created_at: fromMicros(microsOf(row.id)),
    isScheduled: isScheduledAt(row, clock.now()),
    to: personal.to,
    title: shortened(subject ?? body),
  }
}

/** A message as a row of a table for other programs. */
export type ExportedMessage = Omit<ListedMessage, 'title' | 'to'> & {
  to: string | null
  description: string
}

const EXPORT_PAGE = 500

/** All that match, newest first, a page at a time. `to` is null unless asked for. */
export async function* everyMessage(
  app: BrowseApp,
  service: Service,
  filters: Filters,
  { withRecipients }: { withRecipients: boolean },
): AsyncGenerator<ExportedMessage[]> {
  for (let from: Cursor = null; ; ) {
    const browsing = await browsingOf(app, service, filters, from, EXPORT_PAGE + 1)
    if (!browsing) return
    const { rows, older } = await pageOf(app, browsing)
    const names = await namesFor(app, rows)
    const exported: ExportedMessage[] = []
    let turn = performance.now()
    for (const row of rows) {
      const { sealed, key_id: _, ...shown } = row
      const personal = openPersonal(app.seal, sealed)
      exported.push({
        ...shown,
        ...namesOf(row, personal, names),
        created_at: fromMicros(microsOf(row.id)),
        isScheduled: isScheduledAt(row, app.clock.now()),
        to: withRecipients ? personal.to : null,
        description: describe(row.status, row.channel, row.failure_detail),
      })
      if (performance.now() - turn < TURN_MS) continue
      await app.reads.giveWay()
      turn = performance.now()
    }
    yield exported
    if (older === null) return
    from = { older }
    await app.reads.giveWay()
  }
}
