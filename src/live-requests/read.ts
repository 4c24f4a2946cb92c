// Requests to go live as people see them, with the names of who asked and who decided.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { namesOf } from '../people/sql/people.ts'
import { type LiveRequest, newest, open } from './sql.ts'

export type ShownRequest = LiveRequest & { asked_by_name: string | null; decided_by_name: string | null }

type App = { db: { sql: Sql } }

/** The newest request of the service, open or decided. */
export async function readRequest(app: App, actor: Actor, service: Id): Promise<ShownRequest | null> {
  requirePermission(actor, 'see-service', service)
  const found = await newest(app.db.sql, service)
  if (!found) return null
  const names = await namesOf(
    app.db.sql,
    [found.asked_by, found.decided_by].flatMap(id => id ?? []),
  )
  const nameOf = (id: Id | null) => id && (names.get(id) ?? null)
  return { ...found, asked_by_name: nameOf(found.asked_by), decided_by_name: nameOf(found.decided_by) }
}

const MOST_OPEN = 200

/** All that wait for a decision, for operators. */
export async function openRequests(app: App, actor: Actor): Promise<LiveRequest[]> {
  requirePermission(actor, 'manage-installation', null)
  return open(app.db.sql, MOST_OPEN)
}
