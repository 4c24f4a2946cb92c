// Jobs of a period as a table, newest first. Streamed: a page in memory.
import { page, type ShownJob } from '../bulk/sql/read.ts'
import { fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Reads } from '../limits/reads.ts'
import { FAILURES } from '../notifications/status.ts'
import type { Service } from '../services/service.ts'
import { headOf, type ReportFormat, type ReportRow, writerOf } from '../timeline/lines.ts'
import type { Period } from './period.ts'

export const JOB_COLUMNS = [
  'id',
  'name',
  'type',
  'status',
  'template_id',
  'template_version',
  'key_type',
  'messages',
  'delivered',
  'failed',
  'in_transit',
  'cancelled',
  'created_at',
  'scheduled_for',
  'processing_started',
  'processing_finished',
] as const

type App = { db: { sql: Sql }; reads: Pick<Reads, 'giveWay'> }

const PAGE = 250

/** Jobs of all keys of the service, as in `GET /v2/notifications/bulk`. */
export async function* reportJobs(
  app: App,
  service: Service,
  { since, until }: Period,
  format: ReportFormat,
): AsyncGenerator<string> {
  const write = writerOf(JOB_COLUMNS, format)
  const lowest = floorOf(since)
  yield headOf(JOB_COLUMNS, format)
  for (let before: Id = floorOf(until); ; ) {
    const jobs = await page(app.db.sql, service.id, before, PAGE)
    const wanted = jobs.filter(job => job.id >= lowest)
    if (wanted.length > 0) yield wanted.map(job => write(reported(job))).join('')
    const last = jobs.at(-1)
    if (!last || jobs.length < PAGE || wanted.length < jobs.length) return
    before = last.id
    await app.reads.giveWay()
  }
}

const time = (at: Timestamp | null) => at && zulu(at)
const isFailure = (status: string) => FAILURES.some(one => one === status)

function reported(job: ShownJob): ReportRow {
  const sum = (isCounted: (status: string) => boolean) =>
    job.counts.reduce((all, { status, count }) => (isCounted(status) ? all + count : all), 0)
  const [delivered, failed, cancelled] = [
    sum(status => status === 'delivered' || status === 'sent'),
    sum(isFailure),
    job.status === 'cancelled' ? job.notification_count : sum(status => status === 'cancelled'),
  ]
  return {
    id: job.id,
    name: job.name,
    type: job.channel,
    status: job.status,
    template_id: job.template_id,
    template_version: job.template_version,
    key_type: job.key_type,
    messages: job.notification_count,
    delivered,
    failed,
    in_transit: Math.max(0, job.notification_count - delivered - failed - cancelled),
    cancelled,
    created_at: zulu(fromMicros(microsOf(job.id))),
    scheduled_for: time(job.scheduled_for),
    processing_started: time(job.processing_started),
    processing_finished: time(job.processing_finished),
  }
}
