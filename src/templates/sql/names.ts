import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

export type TemplateName = { id: Id; name: string; type: Channel }

/** The current names of these templates, archived ones too. */
export const currentNames = (sql: Sql, service: Id, ids: readonly Id[]) => sql<TemplateName>`
  select t.id, v.name, t.type
  from templates t
  join template_versions v on v.template_id = t.id and v.version = t.version
  where t.service_id = ${service}
    and t.id = any (${ids}::uuid[])`

/** The current names of templates of any service, by id. */
export async function templateNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`
    select t.id, v.name
    from templates t
    join template_versions v on v.template_id = t.id and v.version = t.version
    where t.id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A template that can be used; null when there is none. */
export async function newestLive(sql: Sql, service: Id): Promise<TemplateName | null> {
  const [found] = await sql<TemplateName>`
    select t.id, v.name, t.type
    from templates t
    join template_versions v on v.template_id = t.id and v.version = t.version
    where t.service_id = ${service}
      and not t.archived
    order by t.id desc
    limit 1`
  return found ?? null
}

/** Of all that are not archived, by name. */
export const liveNames = (sql: Sql, service: Id, most: number) => sql<TemplateName>`
  select t.id, v.name, t.type
  from templates t
  join template_versions v on v.template_id = t.id and v.version = t.version
  where t.service_id = ${service}
    and not t.archived
  order by lower(v.name), t.id
  limit ${most}`
