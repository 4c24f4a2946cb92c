import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Channel } from '../services/service.ts'
import { refuse } from './refusals.ts'
import { find, findVersion, listLive, type TemplateRow, type VersionRow } from './sql.ts'

export async function read(sql: Sql, service: Id, id: Id): Promise<TemplateRow> {
  const template = await find(sql, service, id)
  if (!template) throw refuse.notFound()
  return template
}

const LARGEST_VERSION = 2_147_483_647

/** One version, or the latest when none is named. */
export async function readVersion(sql: Sql, service: Id, id: Id, version: number | null): Promise<VersionRow> {
  const found = (version ?? 0) > LARGEST_VERSION ? null : await findVersion(sql, service, id, version)
  if (!found) throw refuse.notFound()
  return found
}

export const list = (sql: Sql, service: Id, type: Channel | null): Promise<VersionRow[]> => listLive(sql, service, type)
