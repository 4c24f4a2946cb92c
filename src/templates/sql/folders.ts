// Folders of templates.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'

export type Folder = { id: Id; service_id: Id; parent_id: Id | null; name: string; created_at: Timestamp }
/** `templates`: in this folder itself, without archived ones. */
export type ListedFolder = Folder & { templates: number }

/** Names of folders of any service, by id. */
export async function folderNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`select id, name from folders where id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Until the end of the transaction nobody else changes the folders of the service. */
export const lockFoldersOf = (sql: Sql, service: Id) => sql`
  select pg_advisory_xact_lock(60110017, hashtext(${service}))`

export async function addFolder(sql: Sql, folder: Omit<Folder, 'created_at'>, actor: Actor): Promise<Folder> {
  const [added] = await sql<Folder>`
    with made as (
      insert into folders (id, service_id, parent_id, name)
      values (${folder.id}, ${folder.service_id}, ${folder.parent_id}, ${folder.name})
      returning id, service_id, parent_id, name, created_at),
    ${recorded('folder created', actor, part`made`, { name: folder.name })}
    select id, service_id, parent_id, name, created_at from made`
  if (!added) throw new Error('a new folder was not written')
  return added
}

export const renameFolder = (sql: Sql, folder: Folder, name: string, actor: Actor) => sql`
  with renamed as (
    update folders
    set name = ${name}
    where id = ${folder.id}
      and service_id = ${folder.service_id}
    returning id, service_id),
  ${recorded('folder renamed', actor, part`renamed`, { from: folder.name, to: name })}
  select id from renamed`

export const moveFolder = (sql: Sql, folder: Folder, parent: Id | null, actor: Actor) => sql`
  with moved as (
    update folders
    set parent_id = ${parent}
    where id = ${folder.id}
      and service_id = ${folder.service_id}
    returning id, service_id),
  ${recorded('folder moved', actor, part`moved`, { from: folder.parent_id, to: parent })}
  select id from moved`

export const listFolders = (sql: Sql, service: Id) => sql<ListedFolder>`
  select f.id, f.service_id, f.parent_id, f.name, f.created_at, coalesce(held.templates, 0)::integer as templates
  from folders f
  left join (
    select folder_id, count(*) as templates
    from templates
    where service_id = ${service} and not archived and folder_id is not null
    group by folder_id) held on held.folder_id = f.id
  where f.service_id = ${service}
  order by f.created_at, f.id`

/**
 * Before a folder is removed. Edits lock the template before its folder, so this does too; afterwards no template can be put into
 * the folder.
 */
export async function lockFolderWithTemplates(sql: Sql, service: Id, id: Id): Promise<void> {
  await sql`select id from templates where folder_id = ${id} and service_id = ${service} order by id for update`
  await sql`select id from folders where id = ${id} and service_id = ${service} for update`
}

/**
 * No row when something is in it and may not be moved out: then templates and folders go to the folder around it. Archived
 * templates never hold a folder back.
 */
export const removeFolder = (sql: Sql, folder: Folder, { moveOut }: { moveOut: boolean }, actor: Actor) => sql`
  with free as (
    select id, parent_id
    from folders
    where id = ${folder.id}
      and service_id = ${folder.service_id}
      and (${moveOut}::boolean
           or not exists (select from templates where folder_id = ${folder.id} and not archived)
          and not exists (select from folders inside where inside.parent_id = ${folder.id}))),
  moved as (
    update templates
    set folder_id = free.parent_id
    from free
    where templates.folder_id = free.id),
  raised as (
    update folders
    set parent_id = free.parent_id
    from free
    where folders.parent_id = free.id),
  gone as (
    delete from folders
    using free
    where folders.id = free.id
    returning folders.id, folders.service_id),
  ${recorded('folder removed', actor, part`gone`, { name: folder.name })}
  select id from gone`
