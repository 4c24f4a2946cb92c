// Reads what pages of templates are given: ids in addresses, and the template itself.
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { folderTree } from '../../templates/folders.ts'
import { read } from '../../templates/read.ts'
import { refuse } from '../../templates/refusals.ts'
import type { ServiceVisit } from '../page.ts'

/** The id in the address; another text names nothing. */
export function idIn(visit: ServiceVisit, name: string): Id {
  const id = readId(visit.params[name])
  if (!id) throw refuse.notFound()
  return id
}

/** The template of the address and all folders. */
export async function templateIn(visit: ServiceVisit) {
  const { sql } = visit.parts.db
  const [template, folders] = await Promise.all([
    read(sql, visit.service.id, idIn(visit, 'id')),
    folderTree(sql, visit.service.id),
  ])
  return { template, folders }
}

/** A whole number from 1 on; null for another text. */
export function numberIn(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null
}

/** What the form says is wrong: a refusal that the person can correct. Other errors go on. */
export function saidIn(error: unknown): Refusal {
  if (
    error instanceof Refusal &&
    ['BadRequestError', 'ValidationError', 'TemplateCategoryNotFoundError'].includes(error.kind)
  )
    return error
  throw error
}

export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof Refusal && error.kind === 'ChangedMeanwhile'
