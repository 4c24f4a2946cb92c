// What a person changes about themselves.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { Person } from '../person.ts'

export type AccountChange = Partial<Pick<Person, 'name' | 'time_zone' | 'theme' | 'language' | 'shortcuts'>>

/** Changes the given fields only. Their names are recorded, not their values. */
export const changeAccount = (sql: Sql, person: Id, change: AccountChange, actor: Actor) => sql`
  with changed as (
    update people
    set (name, time_zone, theme, language, shortcuts)
      = (select n.name, n.time_zone, n.theme, n.language, n.shortcuts from jsonb_populate_record(people, ${JSON.stringify(change)}::jsonb) as n)
    where id = ${person}
    returning id, null::uuid as service_id
  ),
  ${recorded('account changed', actor, part`changed`, { fields: Object.keys(change) })}
  select id from changed`

/** The zone of the browser, until the person chooses one. */
export const noteTimeZone = (sql: Sql, person: Id, zone: string) => sql`
  update people
  set time_zone = ${zone}
  where id = ${person}
    and time_zone is null`

/** Nothing is returned when the person has another address meanwhile, or somebody else has the new one. */
export const changeAddress = (sql: Sql, person: Id, { from, to }: { from: string; to: string }, actor: Actor) => sql`
  with changed as (
    update people
    set email_address = ${to}
    where id = ${person}
      and email_address = ${from}
      and not exists (select from people where lower(email_address) = lower(${to}) and id <> ${person})
    returning id, null::uuid as service_id
  ),
  ${recorded('address changed', actor, part`changed`)}
  select id from changed`
