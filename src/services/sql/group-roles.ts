// Roles that groups of the single sign-on provider give.
import type { Actor } from '../../audit/actor.ts'
import type { Role } from '../../audit/role.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'

export type RoleOf = { service_id: Id; role: Role }

/** The person leaves these services. */
export const leave = (sql: Sql, person: Id, services: readonly Id[], actor: Actor) => sql<{ service_id: Id }>`
  with removed as (
    delete from users
    where person_id = ${person}
      and service_id = any (${services}::uuid[])
    returning id, service_id
  ),
  ${recorded('member removed', actor, part`removed`, { by: 'groups' })}
  select service_id from removed`

/** The person has this role, and no other. */
export const changeRole = (sql: Sql, person: Id, { service_id, role }: RoleOf, actor: Actor) => sql`
  with changed as (
    update users
    set role = ${role}
    where person_id = ${person}
      and service_id = ${service_id}
      and role <> ${role}
    returning id, service_id
  ),
  ${recorded('role changed', actor, part`changed`, { role, by: 'groups' })}
  select id from changed`

/** Changes nothing when the person is a member already. */
export const join = (
  sql: Sql,
  member: RoleOf & { id: Id; person_id: Id; name: string; email_address: string },
  actor: Actor,
) => sql`
  with added as (
    insert into users (id, service_id, person_id, name, email_address, role)
    select ${member.id}::uuid, ${member.service_id}::uuid, ${member.person_id}::uuid, ${member.name}::text,
           ${member.email_address}::text, ${member.role}::text
    where not exists (select from users where service_id = ${member.service_id} and person_id = ${member.person_id})
    on conflict do nothing
    returning id, service_id
  ),
  ${recorded('member added', actor, part`added`, { role: member.role, by: 'groups' })}
  select id from added`
