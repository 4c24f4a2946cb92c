import { spaced, zulu } from '../core/clock.ts'
import { namesOf } from '../rendering/placeholders.ts'
import type { Service } from '../services/service.ts'
import type { Category } from './categories.ts'
import type { TemplateRow, VersionRow } from './sql.ts'

/** A fixed field of the interface, left over from letters. */
export const POSTAGE = 'second'

export const presentTemplate = (template: TemplateRow, service: Pick<Service, 'name'>) => ({
  id: template.id,
  service_id: template.service_id,
  service_name: service.name,
  name: template.name,
  type: template.type,
  created_at: spaced(template.created_at),
  updated_at: template.updated_at && spaced(template.updated_at),
  created_by: template.created_by,
  version: template.version,
  body: template.content,
  subject: template.subject,
  postage: POSTAGE,
  template_category_id: template.category_id,
  template_category_name: template.category_name,
  folder_id: template.folder_id,
  archived: template.archived,
})

export const presentCategory = ({ id, name }: Category) => ({ template_category_id: id, name })

export const presentVersion = (version: VersionRow) => ({
  id: version.id,
  type: version.type,
  created_at: zulu(version.created_at),
  updated_at: version.version === 1 ? null : zulu(version.made_at),
  created_by: version.created_by,
  version: version.version,
  body: version.content,
  subject: version.subject,
  name: version.name,
  personalisation: Object.fromEntries(namesOf(version).map(name => [name, { required: true }])),
  postage: POSTAGE,
})
