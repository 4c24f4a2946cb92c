// The team of a service: roles and who leaves. Rights end with the next request, because they are read with every request; a person
// who belongs nowhere any longer is signed out at once. Invitations end with the membership: those by someone who can no longer invite,
// and one to someone who leaves.
import { type Actor, may, requirePermission } from '../audit/actor.ts'
import type { Role } from '../audit/role.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Database, Sql } from '../db/connect.ts'
import { findUser } from '../services/people.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { addUser, changeUserRole, hold, listUsers, type TeamMember } from '../services/sql.ts'
import { refuse } from './refusals.ts'
import { endInvitationTo, endUnbacked } from './sql/invitations.ts'
import { removeUser } from './sql/members.ts'
import { seenOf } from './sql/people.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'> }

export type Member = TeamMember & { last_seen_at: Timestamp | null }

/** Managers first, then by name. */
export async function listMembers(app: { db: { sql: Sql } }, service: Id): Promise<Member[]> {
  const users = await listUsers(app.db.sql, service)
  const seen = await seenOf(
    app.db.sql,
    users.map(user => user.person_id),
  )
  const rank = ({ role }: Member) => (role === 'manager' ? 0 : 1)
  return users
    .map(user => ({ ...user, last_seen_at: seen.get(user.person_id) ?? null }))
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

/** `text`: id or e-mail address of the member. */
export async function changeRole(app: App, actor: Actor, service: Id, text: string, role: Role): Promise<TeamMember> {
  requirePermission(actor, 'manage-people', service)
  return app.db.transaction(async sql => {
    const member = await held(sql, actor, service, text, role)
    await changeUserRole(sql, service, member.id, role, actor)
    await endUnbacked(sql, member.person_id, actor)
    return { ...member, role }
  })
}

export async function removeMember(app: App, actor: Actor, service: Id, text: string): Promise<TeamMember> {
  requirePermission(actor, 'manage-people', service)
  return app.db.transaction(async sql => {
    const member = await held(sql, actor, service, text, null)
    await removeUser(sql, service, member, actor)
    await endUnbacked(sql, member.person_id, actor)
    await endInvitationTo(sql, service, member.email_address, actor)
    return member
  })
}

/** The member, who will have this role or none. The last manager stays, unless an operator decides. */
async function held(sql: Sql, actor: Actor, service: Id, text: string, role: Role | null): Promise<TeamMember> {
  await hold(sql, service) // two managers cannot remove each other at the same moment
  const member = await findUser({ db: { sql } }, service, text)
  if (member.role !== 'manager' || role === 'manager' || may(actor, 'manage-installation', service)) return member
  const users = await listUsers(sql, service)
  if (!users.some(user => user.id !== member.id && user.role === 'manager')) throw refuse.lastManager(member.name)
  return member
}

/** An operator becomes a member, to see messages. It is recorded like every other membership. */
export async function joinService(
  app: { db: { sql: Sql }; ids: { next(): Id } },
  actor: Actor,
  service: Id,
  person: { name: string; email_address: string },
  role: Role,
): Promise<TeamMember> {
  if (!may(actor, 'manage-installation', null)) requirePermission(actor, 'manage-installation', service)
  const { name, email_address } = person
  const user = { id: app.ids.next(), service_id: service, name, email_address, phone_number: null, role }
  const added = await addUser(app.db.sql, user, actor, { by: 'operator' })
  if (!added) throw refuseService.userTaken(email_address)
  return added
}
