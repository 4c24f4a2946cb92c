import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { belongsBeside, userRemoved } from '../../services/sql.ts'

/** A member leaves. Somebody who then belongs nowhere and is no operator is signed out, and their links are worth nothing. */
export const removeUser = (sql: Sql, service: Id, user: { id: Id; person_id: Id }, actor: Actor) => sql`
  with ${userRemoved(service, user, actor)},
  homeless as (
    select p.id
    from removed r
    join people p on p.id = r.person_id
    where not p.is_operator
      and not ${belongsBeside(part`p.id`, part`r.id`)}
  ),
  signed_out as (
    delete from sessions
    where person_id in (select id from homeless)
  ),
  without_links as (
    delete from sign_in_links
    where person_id in (select id from homeless)
  )
  select id from removed`

/** Everything of the person goes with them: sessions, passkeys, links, identities. Their memberships are gone already. */
export const removePerson = (sql: Sql, person: Id, actor: Actor) => sql`
  with removed as (
    delete from people
    where id = ${person}
    returning id, null::uuid as service_id
  ),
  ${recorded('person removed', actor, part`removed`)}
  select id from removed`
