// Team members: they have a role in the console, may receive messages in trial mode and with team keys, and their address appears as
// `created_by`. Removing them also ends sessions: people/members.ts.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Role } from '../audit/role.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { emailFrom, nameFrom, phoneFrom } from './checks.ts'
import { narrowed } from './find.ts'
import { type HomeApp, planOf } from './home.ts'
import { refuse } from './refusals.ts'
import { listUsers, type TeamMember, addUser as write } from './sql.ts'

type App = { db: { sql: Sql } }

export async function addUser(
  app: HomeApp & { ids: { next(): Id } },
  actor: Actor,
  service: Id,
  input: { name: string; email_address: string; phone_number?: string; role?: Role },
): Promise<TeamMember> {
  requirePermission(actor, 'manage-people', service)
  const user = {
    id: app.ids.next(),
    service_id: service,
    name: nameFrom(input.name),
    email_address: emailFrom(input.email_address),
    phone_number: input.phone_number === undefined ? null : phoneFrom(input.phone_number, await planOf(app, service)),
    role: input.role ?? 'viewer',
  }
  const added = await write(app.db.sql, user, actor)
  if (!added) throw refuse.userTaken(user.email_address)
  return added
}

/** By id or by e-mail address. */
export async function findUser(app: App, service: Id, text: string): Promise<TeamMember> {
  const users = await listUsers(app.db.sql, service)
  const wanted = text.trim().toLowerCase()
  const [user, another] = narrowed(users, text, user => user.email_address.toLowerCase() === wanted)
  if (another) throw refuse.severalEntries(text)
  if (!user) throw refuse.unknownUser(text)
  return user
}

export type AuthorApp = App & { config: { sendingDomain: string } }

/** The e-mail address for `created_by`. The interface requires one: an operator without one is shown as the first team member. */
export async function authorFor(app: AuthorApp, actor: Actor, service: Id): Promise<string> {
  if (actor.kind === 'key') return actor.created_by
  if (actor.kind === 'person') return actor.email_address
  const [first] = await listUsers(app.db.sql, service)
  return first?.email_address ?? `operator@${app.config.sendingDomain}`
}
