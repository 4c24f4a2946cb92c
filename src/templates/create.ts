import { type Actor, requirePermission } from '../audit/actor.ts'
import { CHANNELS } from '../channels/index.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, microsOf, readId } from '../core/id.ts'
import { type AuthorApp, authorFor } from '../services/people.ts'
import { maySend, type Service } from '../services/service.ts'
import { refuse } from './refusals.ts'
import type { CreateBody } from './schemas.ts'
import { add, references, type TemplateRow } from './sql.ts'
import { checkLengths } from './template.ts'

export async function create(
  app: AuthorApp & { ids: { next(): Id }; clock: Clock },
  actor: Actor,
  service: Service,
  input: CreateBody,
): Promise<TemplateRow> {
  requirePermission(actor, 'manage-templates', service.id)
  const { sql } = app.db
  const type = input.template_type
  const category_id = readId(input.template_category_id)
  const folder_id = input.parent_folder_id === undefined ? null : readId(input.parent_folder_id)
  const known = await references(sql, service.id, category_id, folder_id)
  if (!category_id || known.category === null) throw refuse.categoryNotFound()
  if (folder_id && known.folder === null) throw refuse.folderNotFound()
  if (!maySend(service, type)) throw refuse[CHANNELS[type].refusals.template]()
  checkLengths(type, input)

  const id = app.ids.next()
  const template = {
    id,
    service_id: service.id,
    type,
    name: input.name,
    content: input.content,
    subject: CHANNELS[type].template.hasSubject ? (input.subject ?? '') : null,
    category_id,
    folder_id,
    created_by: await authorFor(app, actor, service.id),
    created_at: fromMicros(microsOf(id)),
  }
  if ((await add(sql, template, actor)).length === 0) throw refuse.folderNotFound()
  return {
    ...template,
    literal_values: false,
    version: 1,
    category_name: known.category,
    archived: false,
    updated_at: null,
  }
}
