// Deletes messages from the inbox. The messages themselves stay, as do their statuses.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { lookSoon } from '../files/sql.ts'
import { refuse } from './refusals.ts'
import { type Filter, removeOne, removeSome, type Scope } from './sql.ts'

type App = { sql: Sql }

const STEP = 2_000
/** One request deletes so many; who has more asks again. */
export const MOST_REMOVED = 20_000

const mayRemove = (actor: Actor, { service_id }: Scope) =>
  requirePermission(actor, service_id === null ? 'manage-installation' : 'see-inbox', service_id)

export async function removeCaptured({ sql }: App, actor: Actor, scope: Scope, id: Id): Promise<void> {
  mayRemove(actor, scope)
  if (!(await removeOne(sql, scope, id, actor))) throw refuse.notFound()
  await lookSoon(sql, [id])
}

/** Returns how many went. `hasMore`: there were more than one request deletes. */
export async function emptyInbox(
  { sql }: App,
  actor: Actor,
  scope: Scope,
  filter: Filter,
): Promise<{ deleted: number; hasMore: boolean }> {
  mayRemove(actor, scope)
  let deleted = 0
  while (deleted < MOST_REMOVED) {
    const gone = await removeSome(sql, scope, filter, STEP, actor)
    const ids = gone.map(({ id }) => id)
    if (ids.length > 0) await lookSoon(sql, ids)
    deleted += ids.length
    if (ids.length < STEP) return { deleted, hasMore: false }
  }
  return { deleted, hasMore: true }
}
