// Templates with all versions, folders and example values as rows of an export. Drafts stay: they are deleted after a day.
import type { Id } from '../../core/id.ts'
import { part, type Row, type Sql } from '../../db/connect.ts'
import type { Category } from '../categories.ts'

const folderColumns = part`id, name, created_at, parent_id`
const templateColumns = part`id, type, version, folder_id, archived, created_by, created_at, updated_at`
const versionColumns = part`template_id, version, name, content, subject, category_id, created_by, made_at, literal_values`

export type TemplateRows = { folders: readonly Row[]; templates: readonly Row[]; versions: readonly Row[] }

export async function exportTemplates(sql: Sql, service: Id): Promise<TemplateRows> {
  const folders = await sql`
    select ${folderColumns}
    from folders
    where service_id = ${service}
    order by created_at, id`
  const templates = await sql`
    select ${templateColumns}
    from templates
    where service_id = ${service}
    order by created_at, id`
  const versions = await sql`
    select ${versionColumns}
    from template_versions
    where template_id in (select id from templates where service_id = ${service})
    order by template_id, version`
  return { folders, templates, versions }
}

export async function importTemplates(sql: Sql, service: Id, rows: TemplateRows): Promise<void> {
  // One statement: a folder may come before its parent.
  await sql`
    insert into folders (service_id, ${folderColumns})
    select ${service}, ${folderColumns}
    from json_populate_recordset(null::folders, ${JSON.stringify(rows.folders)}::json)`
  await sql`
    insert into templates (service_id, ${templateColumns})
    select ${service}, ${templateColumns}
    from json_populate_recordset(null::templates, ${JSON.stringify(rows.templates)}::json)`
  await sql`
    insert into template_versions (${versionColumns})
    select ${versionColumns}
    from json_populate_recordset(null::template_versions, ${JSON.stringify(rows.versions)}::json)
    where template_id in (select id from templates where service_id = ${service})`
}

/** The head of a template goes on to a version that was imported. */
export const advance = (sql: Sql, service: Id, template: Id, version: number, at: string | null) => sql`
  update templates
  set version = ${version}, updated_at = ${at}
  where id = ${template} and service_id = ${service} and version < ${version}`

export type CategoryRow = Category & { hidden: boolean }

export const exportCategories = (sql: Sql) => sql<CategoryRow>`
  select id, name, lane, hidden
  from template_categories
  order by position`

/** After the categories that are there, in this order. Returns those that were added. */
export const importCategories = (sql: Sql, categories: readonly CategoryRow[]) => sql<{ id: Id }>`
  insert into template_categories (id, position, name, lane, hidden)
  select c.id, (select max(position) from template_categories) + row_number() over (order by c.at), c.name, c.lane, c.hidden
  from rows from (json_to_recordset(${JSON.stringify(categories)}::json) as (id uuid, name text, lane text, hidden boolean))
       with ordinality as c (id, name, lane, hidden, at)
  where not exists (select from template_categories t where t.id = c.id)
  on conflict (id) do nothing
  returning id`

export const exportSamples = (sql: Sql, service: Id) => sql<{ template_id: Id; sealed: Buffer; updated_at: string }>`
  select template_id, sealed, updated_at
  from template_samples
  where service_id = ${service}
  order by template_id`

/** `sealed` is text in the form of bytea. */
export const importSamples = (sql: Sql, service: Id, samples: readonly Row[]) => sql`
  insert into template_samples (service_id, template_id, sealed, updated_at)
  select ${service}, template_id, sealed, updated_at
  from json_populate_recordset(null::template_samples, ${JSON.stringify(samples)}::json)
  where template_id in (select id from templates where service_id = ${service})`
