// The jobs of a service as people look through them.
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { waitsInJob } from '../../notifications/sql/moved.ts'
import { type ShownJob, shown } from './read.ts'

/** What people see of a job: it is finished when none of its messages waits for its turn. */
export const SHOWN_STATUSES = [
  'scheduled',
  'waiting',
  'sending',
  'finished',
  'cancelled',
  'over-limit',
  'error',
] as const
export type ShownStatus = (typeof SHOWN_STATUSES)[number]

export type Browsing = {
  service: Id
  status: ShownStatus | null
  template: Id | null
  /** Made after this id. */
  since: Id | null
  from: { older: Id } | { newer: Id } | null
  size: number
}

/** How many jobs are looked at for one page that has a filter. */
export const EXAMINED = 5_000

/** Newest first; of a page of newer ones those that follow directly. */
export const browse = (sql: Sql, b: Browsing) => sql<ShownJob>`
  with found as materialized (
    select x.id
    from (${walk(b, isFiltered(b) ? EXAMINED : b.size)}) x
    where ${b.status === null ? part`true` : CONDITIONS[b.status]}
      and (${b.template}::uuid is null or x.template_id = ${b.template})
    order by x.id ${isNewer(b) ? part`asc` : part`desc`}
    limit ${b.size}
  )
  select ${shown}
  from jobs
  where id in (select id from found)
  order by id desc`

/** The last job that was looked at, if there may be more beyond it; null: there are none. */
export async function examinedTo(sql: Sql, b: Browsing): Promise<Id | null> {
  if (!isFiltered(b)) return null
  const [row] = await sql<{ id: Id | null }>`
    select ${isNewer(b) ? part`max(x.id::text)` : part`min(x.id::text)`} as id
    from (${walk(b, EXAMINED)}) x
    having count(*) = ${EXAMINED}`
  return row?.id ?? null
}

const isNewer = ({ from }: Browsing) => from !== null && 'newer' in from
const isFiltered = ({ status, template }: Browsing) => status !== null || template !== null

const walk = (b: Browsing, most: number): Part => part`
      select id, status, template_id, scheduled_for
      from jobs
      where service_id = ${b.service}
        and (${b.since}::uuid is null or id >= ${b.since})
        and ${b.from === null ? part`true` : 'newer' in b.from ? part`id > ${b.from.newer}` : part`id < ${b.from.older}`}
      order by id ${isNewer(b) ? part`asc` : part`desc`}
      limit ${most}`

const waits = waitsInJob(part`x.id`)
const CONDITIONS: Readonly<Record<ShownStatus, Part>> = {
  scheduled: part`x.status = 'pending' and x.scheduled_for > clock_timestamp()`,
  waiting: part`x.status = 'pending' and (x.scheduled_for is null or x.scheduled_for <= clock_timestamp())`,
  sending: part`(x.status = 'in progress' or (x.status = 'finished' and ${waits}))`,
  finished: part`x.status = 'finished' and not ${waits}`,
  cancelled: part`x.status = 'cancelled'`,
  'over-limit': part`x.status = 'sending limits exceeded'`,
  error: part`x.status = 'error'`,
}
