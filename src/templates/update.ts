import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import type { Author } from './create.ts'
import { refuse } from './refusals.ts'
import type { UpdateBody } from './schemas.ts'
import { addVersion, hold, references, type TemplateRow } from './sql.ts'
import { checkLengths } from './template.ts'

/** Given fields change, the rest stays; every edit is a new version, also one that changes nothing. */
export function update(
  app: { db: Database; clock: Clock },
  { service, createdBy, key }: Author,
  id: Id,
  input: UpdateBody,
  /** Only the operator's to say: the interface has no field for it. */
  { literalValues }: { literalValues?: boolean } = {},
): Promise<TemplateRow> {
  return app.db.transaction(async sql => {
    const before = await hold(sql, service.id, id)
    if (!before) throw refuse.notFound()
    const category_id = readId(input.template_category_id) ?? before.category_id
    const folder_id = input.parent_folder_id === undefined ? before.folder_id : readId(input.parent_folder_id)
    const known = await references(sql, service.id, category_id, folder_id)
    if (known.category === null) throw refuse.categoryNotFound()
    if (folder_id && known.folder === null) throw refuse.folderNotFound()

    const after = {
      ...before,
      version: before.version + 1,
      name: input.name ?? before.name,
      content: input.content ?? before.content,
      subject: before.type === 'email' ? (input.subject ?? before.subject) : null,
      literal_values: literalValues ?? before.literal_values,
      category_id,
      category_name: known.category,
      folder_id: before.archived ? null : folder_id,
      updated_at: fromMicros(app.clock.micros()),
    }
    checkLengths(after.type, after)
    await addVersion(sql, { ...after, created_by: createdBy, made_at: after.updated_at }, key ?? null)
    return after
  })
}
