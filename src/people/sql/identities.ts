// Who a person is at the single sign-on provider.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { Person } from '../person.ts'
import { personColumns } from './people.ts'

export async function personByIdentity(sql: Sql, issuer: string, subject: string): Promise<Person | null> {
  const [found] = await sql<Person>`
    select ${personColumns}
    from identities i
    join people p on p.id = i.person_id
    where i.issuer = ${issuer}
      and i.subject = ${subject}`
  return found ?? null
}

export const addIdentity = (sql: Sql, identity: { issuer: string; subject: string; person: Id }, actor: Actor) => sql`
  with added as (
    insert into identities (issuer, subject, person_id)
    values (${identity.issuer}, ${identity.subject}, ${identity.person})
    on conflict do nothing
    returning person_id as id, null::uuid as service_id
  ),
  ${recorded('identity linked', actor, part`added`, { issuer: identity.issuer })}
  select id from added`

/** Nothing is returned when somebody has this address already. */
export async function addPersonOfGroups(
  sql: Sql,
  person: Pick<Person, 'id' | 'email_address' | 'name'>,
  actor: Actor,
): Promise<Person | null> {
  const [added] = await sql<Person>`
    with p as (
      insert into people (id, email_address, name)
      values (${person.id}, ${person.email_address}, ${person.name})
      on conflict do nothing
      returning id, email_address, name, is_operator, time_zone, theme, language, shortcuts
    ),
    ${recorded('person added', actor, part`(select id, null::uuid as service_id from p)`, { by: 'groups' })}
    select ${personColumns} from p`
  return added ?? null
}

export const setOperatorByGroups = (sql: Sql, person: Id, isOperator: boolean, actor: Actor) => sql`
  with changed as (
    update people
    set is_operator = ${isOperator}
    where id = ${person}
      and is_operator <> ${isOperator}
    returning id, null::uuid as service_id
  ),
  ${recorded(isOperator ? 'operator added' : 'operator removed', actor, part`changed`, { by: 'groups' })}
  select id from changed`
