import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id, readId } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Service } from '../services/service.ts'
import { presentJob } from './present.ts'
import { refuse } from './refusals.ts'
import { find, page, type ShownJob, unfinished } from './sql/read.ts'

type App = { sql: Sql; clock: Clock }

const PAGE = 250

export async function read(app: App, service: Service, id: Id) {
  const job = await find(app.sql, service.id, id)
  if (!job) throw refuse.notFound()
  return presentJob(job, service, app.clock.now())
}

/** A page of jobs, newest first, and whether another follows. */
export async function list(app: App, service: Service, older: string | undefined) {
  const olderThan = older === undefined ? null : readId(older)
  if (olderThan && !(await find(app.sql, service.id, olderThan))) throw refuse.otherService()
  const jobs = await page(app.sql, service.id, olderThan, PAGE + 1)
  return {
    jobs: jobs.slice(0, PAGE).map(job => presentJob(job, service, app.clock.now())),
    hasMore: jobs.length > PAGE,
  }
}

/** A job is scheduled at most four days ahead; what is older and has not ended never will. */
const OPEN_MICROS = 8 * 86_400_000_000
const MOST_OPEN = 6

/** Jobs that wait or are being sent, newest first. */
export function openJobs(app: App, actor: Actor, service: Id): Promise<ShownJob[]> {
  requirePermission(actor, 'see-messages', service)
  return unfinished(app.sql, service, floorOf(app.clock.micros() - OPEN_MICROS), MOST_OPEN)
}
