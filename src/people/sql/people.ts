import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { Person } from '../person.ts'

export const personColumns = part`p.id, p.email_address, p.name, p.is_operator, p.time_zone, p.theme, p.shortcuts`

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
