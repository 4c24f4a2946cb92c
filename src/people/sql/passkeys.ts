import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'

export type Passkey = { id: Id; name: string; created_at: Timestamp; last_used_at: Timestamp | null }

/** What the answer of a passkey is checked against. */
export type Credential = {
  id: Id
  person_id: Id
  credential_id: Buffer
  public_key: Buffer
  counter: string
  transports: string[]
}

export const listPasskeys = (sql: Sql, person: Id) => sql<Passkey>`
  select id, name, created_at, last_used_at
  from passkeys
  where person_id = ${person}
  order by id`

export const credentialsOf = (sql: Sql, person: Id) => sql<Pick<Credential, 'credential_id' | 'transports'>>`
  select credential_id, transports
  from passkeys
  where person_id = ${person}
  order by id`

export async function findCredential(sql: Sql, credential: Buffer): Promise<Credential | null> {
  const [found] = await sql<Credential>`
    select id, person_id, credential_id, public_key, counter::text, transports
    from passkeys
    where credential_id = ${credential}`
  return found ?? null
}

/** Nothing is returned when the credential is known already, or the person has too many. */
export const addPasskey = (
  sql: Sql,
  p: Omit<Credential, 'counter'> & { counter: number; name: string },
  most: number,
  actor: Actor,
) => sql<Passkey>`
  with added as (
    insert into passkeys (id, person_id, credential_id, public_key, counter, transports, name)
    select ${p.id}::uuid, ${p.person_id}::uuid, ${p.credential_id}::bytea, ${p.public_key}::bytea, ${p.counter}::bigint,
           ${p.transports}::text[], ${p.name}::text
    where (select count(*) from passkeys where person_id = ${p.person_id}) < ${most}
    on conflict (credential_id) do nothing
    returning id, name, created_at, last_used_at
  ),
  ${recorded('passkey added', actor, part`(select id, null::uuid as service_id from added)`)}
  select id, name, created_at, last_used_at from added`

/**
 * Nothing is returned when another answer with the same or a higher counter was faster: a copy of the passkey may be in use. Passkeys
 * that do not count are always at 0.
 */
export const countUse = (sql: Sql, id: Id, counter: number) => sql`
  update passkeys
  set counter = ${counter},
      last_used_at = now()
  where id = ${id}
    and (counter < ${counter} or (counter = 0 and ${counter}::bigint = 0))
  returning id`

export const renamePasskey = (sql: Sql, person: Id, id: Id, name: string, actor: Actor) => sql`
  with renamed as (
    update passkeys
    set name = ${name}
    where id = ${id}
      and person_id = ${person}
    returning id, null::uuid as service_id
  ),
  ${recorded('passkey renamed', actor, part`renamed`)}
  select id from renamed`

export const removePasskey = (sql: Sql, person: Id, id: Id, actor: Actor) => sql`
  with removed as (
    delete from passkeys
    where id = ${id}
      and person_id = ${person}
    returning id, null::uuid as service_id
  ),
  ${recorded('passkey removed', actor, part`removed`)}
  select id from removed`
