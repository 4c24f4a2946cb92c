import type { Actor } from '../audit/actor.ts'
import { recorded } from '../audit/sql.ts'
import type { Channel } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import type { Category } from './categories.ts'

export type TemplateRow = {
  id: Id
  service_id: Id
  type: Channel
  version: number
  name: string
  content: string
  subject: string | null
  /** Markdown in values is not formatted. */
  literal_values: boolean
  category_id: Id
  category_name: string
  folder_id: Id | null
  archived: boolean
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp | null
}

export type VersionRow = Pick<
  TemplateRow,
  'id' | 'type' | 'version' | 'name' | 'content' | 'subject' | 'literal_values' | 'created_by' | 'created_at'
> & { made_at: Timestamp }

export const categories = (sql: Sql) => sql<Category>`
  select id, name, lane
  from template_categories
  where not hidden
  order by position`

/** Names of the category and the folder; null for one that does not exist. In a transaction the folder stays until its end. */
export async function references(sql: Sql, service: Id, category: Id | null, folder: Id | null) {
  const [found] = await sql<{ category: string | null; folder: string | null }>`
    select (select name from template_categories where id = ${category}) as category,
           (select name from folders where id = ${folder} and service_id = ${service} for key share) as folder`
  return { category: found?.category ?? null, folder: found?.folder ?? null }
}

export type NewTemplate = {
  id: Id
  service_id: Id
  type: Channel
  name: string
  content: string
  subject: string | null
  category_id: Id
  folder_id: Id | null
  created_by: string
  created_at: Timestamp
}

/** No row when the folder has been removed meanwhile. */
export const add = (sql: Sql, t: NewTemplate, actor: Actor) => sql`
  with head as (
    insert into templates (id, service_id, type, version, folder_id, created_by, created_at)
    select ${t.id}::uuid, ${t.service_id}::uuid, ${t.type}::text, 1, ${t.folder_id}::uuid, ${t.created_by}::text,
           ${t.created_at}::timestamptz
    where ${t.folder_id}::uuid is null
       or exists (select from folders where id = ${t.folder_id} and service_id = ${t.service_id} for key share)
    returning id, service_id
  ),
  ${recorded('template created', actor, part`head`)}
  insert into template_versions (template_id, version, name, content, subject, category_id, created_by, made_at)
  select id, 1, ${t.name}, ${t.content}, ${t.subject}, ${t.category_id}::uuid, ${t.created_by}, ${t.created_at}::timestamptz
  from head
  returning template_id`

export async function find(sql: Sql, service: Id, id: Id): Promise<TemplateRow | null> {
  const [template] = await sql<TemplateRow>`
    select t.id, t.service_id, t.type, t.version, v.name, v.content, v.subject, v.literal_values, v.category_id,
           c.name as category_name, t.folder_id, t.archived, t.created_by, t.created_at, t.updated_at
    from templates t
    join template_versions v on v.template_id = t.id and v.version = t.version
    join template_categories c on c.id = v.category_id
    where t.id = ${id}
      and t.service_id = ${service}`
  return template ?? null
}

/** Locks the head until the end of the transaction: two edits at the same time become two versions. */
export async function lock(sql: Sql, service: Id, id: Id): Promise<TemplateRow | null> {
  const [locked] = await sql`select id from templates where id = ${id} and service_id = ${service} for update`
  return locked ? find(sql, service, id) : null
}

export type NewVersion = Pick<
  TemplateRow,
  'id' | 'version' | 'name' | 'content' | 'subject' | 'literal_values' | 'category_id' | 'folder_id'
> & {
  created_by: string
  made_at: Timestamp
}

export const addVersion = (sql: Sql, v: NewVersion, actor: Actor) => sql`
  with head as (
    update templates
    set version = ${v.version},
        folder_id = ${v.folder_id},
        updated_at = ${v.made_at}
    where id = ${v.id}
    returning id, service_id
  ),
  ${recorded('template changed', actor, part`head`, { version: v.version, literal_values: v.literal_values })}
  insert into template_versions (template_id, version, name, content, subject, literal_values, category_id, created_by,
                                 made_at)
  select id, ${v.version}, ${v.name}, ${v.content}, ${v.subject}, ${v.literal_values}, ${v.category_id}::uuid,
         ${v.created_by}, ${v.made_at}::timestamptz
  from head`

/** Moves only what is elsewhere and not archived. `known`: how many of the ids are templates of the service. */
export async function move(
  sql: Sql,
  service: Id,
  ids: readonly Id[],
  folder: Id | null,
  at: Timestamp,
  actor: Actor,
): Promise<{ has_folder: boolean; known: number; moved: number }> {
  const [done] = await sql<{ has_folder: boolean; known: number; moved: number }>`
    with place as (
      select ${folder}::uuid is null
             or exists (select from folders where id = ${folder} and service_id = ${service} for key share) as is_there
    ),
    wanted as (
      select id from templates where service_id = ${service} and id = any(${ids}::uuid[])
    ),
    head as (
      update templates
      set folder_id = ${folder},
          updated_at = ${at}
      where id in (select id from wanted)
        and (select is_there from place)
        and (select count(*) from wanted) = (select count(distinct id) from unnest(${ids}::uuid[]) as given (id))
        and not archived
        and folder_id is distinct from ${folder}::uuid
      returning id, service_id
    ),
    ${recorded('template moved', actor, part`head`, { folder_id: folder })}
    select (select is_there from place) as has_folder,
           (select count(*)::integer from wanted) as known,
           (select count(*)::integer from head) as moved`
  return done ?? { has_folder: false, known: 0, moved: 0 }
}

/** False when it does not exist or is archived already. */
export async function archive(sql: Sql, service: Id, id: Id, at: Timestamp, actor: Actor): Promise<boolean> {
  const rows = await sql`
    with head as (
      update templates
      set archived = true,
          folder_id = null,
          updated_at = ${at}
      where id = ${id}
        and service_id = ${service}
        and not archived
      returning id, service_id
    ),
    ${recorded('template archived', actor, part`head`)}
    select id from head`
  return rows.length > 0
}

export async function findVersion(sql: Sql, service: Id, id: Id, version: number | null): Promise<VersionRow | null> {
  const [found] = await sql<VersionRow>`
    select t.id, t.type, v.version, v.name, v.content, v.subject, v.literal_values, t.created_by, t.created_at, v.made_at
    from templates t
    join template_versions v on v.template_id = t.id and v.version = coalesce(${version}::integer, t.version)
    where t.id = ${id}
      and t.service_id = ${service}`
  return found ?? null
}

/** Ordered by code points of the name (in UTF-8 the byte order of the "C" collation is the same), then by type. */
export const listLive = (sql: Sql, service: Id, type: Channel | null, most: number) => sql<VersionRow>`
  select t.id, t.type, v.version, v.name, v.content, v.subject, v.literal_values, t.created_by, t.created_at, v.made_at
  from templates t
  join template_versions v on v.template_id = t.id and v.version = t.version
  where t.service_id = ${service}
    and not t.archived
    and (${type}::text is null or t.type = ${type})
  order by v.name collate "C", t.type, t.id
  limit ${most}`

/** Ids of all templates in the same order. */
export const listLiveIds = (sql: Sql, service: Id, type: Channel | null) => sql<{ id: Id }>`
  select t.id
  from templates t
  join template_versions v on v.template_id = t.id and v.version = t.version
  where t.service_id = ${service}
    and not t.archived
    and (${type}::text is null or t.type = ${type})
  order by v.name collate "C", t.type, t.id`

/** Templates that are still not archived, in the order of `ids`. */
export const findLive = (sql: Sql, service: Id, ids: readonly Id[]) => sql<VersionRow>`
  select t.id, t.type, v.version, v.name, v.content, v.subject, v.literal_values, t.created_by, t.created_at, v.made_at
  from unnest(${ids}::uuid[]) with ordinality as wanted (id, ord)
  join templates t on t.id = wanted.id
  join template_versions v on v.template_id = t.id and v.version = t.version
  where t.service_id = ${service}
    and not t.archived
  order by wanted.ord`

export type HeadRow = { id: Id; type: Channel; version: number; archived: boolean; pace: Category['lane'] }

/** What a send checks before it needs the content. */
export async function findHead(sql: Sql, service: Id, id: Id): Promise<HeadRow | null> {
  const [head] = await sql<HeadRow>`
    select t.id, t.type, t.version, t.archived, c.lane as pace
    from templates t
    join template_versions v on v.template_id = t.id and v.version = t.version
    join template_categories c on c.id = v.category_id
    where t.id = ${id}
      and t.service_id = ${service}`
  return head ?? null
}

export type ContentRow = {
  template_id: Id
  version: number
  type: Channel
  content: string
  subject: string | null
  literal_values: boolean
}

export const contents = (sql: Sql, ids: readonly Id[], versions: readonly number[]) => sql<ContentRow>`
  select distinct v.template_id, v.version, t.type, v.content, v.subject, v.literal_values
  from unnest(${ids}::uuid[], ${versions}::integer[]) as wanted (id, version)
  join template_versions v on v.template_id = wanted.id and v.version = wanted.version
  join templates t on t.id = v.template_id`

/** The names of versions, by `id/version`. */
export async function namesOf(
  sql: Sql,
  versions: readonly { template_id: Id; template_version: number }[],
): Promise<Map<string, string>> {
  const rows = await sql<{ template_id: Id; version: number; name: string }>`
    select distinct v.template_id, v.version, v.name
    from unnest(${versions.map(one => one.template_id)}::uuid[], ${versions.map(one => one.template_version)}::integer[])
         as wanted (id, version)
    join template_versions v on v.template_id = wanted.id and v.version = wanted.version`
  return new Map(rows.map(({ template_id, version, name }) => [`${template_id}/${version}`, name]))
}

/** A condition for statements of others: the template belongs to the service. */
export const isTemplateOf = (service: Id, template: Id): Part =>
  part`exists (select from templates t where t.id = ${template} and t.service_id = ${service})`

/** Templates of all services whose ids are in a range; ten are enough to see that there are several. */
export const templatesBetween = (sql: Sql, first: Id, last: Id) => sql<{ id: Id; service_id: Id }>`
  select id, service_id
  from templates
  where id between ${first} and ${last}
  order by id
  limit 10`

/** The service that the template belongs to. */
export async function serviceOfTemplate(sql: Sql, template: Id): Promise<Id | null> {
  const [row] = await sql<{ service_id: Id }>`select service_id from templates where id = ${template}`
  return row?.service_id ?? null
}
