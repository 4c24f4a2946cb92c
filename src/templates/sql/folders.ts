// Folders of templates.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

export type Folder = { id: Id; service_id: Id; name: string; created_at: Timestamp }
export type ListedFolder = Folder & { templates: number }

/** Null when a folder of the service has this name. */
export async function addFolder(sql: Sql, folder: Omit<Folder, 'created_at'>): Promise<Folder | null> {
  const [added] = await sql<Folder>`
    insert into folders (id, service_id, name)
    select ${folder.id}::uuid, ${folder.service_id}::uuid, ${folder.name}::text
    where not exists (select from folders where service_id = ${folder.service_id} and name = ${folder.name})
    returning id, service_id, name, created_at`
  return added ?? null
}

export const listFolders = (sql: Sql, service: Id) => sql<ListedFolder>`
  select id, service_id, name, created_at,
         (select count(*)::integer from templates where folder_id = folders.id and not archived) as templates
  from folders
  where service_id = ${service}
  order by created_at, id`

/** No row when templates are in it and may not be moved out. Archived templates never hold a folder back. */
export const removeFolder = (sql: Sql, service: Id, id: Id, { moveOut }: { moveOut: boolean }) => sql`
  with free as (
    select id
    from folders
    where id = ${id}
      and service_id = ${service}
      and (${moveOut}::boolean or not exists (select from templates where folder_id = ${id} and not archived))
    for update),
  moved as (
    update templates
    set folder_id = null
    from free
    where templates.folder_id = free.id)
  delete from folders
  using free
  where folders.id = free.id
  returning folders.id`
