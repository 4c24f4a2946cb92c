import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { currentNames, newestLive, type TemplateName } from './sql/names.ts'

/** By id. */
export async function namesOfTemplates(
  sql: Sql,
  actor: Actor,
  service: Id,
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, TemplateName>> {
  requirePermission(actor, 'see-service', service)
  if (ids.length === 0) return new Map()
  return new Map((await currentNames(sql, service, ids)).map(one => [one.id, one]))
}

/** The newest template that is not archived. */
export function newestTemplate(sql: Sql, actor: Actor, service: Id): Promise<TemplateName | null> {
  requirePermission(actor, 'see-service', service)
  return newestLive(sql, service)
}
