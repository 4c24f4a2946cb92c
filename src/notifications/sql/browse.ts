// The messages of a service as people look through them: of all keys and jobs, in any status, newest first.
import type { Channel } from '../../channels/plain.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import { isTemplateOf } from '../../templates/sql.ts'
import { FAILURES, isFinal, type Status } from '../status.ts'
import { LAST } from './bounds.ts'

export type BrowsedMessage = {
  id: Id
  channel: Channel
  key_type: KeyType
  key_id: Id | null
  job_id: Id | null
  status: Status
  failure_detail: string | null
  /** Who handed it over last. */
  provider: string | null
  reference: string | null
  template_id: Id
  template_version: number
  scheduled_for: Timestamp | null
  sent_at: Timestamp | null
  completed_at: Timestamp | null
  sealed: Buffer
}

export type Browsing = {
  service: Id
  keyTypes: readonly KeyType[]
  /** Each channel with the lowest id that is shown. */
  channels: readonly { channel: Channel; from: Id }[]
  /** Only ids below this one; null: all. */
  below: Id | null
  statuses: readonly Status[] | null
  /** Only messages that are due later than this. */
  dueAfter: Timestamp | null
  template: Id | null
  job: Id | null
  reference: string | null
  /** Digests of one recipient. */
  digests: readonly Buffer[] | null
  /** The page begins after this message: with older ones or, in the order of the index, with newer ones. */
  from: { older: Id } | { newer: Id } | null
  size: number
}

/**
 * How many messages one scan reads at most, where the index does not cover all filters. A page that is not full after them ends
 * there, and the next page goes on.
 */
export const EXAMINED = 5_000

/**
 * Newest first. As in `page` of read.ts each combination of equal columns is one ordered index scan, rows are fetched by lateral
 * subqueries with a limit, and only the indexes for such statements have the order `nulls last` (test/explain.test.ts). A scan ends
 * when it has a page of matches, or at its limit.
 */
export const browse = (sql: Sql, b: Browsing) => sql<BrowsedMessage>`
  with page as materialized (${idsOf(b)})
  select n.id, n.channel, n.key_type, n.key_id, n.job_id, s.status, s.failure_detail, s.provider, n.reference,
         n.template_id, n.template_version, n.scheduled_for, s.sent_at, s.completed_at, n.sealed
  from page
  cross join lateral (select * from notifications where id = page.id limit 1) n
  cross join lateral (select * from states where id = page.id limit 1) s
  order by page.id desc`

/** The ids of a page. */
export const idsOf = (b: Browsing): Part => part`
    select w.id
    from (${scansOf(b)
      .map(scan => matches(b, scan))
      .reduce((all, one) => part`${all} union all ${one}`)}) w
    order by w.id ${isNewer(b) ? part`asc` : part`desc`}
    limit ${b.size}`

/** How far a page that is not full has looked, if a scan was ended by its limit; null: to the end. */
export async function examinedTo(sql: Sql, b: Browsing): Promise<Id | null> {
  const scans = scansOf(b).filter(scan => mostOf(b, scan) === EXAMINED)
  if (scans.length === 0) return null
  const [row] = await sql<{ id: Id | null }>`
    select ${isNewer(b) ? part`min(reached.id)` : part`max(reached.id)`}::uuid as id
    from (${scans.map(scan => ends(b, scan)).reduce((all, one) => part`${all} union all ${one}`)}) reached`
  return row?.id ?? null
}

/**
 * `each` has a row c for each scan, `walk` reads an index in order, `filter` is what the index does not cover (rows x).
 * `isLoose`: nearly all rows pass the filter. `order`: of the index, unless it is that of ids.
 */
type Scan = { each: Part; walk(most: number): Part; filter: Part | null; isLoose?: boolean; order?: Part }

const mostOf = (b: Browsing, { filter, isLoose = false }: Scan) => (filter === null || isLoose ? b.size : EXAMINED)

const matches = (b: Browsing, scan: Scan): Part => part`
      select m.id
      from ${scan.each}
      cross join lateral (
        select x.id
        from (${scan.walk(mostOf(b, scan))}) x
        where ${scan.filter ?? part`true`}
        order by ${scan.order ?? inOrder(b, part`x.id`)}
        limit ${b.size}
      ) m
      where m.id >= c.floor${b.below === null ? part`` : part` and m.id < ${b.below}`}`

const ends = (b: Browsing, { each, walk }: Scan): Part => part`
      select e.id
      from ${each}
      cross join lateral (
        select ${isNewer(b) ? part`max(x.id::text)` : part`min(x.id::text)`} as id
        from (${walk(EXAMINED)}) x
        having count(*) = ${EXAMINED}
      ) e`

const isFailure = (status: Status) => FAILURES.some(one => one === status)

/** Which index is walked. */
function scansOf(b: Browsing): Scan[] {
  if (b.digests !== null) return [ofRecipient(b, b.digests)]
  if (b.reference !== null) return [withReference(b, b.reference)]
  if (b.template !== null && b.job === null) {
    const isFailed = b.statuses?.every(status => isFailure(status)) ?? false
    if (isFailed) return [failedOf(b, b.template), failedBefore(b, b.template)]
    // Few messages are in transit at a time, and many of a template are not.
    return [b.statuses?.every(status => !isFinal(status)) ? withStatus(b, b.statuses) : ofTemplate(b, b.template)]
  }
  return [b.statuses !== null ? withStatus(b, b.statuses) : listed(b)]
}

const isNewer = ({ from }: Browsing): boolean => from !== null && 'newer' in from

/** Where the scan of a channel with this floor starts. The floor has only zeros after its time: no message has that id. */
function startOf({ from, below }: Browsing, floor: Id): Id {
  if (from !== null && 'newer' in from) return from.newer > floor ? from.newer : floor
  const older = from?.older ?? LAST
  return below !== null && below < older ? below : older
}

const lowest = (ids: readonly Id[]): Id => ids.reduce((a, one) => (one < a ? one : a), LAST)

const eachChannel = (b: Browsing): Part =>
  part`unnest(${b.channels.map(one => one.channel)}::text[], ${b.channels.map(one => startOf(b, one.from))}::uuid[],
              ${b.channels.map(one => one.from)}::uuid[]) as c (channel, start, floor)`

/** Over all channels together. */
const together = (b: Browsing): Part => {
  const floor = lowest(b.channels.map(one => one.from))
  return part`(select ${startOf(b, floor)}::uuid as start, ${floor}::uuid as floor) c`
}

/** The same, unless the template is another service's: without this a walk would pass all its messages to find none. */
const ownedBy = (b: Browsing, template: Id): Part =>
  part`(select * from ${together(b)} where ${isTemplateOf(b.service, template)}) c`

const beyond = (b: Browsing, id: Part): Part => (isNewer(b) ? part`${id} > c.start` : part`${id} < c.start`)
const inOrder = (b: Browsing, id: Part): Part =>
  isNewer(b) ? part`${id} asc nulls first` : part`${id} desc nulls last`

const columns = part`n.id, n.service_id, n.channel, n.key_type, n.template_id, n.job_id, n.scheduled_for`

const listed = (b: Browsing): Scan => ({
  each: part`${eachChannel(b)}
      cross join unnest(${b.keyTypes}::text[]) as k (key_type)
      cross join unnest(${b.job === null ? [false, true] : [true]}::boolean[]) as j (in_job)`,
  walk: most => part`
        select ${columns}
        from notifications n
        where n.service_id = ${b.service}
          and n.key_type = k.key_type
          and n.channel = c.channel
          and n.in_job = j.in_job
          and ${beyond(b, part`n.id`)}
        order by ${inOrder(b, part`n.id`)}
        limit ${most}`,
  filter: allOf([ofJob(b), b.template === null ? null : part`x.template_id = ${b.template}`]),
})

const withStatus = (b: Browsing, statuses: readonly Status[]): Scan => ({
  each: part`${eachChannel(b)}
      cross join unnest(${b.keyTypes}::text[]) as k (key_type)
      cross join unnest(${b.job !== null ? [true] : b.dueAfter !== null ? [false] : [false, true]}::boolean[]) as j (in_job)
      cross join unnest(${statuses}::text[]) as t (status)`,
  walk: most => part`
        select s.id, s.job_id, s.template_id
        from states s
        where s.service_id = ${b.service}
          and s.key_type = k.key_type
          and s.channel = c.channel
          and s.in_job = j.in_job
          and s.status = t.status
          and ${beyond(b, part`s.id`)}
        order by ${inOrder(b, part`s.id`)}
        limit ${most}`,
  filter: allOf([
    ofJob(b),
    // States of the version before have no template.
    b.template === null
      ? null
      : part`coalesce(x.template_id, (select n.template_id from notifications n where n.id = x.id)) = ${b.template}`,
    isDueLater(b),
  ]),
})

const ofTemplate = (b: Browsing, template: Id): Scan => ({
  each: ownedBy(b, template),
  walk: most => part`
        select ${columns}
        from notifications n
        where n.service_id = ${b.service}
          and n.template_id = ${template}
          and ${beyond(b, part`n.id`)}
        order by ${inOrder(b, part`n.id`)}
        limit ${most}`,
  filter: allOf([...common(b), hasStatus(b), isDueLater(b)]),
})

/** The same condition as that of the index. */
const failed = part`s.status in ('permanent-failure', 'temporary-failure', 'technical-failure', 'virus-scan-failed')`

const failedOf = (b: Browsing, template: Id): Scan => ({
  each: part`${ownedBy(b, template)} cross join unnest(${b.statuses}::text[]) as t (status)`,
  walk: most => part`
        select s.id, s.service_id, s.channel, s.key_type
        from states s
        where s.service_id = ${b.service}
          and s.template_id = ${template}
          and s.status = t.status
          and ${failed}
          and ${beyond(b, part`s.id`)}
        order by ${inOrder(b, part`s.id`)}
        limit ${most}`,
  filter: allOf(common(b)),
})

/** States that the version before has written have no template. */
const failedBefore = (b: Browsing, template: Id): Scan => ({
  each: part`${ownedBy(b, template)} cross join unnest(${b.statuses}::text[]) as t (status)`,
  walk: most => part`
        select s.id, s.service_id, s.channel, s.key_type
        from states s
        where s.service_id = ${b.service}
          and s.template_id is null
          and s.status = t.status
          and ${failed}
          and ${beyond(b, part`s.id`)}
        order by ${inOrder(b, part`s.id`)}
        limit ${most}`,
  filter: allOf([...common(b), part`(select n.template_id from notifications n where n.id = x.id) = ${template}`]),
})

const withReference = (b: Browsing, reference: string): Scan => ({
  each: part`${together(b)} cross join unnest(${b.keyTypes}::text[]) as k (key_type)`,
  walk: most => part`
        select ${columns}
        from notifications n
        where n.service_id = ${b.service}
          and n.key_type = k.key_type
          and md5(n.reference) = md5(${reference})
          and n.reference = ${reference}
          and ${beyond(b, part`n.id`)}
        order by ${inOrder(b, part`n.id`)}
        limit ${most}`,
  filter: allOf([...common(b), ...others(b)]),
  isLoose: allOf(others(b)) === null,
})

/** Written as a range, as in find.ts: of an equality the planner expects a single message. */
const ofRecipient = (b: Browsing, digests: readonly Buffer[]): Scan => ({
  each: part`${together(b)}
      cross join unnest(${digests.map(one => `\\x${one.toString('hex')}`)}::bytea[]) as d (digest)`,
  walk: most => part`
        select ${columns}, n.recipient_digest
        from notifications n
        where n.service_id = ${b.service}
          and ${
            isNewer(b)
              ? part`n.recipient_digest <= d.digest and (n.recipient_digest, n.id) > (d.digest, c.start)`
              : part`n.recipient_digest >= d.digest and (n.recipient_digest, n.id) < (d.digest, c.start)`
          }
        order by ${digestOrder(b, part`n`)}
        limit ${most}`,
  filter: allOf([...common(b), ...others(b)]),
  isLoose: allOf(others(b)) === null,
  order: digestOrder(b, part`x`),
})

const digestOrder = (b: Browsing, row: Part): Part =>
  isNewer(b)
    ? part`${row}.recipient_digest asc nulls last, ${row}.id asc nulls first`
    : part`${row}.recipient_digest desc nulls first, ${row}.id desc nulls last`

const common = (b: Browsing): Part[] => [
  part`x.service_id = ${b.service}`,
  part`x.key_type = any (${b.keyTypes}::text[])`,
  part`exists (select from unnest(${b.channels.map(one => one.channel)}::text[], ${b.channels.map(one => one.from)}::uuid[])
                 as f (channel, floor)
               where x.channel = f.channel and x.id >= f.floor)`,
]

const others = (b: Browsing): (Part | null)[] => [
  ofJob(b),
  b.template === null ? null : part`x.template_id = ${b.template}`,
  hasStatus(b),
  isDueLater(b),
]

const ofJob = (b: Browsing): Part | null => (b.job === null ? null : part`x.job_id = ${b.job}`)
const hasStatus = (b: Browsing): Part | null =>
  b.statuses === null ? null : part`(select s.status from states s where s.id = x.id) = any (${b.statuses}::text[])`
const isDueLater = (b: Browsing): Part | null =>
  b.dueAfter === null
    ? null
    : part`(select n.scheduled_for from notifications n where n.id = x.id) > ${b.dueAfter}::timestamptz`

function allOf(conditions: readonly (Part | null)[]): Part | null {
  const given = conditions.filter(one => one !== null)
  return given.length === 0 ? null : given.reduce((all, one) => part`${all} and ${one}`)
}
