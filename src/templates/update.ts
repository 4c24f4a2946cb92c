import { type Actor, requirePermission } from '../audit/actor.ts'
import { CHANNELS } from '../channels/index.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { type AuthorApp, authorFor } from '../services/people.ts'
import { refuse } from './refusals.ts'
import type { UpdateBody } from './schemas.ts'
import { addVersion, lock, references, type TemplateRow } from './sql.ts'
import { checkLengths } from './template.ts'

/** What the interface has no field for. */
export type UpdateOptions = {
  /** Markdown in values is not formatted. */
  literalValues?: boolean
  /** The version that was edited: when somebody saved another meanwhile, this edit is refused (kind `ChangedMeanwhile`). */
  expectedVersion?: number
}

/** Changes the fields that are given. Every edit is a new version, even one that changes nothing. */
export async function update(
  app: Pick<AuthorApp, 'config'> & { db: Database; clock: Clock },
  actor: Actor,
  service: Id,
  id: Id,
  input: UpdateBody,
  { literalValues, expectedVersion }: UpdateOptions = {},
): Promise<TemplateRow> {
  requirePermission(actor, 'manage-templates', service)
  const created_by = await authorFor(app, actor, service)
  return app.db.transaction(async sql => {
    const before = await lock(sql, service, id)
    if (!before) throw refuse.notFound()
    if (expectedVersion !== undefined && before.version !== expectedVersion)
      throw refuse.changedMeanwhile(before.version)
    const category_id = readId(input.template_category_id) ?? before.category_id
    const folder_id = input.parent_folder_id === undefined ? before.folder_id : readId(input.parent_folder_id)
    const known = await references(sql, service, category_id, folder_id)
    if (known.category === null) throw refuse.categoryNotFound()
    if (folder_id && known.folder === null) throw refuse.folderNotFound()

    const after = {
      ...before,
      version: before.version + 1,
      name: input.name ?? before.name,
      content: input.content ?? before.content,
      subject: CHANNELS[before.type].template.hasSubject ? (input.subject ?? before.subject) : null,
      literal_values: literalValues ?? before.literal_values,
      category_id,
      category_name: known.category,
      folder_id: before.archived ? null : folder_id,
      updated_at: fromMicros(app.clock.micros()),
    }
    checkLengths(after.type, after)
    await addVersion(sql, { ...after, created_by, made_at: after.updated_at }, actor)
    return after
  })
}
