// The processes that run, for operators.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Sql } from '../db/connect.ts'
import type { RunningProcess } from './process.ts'
import { list } from './sql/processes.ts'

export async function processesNow(app: { db: { sql: Sql } }, actor: Actor): Promise<RunningProcess[]> {
  requirePermission(actor, 'manage-installation', null)
  return list(app.db.sql)
}
