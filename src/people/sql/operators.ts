import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { belongsSomewhere } from '../../services/sql.ts'
import type { Person } from '../person.ts'
import { personColumns } from './people.ts'

export type Operator = Person & { created_at: Timestamp; last_seen_at: Timestamp | null }

/** Oldest first. */
export const listOperators = (sql: Sql) => sql<Operator>`
  select ${personColumns}, p.created_at, p.last_seen_at
  from people p
  where p.is_operator
  order by p.created_at, p.id`

/** Until the end of the transaction no other process changes who is an operator. */
export const holdOperators = (sql: Sql) => sql`select pg_advisory_xact_lock(60110018)`

export const setOperator = (sql: Sql, person: Id, isOperator: boolean, actor: Actor) => sql`
  with changed as (
    update people
    set is_operator = ${isOperator}
    where id = ${person}
      and is_operator <> ${isOperator}
    returning id, null::uuid as service_id
  ),
  ${recorded(isOperator ? 'operator added' : 'operator removed', actor, part`changed`)}
  select id from changed`

/** Somebody who belongs nowhere and is no operator. */
export const signOutHomeless = (sql: Sql, person: Id) => sql`
  with homeless as (
    select p.id
    from people p
    where p.id = ${person}
      and not p.is_operator
      and not ${belongsSomewhere(part`p.id`)}
  ),
  without_links as (
    delete from sign_in_links
    where person_id in (select id from homeless)
  )
  delete from sessions
  where person_id in (select id from homeless)`
