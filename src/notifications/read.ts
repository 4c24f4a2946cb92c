import { type Channel, channelNames } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id, isTimed, microsOf, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Caller } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import { retentionDays, type Service } from '../services/service.ts'
import type { Templates } from '../templates/cache.ts'
import { presentNotification } from './present.ts'
import { refuse } from './refusals.ts'
import type { ListQuery } from './schemas.ts'
import { exists, find, page } from './sql/read.ts'
import { statusesOf } from './status.ts'

type App = { sql: Sql; clock: Clock; seal: Seal; templates: Templates; reads: Pick<Reads, 'giveWay'> }

const PAGE = 250
const DAY_MICROS = 86_400_000_000

/** Any key of the service may read any of its messages within the retention period. */
export async function read(app: App, service: Service, id: Id) {
  const found = await find(app.sql, service.id, id)
  if (!found || isExpired(app.clock, service, found)) throw refuse.notFound()
  return presentNotification(app.seal, found, await app.templates.version(found.template_id, found.template_version))
}

/**
 * The most characters of JSON in one page, and bytes of sealed values read for it: 250 e-mails of 16,000 characters. A larger page
 * ends early, after at least one message, and the next page continues there.
 */
const PAGE_CHARACTERS = 4_000_000
const PAGE_BYTES = 16 * 1024 * 1024
/** Rendering a page yields the event loop after this time. */
const TURN_MS = 2

/** `json` has one text per message. */
export type ListPage = { json: string[]; last: Id | null }

/** A page of messages made by keys of the caller's type, newest first. */
export async function list(app: App, { service, key }: Caller, query: ListQuery): Promise<ListPage> {
  const olderThan = query.older_than === undefined ? null : readId(query.older_than)
  const channels: readonly Channel[] = query.template_type ?? channelNames
  if (olderThan && !(await exists(app.sql, service.id, olderThan))) {
    // An expired message is not found, like one that never existed; but its id tells when it was created.
    if (isTimed(olderThan) && microsOf(olderThan) < windowStart(app.clock, service)) return { json: [], last: null }
    throw refuse.notFound()
  }
  const found = await page(app.sql, {
    service: service.id,
    keyType: key.key_type,
    channels: [...new Set(channels)].map(channel => ({ channel, from: oldestKept(app.clock, service, channel) })),
    inJob: query.include_jobs?.toLowerCase() === 'true' ? [false, true] : [false],
    statuses: query.status ? statusesOf(query.status) : null,
    reference: query.reference ?? null,
    olderThan,
    size: PAGE,
    bytes: PAGE_BYTES,
  })
  await app.templates.warm(found)
  const shown: ListPage = { json: [], last: null }
  let characters = 0
  let turn = performance.now()
  for (const one of found) {
    const version = await app.templates.version(one.template_id, one.template_version)
    const json = JSON.stringify(presentNotification(app.seal, one, version))
    characters += json.length
    if (characters > PAGE_CHARACTERS && shown.last !== null) break
    shown.json.push(json)
    shown.last = one.id
    if (performance.now() - turn < TURN_MS) continue
    await app.reads.giveWay()
    turn = performance.now()
  }
  return shown
}

/** Whether its retention period has ended; it may be deleted later. */
export const isExpired = (clock: Clock, service: Service, { id, channel }: { id: Id; channel: Channel }) =>
  id < oldestKept(clock, service, channel)

/** The lowest id within the retention period at this moment; expired rows may be deleted later. */
export const oldestKept = (clock: Clock, service: Service, channel: Channel) =>
  floorOf(clock.micros() - retentionDays(service, channel) * DAY_MICROS)

const windowStart = (clock: Clock, service: Service) =>
  clock.micros() - Math.min(...channelNames.map(channel => retentionDays(service, channel))) * DAY_MICROS
