// What the messages of a service can be filtered by: its templates and its newest jobs.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { find as findJob, newestNames } from '../bulk/sql/read.ts'
import { type Id, readId } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { currentNames, liveNames } from '../templates/sql/names.ts'

export type Named = { id: Id; name: string }

const MOST_TEMPLATES = 500
const MOST_JOBS = 20

/** `chosen`: ids that are filtered by now; each is among the choices if it belongs to the service. */
export async function messageChoices(
  { db: { sql } }: { db: { sql: Sql } },
  actor: PersonActor,
  service: Id,
  chosen: { template?: string; job?: string },
): Promise<{ templates: Named[]; jobs: Named[] }> {
  requirePermission(actor, 'see-messages', service)
  const [templates, jobs] = await Promise.all([
    liveNames(sql, service, MOST_TEMPLATES),
    newestNames(sql, service, MOST_JOBS),
  ])
  const [template, job] = [readId(chosen.template), readId(chosen.job)]
  const [otherTemplates, otherJob] = await Promise.all([
    template === null || templates.some(one => one.id === template) ? [] : currentNames(sql, service, [template]),
    job === null || jobs.some(one => one.id === job) ? null : findJob(sql, service, job),
  ])
  return {
    templates: [...templates, ...otherTemplates],
    jobs: [...jobs, ...(otherJob ? [{ id: otherJob.id, name: otherJob.name }] : [])],
  }
}
