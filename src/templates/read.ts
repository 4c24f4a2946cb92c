import type { Channel } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { find, findLive, findVersion, listLive, listLiveIds, type TemplateRow, type VersionRow } from './sql.ts'

export async function read(sql: Sql, service: Id, id: Id): Promise<TemplateRow> {
  const template = await find(sql, service, id)
  if (!template) throw refuse.notFound()
  return template
}

const LARGEST_VERSION = 2_147_483_647

/** `version` null: the latest. */
export async function readVersion(sql: Sql, service: Id, id: Id, version: number | null): Promise<VersionRow> {
  const found = (version ?? 0) > LARGEST_VERSION ? null : await findVersion(sql, service, id, version)
  if (!found) throw refuse.notFound()
  return found
}

/** Templates per query: at most about 2.5 MB. */
const PAGE = 50

/** Templates that are not archived, ordered by name, one page at a time. */
export async function* list(sql: Sql, service: Id, type: Channel | null): AsyncGenerator<VersionRow[]> {
  const first = await listLive(sql, service, type, PAGE)
  yield first
  if (first.length < PAGE) return
  const isListed = new Set(first.map(({ id }) => id))
  const ids = (await listLiveIds(sql, service, type)).map(({ id }) => id).filter(id => !isListed.has(id))
  for (let at = 0; at < ids.length; at += PAGE) yield await findLive(sql, service, ids.slice(at, at + PAGE))
}
