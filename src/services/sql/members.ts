// Team members are copies of people: their name and address follow.
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'

export const renameMember = (sql: Sql, person: Id, name: string) => sql`
  update users
  set name = ${name}
  where person_id = ${person}
    and name <> ${name}`

export const readdressMember = (sql: Sql, person: Id, address: string) => sql`
  update users
  set email_address = ${address}
  where person_id = ${person}`
