import type { Actor } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import type { AuthorApp } from '../services/people.ts'
import { wholeVersion } from './browse.ts'
import type { TemplateRow } from './sql.ts'
import { update } from './update.ts'

/**
 * A new version with name, subject, content and category of an earlier one. How Markdown in values is treated stays as it is now:
 * it protects recipients, and an old version must not switch that off. `expectedVersion`: the latest version that was looked at.
 */
export async function restore(
  app: Pick<AuthorApp, 'config'> & { db: Database; clock: Clock },
  actor: Actor,
  service: Id,
  id: Id,
  version: number,
  expectedVersion: number,
): Promise<TemplateRow> {
  const old = await wholeVersion(app.db.sql, service, id, version)
  const input = {
    name: old.name,
    content: old.content,
    ...(old.subject !== null && { subject: old.subject }),
    template_category_id: old.category_id,
  }
  return update(app, actor, service, id, input, { expectedVersion })
}
