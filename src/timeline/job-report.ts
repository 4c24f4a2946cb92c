// What happened to each row of a job, in the order of its file, as CSV or as lines of JSON. Streamed: a page is read while the one before
// is written in the report thread.
import { may, type PersonActor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Job } from '../bulk/job.ts'
import { acceptedAt, type JobRowsApp, jobPieces, waitingRow } from '../bulk/job-rows.ts'
import { refuse } from '../bulk/refusals.ts'
import { find } from '../bulk/sql/read.ts'
import type { Id } from '../core/id.ts'
import { type JobLinesPage, readJobLines } from '../notifications/sql/lines.ts'
import type { JobScope } from '../notifications/sql/of-job.ts'
import type { Service } from '../services/service.ts'
import { ahead } from './ahead.ts'
import { jobColumns, jobWriter, reportedRow, type ShownJobRows } from './job-lines.ts'
import { headOf, type ReportFormat } from './lines.ts'
import { PAGE, PAGE_BYTES } from './pages.ts'
import type { ReportThread } from './thread.ts'

export type JobReportApp = JobRowsApp & { reportThread: Pick<ReportThread, 'job'> }

/** For a caller of the interface, who may read every message. */
export async function jobReport(
  app: JobReportApp,
  service: Service,
  id: Id,
  format: ReportFormat,
): Promise<AsyncGenerator<string | Uint8Array>> {
  const job = await find(app.db.sql, service.id, id)
  if (!job) throw refuse.notFound()
  return pages(app, service, job, format, { withRecipients: true })
}

/** For a person; recorded with the number of rows. */
export async function* jobReportAs(
  app: JobReportApp,
  actor: PersonActor,
  service: Service,
  job: Job,
): AsyncGenerator<string | Uint8Array> {
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
  app: JobReportApp,
  service: Service,
  job: Job,
  format: ReportFormat,
  { withRecipients, onRows = () => {} }: { withRecipients: boolean; onRows?(rows: number): void },
): AsyncGenerator<string | Uint8Array> {
  const shown = { channel: job.channel, acceptedAt: acceptedAt(job), withRecipients, format }
  yield headOf(jobColumns(withRecipients), format)
  const write = jobWriter(shown)
  for await (const piece of jobPieces(app, service, job))
    if (piece.kind === 'messages') {
      for await (const page of ahead(written(app, ahead(linesOf(app, piece.scope)), shown))) {
        onRows(page.rows)
        yield page.text
      }
    } else {
      onRows(piece.rows.length)
      yield piece.rows.map(row => write(reportedRow(app.seal, shown, waitingRow(row, job, withRecipients)))).join('')
    }
}

async function* linesOf(app: JobReportApp, scope: JobScope): AsyncGenerator<JobLinesPage> {
  for (let after: Id | null = scope.after; after !== null; ) {
    const page: JobLinesPage = await readJobLines(app.db.sql, { ...scope, after }, PAGE, PAGE_BYTES)
    if (page.taken > 0) yield page
    after = page.last
    await app.reads.giveWay()
  }
}

async function* written(
  { reportThread }: Pick<JobReportApp, 'reportThread'>,
  lines: AsyncGenerator<JobLinesPage>,
  shown: ShownJobRows,
): AsyncGenerator<{ rows: number; text: Uint8Array }> {
  for await (const { taken, messages, states } of lines)
    yield { rows: taken, text: await reportThread.job({ ...shown, messages, states }) }
}
