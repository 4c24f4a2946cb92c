// Operators manage the installation: services, people and other operators. There is always one, once there was one.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Database, Sql } from '../db/connect.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { removeEverywhere } from '../services/sql.ts'
import type { Person } from './person.ts'
import { refuse } from './refusals.ts'
import { endInvitationsOf, endInvitationTo, endUnbacked } from './sql/invitations.ts'
import { removePerson as writeRemoval } from './sql/members.ts'
import { holdOperators, listOperators, type Operator, setOperator, signOutHomeless } from './sql/operators.ts'
import { addPerson, holdPerson, personBy, personOf } from './sql/people.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'>; ids: { next(): Id } }

export type { Operator }

export const operatorsOf = (app: { db: { sql: Sql } }): Promise<Operator[]> => listOperators(app.db.sql)

/** Somebody who is not known yet becomes a person. */
export async function addOperator(
  app: App,
  actor: Actor,
  input: { email_address: string; name?: string },
): Promise<Person> {
  requirePermission(actor, 'manage-installation', null)
  const email_address = emailFrom(input.email_address)
  const name = nameFrom(input.name ?? email_address)
  return app.db.transaction(async sql => {
    await holdOperators(sql)
    const known = await personBy(sql, email_address)
    if (known?.is_operator) throw refuse.alreadyOperator(email_address)
    const person = known ?? (await addPerson(sql, { id: app.ids.next(), email_address, name }, 'operator', actor))
    if (!person) throw new Error('a person with this address was added at the same moment')
    await setOperator(sql, person.id, true, actor)
    return { ...person, is_operator: true }
  })
}

/** By e-mail address. Somebody who then belongs nowhere is signed out. */
export async function removeOperator(app: App, actor: Actor, address: string): Promise<Person> {
  requirePermission(actor, 'manage-installation', null)
  return app.db.transaction(async sql => {
    const person = await personBy(sql, address.trim())
    if (!person?.is_operator) throw refuse.notOperator(address.trim())
    await keepOne(sql, person)
    await setOperator(sql, person.id, false, actor)
    await endUnbacked(sql, person.id, actor)
    await endInvitationTo(sql, null, person.email_address, actor)
    await signOutHomeless(sql, person.id)
    return { ...person, is_operator: false }
  })
}

/** With all memberships, sessions, passkeys and links. Entries in the audit table keep the id. */
export async function removePerson(app: App, actor: Actor, id: Id): Promise<Person> {
  requirePermission(actor, 'manage-installation', null)
  return app.db.transaction(async sql => {
    await holdOperators(sql)
    await holdPerson(sql, id)
    const person = await personOf(sql, id)
    if (!person) throw refuse.unknownPerson(id)
    if (person.is_operator) await keepOne(sql, person)
    await removeEverywhere(sql, id, actor)
    await endInvitationsOf(sql, person, actor)
    await writeRemoval(sql, id, actor)
    return person
  })
}

async function keepOne(sql: Sql, person: Person): Promise<void> {
  await holdOperators(sql)
  const all = await listOperators(sql)
  if (!all.some(({ id }) => id !== person.id)) throw refuse.lastOperator(person.name)
}

/** The operator for whom a start on the embedded database prints a link. Where there is none, one is made. */
export async function firstOperator(
  app: App & { config: { sendingDomain: string } },
  actor: Actor,
): Promise<Pick<Person, 'email_address'>> {
  const [first] = await listOperators(app.db.sql)
  if (first) return first
  return addOperator(app, actor, { email_address: `operator@${app.config.sendingDomain}`, name: 'Operator' }).catch(
    async error => {
      const [made] = await listOperators(app.db.sql) // by another process that starts at the same moment
      if (made) return made
      throw error
    },
  )
}
