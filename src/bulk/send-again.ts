// A person sends the messages of a job that failed for a time again: a new job with the same recipients and values, by the template
// as it is now. The checks and limits are those of any job. Each row is sent again once: the rows are marked in the transaction that
// stores the new job.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Reads } from '../limits/reads.ts'
import { openPersonal } from '../notifications/notification.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { failedForATime, type RowOfJob, rowsFailedForATime } from '../notifications/sql/of-job.ts'
import type { Services } from '../services/load.ts'
import type { Service } from '../services/service.ts'
import { accept, type BulkApp } from './accept.ts'
import { cellsOf, headersOf } from './file.ts'
import type { Job } from './job.ts'
import { scopeOf } from './job-rows.ts'
import { refuse } from './refusals.ts'
import { fileOf, repeat, repeatsOf } from './sql/rows.ts'

export type SendAgainApp = BulkApp & { services: Services; reads: Pick<Reads, 'giveWay'> }

/** How many messages failed for a time and were not sent again yet, and the jobs that repeat others of this one. */
export async function repeatable(
  app: Pick<SendAgainApp, 'clock'> & { db: { sql: Sql } },
  actor: PersonActor,
  service: Service,
  job: Job & { counts: readonly { status: string; count: number }[] },
): Promise<{ messages: number; repeats: { id: Id; name: string; notification_count: number }[] }> {
  requirePermission(actor, 'see-messages', service.id)
  const { sql } = app.db
  const failed = job.counts.find(({ status }) => status === 'temporary-failure')?.count ?? 0
  const [repeats, { repeated }] = await Promise.all([repeatsOf(sql, job.id), fileOf(sql, job.id)])
  if (failed === 0) return { messages: 0, repeats }
  const rows = await rowsFailedForATime(sql, scopeOf(app, service, job))
  return { messages: rows.filter(row => !isMarked(repeated, row)).length, repeats }
}

/** `messages`: how many the person agreed to. Returns the id of the new job. */
export async function sendAgain(
  app: SendAgainApp,
  actor: PersonActor,
  service: Service,
  job: Job,
  messages: number,
): Promise<Id> {
  requirePermission(actor, 'send-messages', service.id)
  const loaded = await app.services.get(service.id)
  if (!loaded) throw refuseSend.notFound()
  const { columns, repeated } = await fileOf(app.db.sql, job.id)
  const { body, marks, count } = await bodyOf(app, service, job, columns, repeated)
  if (count === 0) throw refuse.nothingToRepeat()
  if (count !== messages) throw refuse.otherCount(String(count))
  const caller = { service: loaded, actor, key_type: job.key_type === 'test' ? ('test' as const) : ('normal' as const) }
  const { id } = await accept(app, caller, body, null, undefined, async (sql, made) => {
    const done = await repeat(sql, actor, {
      ...{ job: job.id, by: made.id, before: repeated, after: marks, messages: count },
    })
    // Somebody else has pressed the button at the same time.
    if (!done) throw refuse.nothingToRepeat()
  })
  return id
}

const PAGE = 1_000
/** Opening rows yields the event loop after this time. */
const TURN_MS = 2

/** The request of a caller who sends these rows, and the marks of all rows that were sent again then. */
async function bodyOf(
  app: SendAgainApp,
  service: Service,
  job: Job,
  columns: readonly string[] | null,
  repeated: Buffer | null,
) {
  const marks = Buffer.alloc((job.notification_count >> 3) + 1)
  repeated?.copy(marks)
  const scope = scopeOf(app, service, job)
  let headers = columns
  const pieces: Buffer[] = []
  let count = 0
  let turn = performance.now()
  for (let page: RowOfJob[]; ; ) {
    page = await failedForATime(app.db.sql, scope, PAGE)
    const rows: string[] = []
    for (const { job_row, reference, sealed } of page) {
      if (isMarked(repeated, job_row)) continue
      mark(marks, job_row)
      const { to, e164, values } = openPersonal(app.seal, sealed)
      headers ??= headersOf(job.channel, values)
      rows.push(`,${JSON.stringify(cellsOf(headers, job.channel, e164 ?? to, values, reference))}`)
      if (performance.now() - turn < TURN_MS) continue
      await app.reads.giveWay()
      turn = performance.now()
    }
    pieces.push(Buffer.from(rows.join('')))
    count += rows.length
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    scope.after = last.id
  }
  const head = { name: job.name, template_id: job.template_id, ...(await senderOf(app, job)) }
  const begin = `${JSON.stringify(head).slice(0, -1)},"rows":[${JSON.stringify(headers ?? [])}`
  return { body: Buffer.concat([Buffer.from(begin), ...pieces, Buffer.from(']}')]), marks, count }
}

/** The same sender or reply-to address, unless it was removed: then the one that is the default now. */
async function senderOf({ services }: SendAgainApp, { service_id, sender_id }: Job) {
  if (sender_id === null) return {}
  const service = await services.get(service_id)
  const isThere = [...(service?.senders ?? []), ...(service?.reply_tos ?? [])].some(one => one.id === sender_id)
  return isThere ? { reply_to_id: sender_id } : {}
}

const isMarked = (marks: Buffer | null, row: number) => ((marks?.[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
function mark(marks: Buffer, row: number) {
  marks[row >> 3] = (marks[row >> 3] ?? 0) | (1 << (row & 7))
}
