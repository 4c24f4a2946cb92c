// Sends a sheet as a bulk job of its person. The job, the end of the sheet and the audit entry are one transaction: sending the same
// sheet twice, also at the same moment, makes one job.
import type { PersonActor } from '../audit/actor.ts'
import { type SendBulkAsApp, sendBulkAs } from '../bulk/send-as.ts'
import type { Id } from '../core/id.ts'
import { type BulkOptions, bulkRequestOf } from './body.ts'
import type { SheetChecks } from './checks.ts'
import { load, loadReady, type SheetApp } from './read.ts'
import { refuse } from './refusals.ts'
import { markSent } from './sql.ts'

/** Returns the id of the job. */
export async function send(
  app: SheetApp & SendBulkAsApp & { sheets: { checks: SheetChecks } },
  actor: PersonActor,
  service: Id,
  id: Id,
  options: BulkOptions,
): Promise<Id> {
  const before = await load(app, actor, service, id)
  if (before.record.job_id) return before.record.job_id
  const loaded = await loadReady(app, actor, service, id)
  const { body } = await bulkRequestOf(app, loaded, options)
  try {
    const job = await sendBulkAs(app, actor, service, body, async (sql, job) => {
      if (!(await markSent(sql, id, job.id))) throw new SentBefore()
    })
    app.sheets.checks.forget(id)
    return job
  } catch (error) {
    if (!(error instanceof SentBefore)) throw error
    const { record } = await load(app, actor, service, id)
    if (record.job_id) return record.job_id
    throw refuse.notFound()
  }
}

/** Rolls back the second of two sends at the same moment. */
class SentBefore extends Error {}
