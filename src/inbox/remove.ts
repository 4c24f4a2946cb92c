// Deletes messages from the inbox. The messages themselves stay, as do their statuses.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { lookSoon } from '../files/sql.ts'
import type { Service } from '../services/service.ts'
import { type Looking, look } from './look.ts'
import type { ReadApp } from './read.ts'
import { refuse } from './refusals.ts'
import { ALL, type Filter, removeOne, removeSome, removeThese, type Scope } from './sql.ts'

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

/** A search for words opens every message: one request looks at so many pages. */
const MOST_PAGES = 20

/** Those that a person has searched for: of one recipient, or with these words. `hasMore`: there may be more. */
export async function removeMatching(
  app: ReadApp,
  actor: Actor,
  scope: Scope,
  service: Service | null,
  { digests, words }: Pick<Looking, 'digests' | 'words'>,
): Promise<{ deleted: number; hasMore: boolean }> {
  if (words === '') return emptyInbox(app, actor, scope, { ...ALL, digests })
  mayRemove(actor, scope)
  let deleted = 0
  let before: Id | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const { messages, older } = await look(app, actor, scope, service, { digests, words, before })
    const ids = messages.map(({ id }) => id)
    const gone = ids.length > 0 ? await removeThese(app.sql, scope, ids, actor) : []
    if (gone.length > 0)
      await lookSoon(
        app.sql,
        gone.map(({ id }) => id),
      )
    deleted += gone.length
    if (older === null) return { deleted, hasMore: false }
    before = older
  }
  return { deleted, hasMore: true }
}
