// What happened to each row of a job, in the order of its file, as CSV or as lines of JSON. Streamed: a page in memory.
import { may, type PersonActor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Job } from '../bulk/job.ts'
import { type JobRow, type JobRowsApp, jobRows } from '../bulk/job-rows.ts'
import { refuse } from '../bulk/refusals.ts'
import { find } from '../bulk/sql/read.ts'
import { zulu } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { describe, FAILURES } from '../notifications/status.ts'
import type { Service } from '../services/service.ts'
import type { ReportFormat } from './lines.ts'
import { meaningOf } from './reply.ts'

/** The names of the columns. `recipient` is left out for those who may not have it. */
const HEADER = [
  'row',
  'recipient',
  'reference',
  'status',
  'status_description',
  'status_at',
  'reason',
  'notification_id',
] as const
type ReportRow = Partial<Record<(typeof HEADER)[number], string | number | null>>

/** For a caller of the interface, who may read every message. */
export async function jobReport(
  app: JobRowsApp,
  service: Service,
  id: Id,
  format: ReportFormat,
): Promise<AsyncGenerator<string>> {
  const job = await find(app.db.sql, service.id, id)
  if (!job) throw refuse.notFound()
  return pages(app, service, job, format, { withRecipients: true })
}

/** For a person; recorded with the number of rows. */
export async function* jobReportAs(
  app: JobRowsApp,
  actor: PersonActor,
  service: Service,
  job: Job,
): AsyncGenerator<string> {
  requirePermission(actor, 'see-messages', service.id)
  const withRecipients = may(actor, 'export-recipients', service.id)
  let messages = 0
  try {
    yield* pages(app, service, job, 'csv', { withRecipients, onRows: rows => (messages += rows) })
  } finally {
    // Also when the download ends early: these rows were on their way.
    await record(app.db.sql, 'messages exported', actor, service.id, job.id, { messages, recipients: withRecipients })
  }
}

async function* pages(
  app: JobRowsApp,
  service: Service,
  job: Job,
  format: ReportFormat,
  { withRecipients, onRows }: { withRecipients: boolean; onRows?(rows: number): void },
): AsyncGenerator<string> {
  const names = HEADER.filter(name => withRecipients || name !== 'recipient')
  const write =
    format === 'csv'
      ? (row: ReportRow) => `${csvRow(names.map(name => row[name] ?? null))}\r\n`
      : (row: ReportRow) => `${JSON.stringify(row)}\n`
  if (format === 'csv') yield `${csvRow(names)}\r\n`
  for await (const rows of jobRows(app, service, job, { withPersonal: withRecipients })) {
    onRows?.(rows.length)
    yield rows.map(row => write(reported(app.seal, job, row, withRecipients))).join('')
  }
}

const reported = (seal: Seal, { channel }: Job, row: JobRow, withRecipients: boolean): ReportRow => ({
  row: row.row,
  ...(withRecipients && { recipient: row.personal?.to ?? null }),
  reference: row.reference,
  status: row.status,
  status_description: describe(row.status, channel, row.state?.failure_detail ?? null),
  status_at: zulu(row.statusAt),
  reason: reasonOf(seal, channel, row),
  notification_id: row.id,
})

/** Why it failed; null: it did not, or nobody said. */
function reasonOf(seal: Seal, channel: Job['channel'], { status, state }: JobRow): string | null {
  if (!state || !FAILURES.some(one => one === status)) return null
  const reply = state.diagnosis && seal.open(state.diagnosis).toString('utf8')
  return meaningOf(channel, reply, state.failure_detail, state.provider_response)?.is ?? null
}
