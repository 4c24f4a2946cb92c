// Addresses of the pages of templates.
import type { Id } from '../../core/id.ts'

export const templatesPath = (service: Id, query: Readonly<Record<string, string | null | undefined>> = {}) =>
  withQuery(`/s/${service}/templates`, query)

export const templatePath = (service: Id, template: Id, rest = '') => `/s/${service}/templates/${template}${rest}`

export const folderPath = (service: Id, folder: Id | 'new', rest = '') =>
  `/s/${service}/templates/folders/${folder}${rest}`

export function withQuery(path: string, query: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
