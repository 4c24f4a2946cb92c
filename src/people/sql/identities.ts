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

/** Whether the person has ever had a session or connected an account: before, nobody but Herald can have acted for them. */
export async function hasSignedIn(sql: Sql, person: Id): Promise<boolean> {
  const [row] = await sql<{ has: boolean }>`
    select p.last_seen_at is not null
        or exists (select from passkeys where person_id = p.id)
        or exists (select from identities where person_id = p.id) as has
    from people p
    where p.id = ${person}`
  return row?.has ?? false
}

/** Whether the person is connected to an account of this provider. */
export async function isConnected(sql: Sql, person: Id, issuer: string): Promise<boolean> {
  const [row] = await sql<{ is: boolean }>`
    select exists (select from identities where person_id = ${person} and issuer = ${issuer}) as is`
  return row?.is ?? false
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
