import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, part, type Sql } from '../../db/connect.ts'
import { servicesOf } from '../../services/sql.ts'
import type { Person } from '../person.ts'

export const personColumns = part`p.id, p.email_address, p.name, p.is_operator, p.time_zone, p.theme, p.language, p.shortcuts`

export async function personBy(sql: Sql, address: string): Promise<Person | null> {
  const [found] = await sql<Person>`
    select ${personColumns}
    from people p
    where lower(p.email_address) = lower(${address})`
  return found ?? null
}

export async function personOf(sql: Sql, id: Id): Promise<Person | null> {
  const [found] = await sql<Person>`
    select ${personColumns}
    from people p
    where p.id = ${id}`
  return found ?? null
}

/**
 * Until the end of the transaction no one else changes the person, or what they may do as an operator or by their groups. It comes
 * before locks of their sessions, links and invitations.
 */
export const holdPerson = (sql: Sql, id: Id) => sql`select id from people where id = ${id} for no key update`

/** Returns null if someone has this address already. `by`: what lets them in. */
export async function addPerson(
  sql: Sql,
  person: Pick<Person, 'id' | 'email_address' | 'name'>,
  by: 'groups' | 'invitation' | 'operator',
  actor: Actor,
): Promise<Person | null> {
  const [added] = await sql<Person>`
    with p as (
      insert into people (id, email_address, name)
      values (${person.id}, ${person.email_address}, ${person.name})
      on conflict do nothing
      returning id, email_address, name, is_operator, time_zone, theme, language, shortcuts
    ),
    ${recorded('person added', actor, part`(select id, null::uuid as service_id from p)`, { by })}
    select ${personColumns} from p`
  return added ?? null
}

/** When people were last here, by id. */
export async function seenOf(sql: Sql, people: readonly Id[]): Promise<Map<Id, Timestamp | null>> {
  const rows = await sql<{ id: Id; last_seen_at: Timestamp | null }>`
    select id, last_seen_at
    from people
    where id = any (${bare(people)}::uuid[])`
  return new Map(rows.map(({ id, last_seen_at }) => [id, last_seen_at]))
}

/** Names by id. */
export async function namesOf(sql: Sql, people: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`
    select id, name
    from people
    where id = any (${bare(people)}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export type ListedPerson = {
  id: Id
  email_address: string
  name: string
  is_operator: boolean
  last_seen_at: Timestamp | null
  services: number
  passkeys: number
  identities: number
}

/** Operators first, then by name. */
export const listPeople = (sql: Sql, most: number) => sql<ListedPerson>`
  select p.id, p.email_address, p.name, p.is_operator, p.last_seen_at, ${servicesOf(part`p.id`)} as services,
         (select count(*)::integer from passkeys k where k.person_id = p.id) as passkeys,
         (select count(*)::integer from identities i where i.person_id = p.id) as identities
  from people p
  order by p.is_operator desc, lower(p.name), p.id
  limit ${most}`

export async function countPeople(sql: Sql): Promise<{ people: number; operators: number }> {
  const [row] = await sql<{ people: number; operators: number }>`
    select count(*)::integer as people, count(*) filter (where is_operator)::integer as operators
    from people`
  return row ?? { people: 0, operators: 0 }
}
