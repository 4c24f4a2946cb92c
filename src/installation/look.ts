// The processes that run, for operators.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Sql } from '../db/connect.ts'
import { faultOf } from '../telemetry/fault.ts'
import type { Log } from '../telemetry/log.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { RunningProcess } from './process.ts'
import { list } from './sql/processes.ts'

export async function processesNow(app: { db: { sql: Sql } }, actor: Actor): Promise<RunningProcess[]> {
  requirePermission(actor, 'manage-installation', null)
  return list(app.db.sql)
}

/** For a page. The process that answers is running: after an outage of the database its last heartbeat is old, so it writes one. */
export async function processesWithThisOne(
  app: { db: { sql: Sql }; heartbeat: Pick<Heartbeat, 'beat'>; log: Pick<Log, 'warn'> },
  actor: Actor,
): Promise<RunningProcess[]> {
  requirePermission(actor, 'manage-installation', null)
  await app.heartbeat
    .beat(app.db.sql)
    // The list can be read without it.
    .catch(error => app.log.warn({ error: faultOf(error) }, 'the heartbeat of this process could not be written'))
  return processesNow(app, actor)
}
