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
