// Reads for people: lists of templates by folder, search, versions.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import {
  type From,
  type ListedTemplate,
  type ListedVersion,
  page,
  versions,
  type Wanted,
  type WholeVersion,
  wholeVersions,
} from './sql/list.ts'

/** Rows of a page. */
export const PAGE = 50

export type TemplatePage = {
  templates: ListedTemplate[]
  /** On all pages. */
  found: number
  /** Whether there are more before the first and after the last. */
  hasEarlier: boolean
  hasLater: boolean
}

/** One page of templates by name. */
export async function browse(sql: Sql, service: Id, wanted: Wanted, from: From): Promise<TemplatePage> {
  const rows = await page(sql, service, wanted, from, PAGE + 1)
  const hasMore = rows.length > PAGE
  const isBackwards = from !== null && 'before' in from
  const templates = isBackwards ? rows.slice(-PAGE) : rows.slice(0, PAGE)
  return {
    templates,
    found: rows[0]?.found ?? 0,
    hasEarlier: isBackwards ? hasMore : from !== null,
    hasLater: isBackwards || hasMore,
  }
}

const LARGEST_VERSION = 2_147_483_647

/** Newest first; `below` as given by the page before, or null for the newest. */
export async function listVersions(
  sql: Sql,
  service: Id,
  id: Id,
  below: number | null,
): Promise<{ versions: ListedVersion[]; hasOlder: boolean }> {
  const rows = await versions(sql, service, id, Math.min(below ?? LARGEST_VERSION, LARGEST_VERSION), PAGE + 1)
  return { versions: rows.slice(0, PAGE), hasOlder: rows.length > PAGE }
}

/** One version with everything it holds. */
export async function wholeVersion(sql: Sql, service: Id, id: Id, version: number): Promise<WholeVersion> {
  const isPossible = Number.isInteger(version) && version > 0 && version <= LARGEST_VERSION
  const [found] = isPossible ? await wholeVersions(sql, service, id, [version]) : []
  if (!found) throw refuse.notFound()
  return found
}
