// Invitations by mail: a link that works once, for 7 days. It proves the address, so accepting also signs in.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Role } from '../audit/role.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { find as findService } from '../services/find.ts'
import { addUser, listUsers } from '../services/sql.ts'
import { invitationLetter, type Language, languageOf } from './letters.ts'
import { trustedConsole } from './links.ts'
import { actorWhoSignsIn, type Person } from './person.ts'
import { refuse } from './refusals.ts'
import { startSession } from './session.ts'
import { find, findByToken, type Invitation, list, take, withdraw, invite as write } from './sql/invitations.ts'
import { addPerson, setOperator } from './sql/operators.ts'
import { namesOf, personBy } from './sql/people.ts'
import { digestOf, isToken, newToken } from './token.ts'
import { refuseBeyond, tried } from './tries.ts'

type App = {
  db: Pick<Database, 'sql' | 'transaction'>
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  config: { baseUrl: string | null }
} & Partial<Mailing>

export type { Invitation }

export const INVITATION_DAYS = 7

/** The page of an invitation, below the address of the console. */
export const invitationPath = (token: string) => `/invitation/${token}`

/** `service` null: an operator of the installation is invited, who has no role. */
export type NewInvitation = ({ service: Id; role: Role } | { service: null; role: null }) & {
  address: string
  console: string
  /** Of the mail, for somebody who has chosen none. */
  language?: Language
}

/** Inviting the same address again sends another link, with the new role. */
export async function invite(app: App, actor: Actor, input: NewInvitation): Promise<Invitation> {
  const { service, role } = input
  requirePermission(actor, service === null ? 'manage-installation' : 'manage-people', service)
  const email_address = emailFrom(input.address)
  const console = trustedConsole(app.config, input.console)
  await refuseMember(app.db.sql, service, email_address)
  const token = newToken()
  const language = languageOf(await personBy(app.db.sql, email_address), input.language)
  const mail = invitationLetter(email_address, language, {
    ...{ service: await nameOfService(app, service), role, by: nameOf(actor) },
    ...{ link: console + invitationPath(token), days: INVITATION_DAYS },
  })
  const mails = sealedMails(app, service ?? INSTALLATION, [mail])
  const now = app.clock.micros()
  const { over, made } = await write(
    app.db.sql,
    // Counted for the address that gets the mails, not for those who invite.
    tried(app, 'invitation', { address: email_address, network: '127.0.0.1' }),
    {
      id: app.ids.next(),
      service_id: service,
      email_address,
      role,
      token_digest: digestOf(token),
      invited_by: actor.kind === 'person' ? actor.id : null,
      expires_at: fromMicros(now + INVITATION_DAYS * 86_400_000_000),
    },
    mails,
    actor,
  )
  refuseBeyond(app, over)
  if (!made) throw new Error('an invitation was neither made nor refused')
  wakeMails(app, mails)
  return made
}

async function refuseMember(sql: Sql, service: Id | null, address: string): Promise<void> {
  if (service === null) {
    if ((await personBy(sql, address))?.is_operator) throw refuse.alreadyOperator(address)
    return
  }
  const users = await listUsers(sql, service)
  const wanted = address.toLowerCase()
  if (users.some(user => user.email_address.toLowerCase() === wanted)) throw refuse.alreadyMember(address)
}

export async function inviteAgain(
  app: App,
  actor: Actor,
  service: Id | null,
  id: Id,
  { console, language }: Pick<NewInvitation, 'console' | 'language'>,
): Promise<Invitation> {
  requirePermission(actor, service === null ? 'manage-installation' : 'manage-people', service)
  const found = await find(app.db.sql, service, id)
  if (!found) throw refuse.unknownInvitation()
  const { email_address: address, service_id, role } = found
  const mail = { address, console, ...(language && { language }) }
  return service_id !== null && role !== null
    ? invite(app, actor, { service: service_id, role, ...mail })
    : invite(app, actor, { service: null, role: null, ...mail })
}

export async function withdrawInvitation(
  app: { db: { sql: Sql } },
  actor: Actor,
  service: Id | null,
  id: Id,
): Promise<Invitation> {
  requirePermission(actor, service === null ? 'manage-installation' : 'manage-people', service)
  const gone = await withdraw(app.db.sql, service, id, actor)
  if (!gone) throw refuse.unknownInvitation()
  return gone
}

export type ListedInvitation = Invitation & { invited_by_name: string | null }

export async function listInvitations(
  app: { db: { sql: Sql }; clock: Clock },
  service: Id | null,
): Promise<ListedInvitation[]> {
  const found = await list(app.db.sql, service, fromMicros(app.clock.micros()))
  const names = await namesOf(
    app.db.sql,
    found.flatMap(one => one.invited_by ?? []),
  )
  return found.map(one => ({ ...one, invited_by_name: one.invited_by && (names.get(one.invited_by) ?? null) }))
}

export type ShownInvitation = {
  email_address: string
  role: Role | null
  service_id: Id | null
  /** Null: the installation. */
  service_name: string | null
  invited_by_name: string | null
  /** Somebody new is asked for a name. */
  isNew: boolean
}

/** Null: it was accepted, withdrawn or has ended. It is not spent. */
export async function readInvitation(
  app: { db: { sql: Sql }; clock: Clock },
  token: unknown,
): Promise<ShownInvitation | null> {
  if (!isToken(token)) return null
  const found = await findByToken(app.db.sql, digestOf(token), fromMicros(app.clock.micros()))
  if (!found) return null
  const { email_address, role, service_id, invited_by } = found
  const service = service_id === null ? null : await findService(app, service_id)
  if (service?.state === 'archived') return null
  const names = await namesOf(app.db.sql, invited_by ? [invited_by] : [])
  return {
    email_address,
    role,
    service_id,
    service_name: service?.name ?? null,
    invited_by_name: invited_by && (names.get(invited_by) ?? null),
    isNew: (await personBy(app.db.sql, email_address)) === null,
  }
}

/** Makes the person if needed, gives them their role and signs them in: all of it or nothing. */
export async function acceptInvitation(
  app: App,
  token: unknown,
  input: { name: string; device: string; before?: string | null },
): Promise<{ token: string; person: Person; service_id: Id | null }> {
  const shown = await readInvitation(app, token)
  if (!shown || !isToken(token)) throw refuse.unknownInvitation()
  const name = shown.isNew ? nameFrom(input.name) : shown.email_address
  return app.db.transaction(async sql => {
    const within = { ...app, db: { ...app.db, sql } }
    const taken = await take(sql, digestOf(token), fromMicros(app.clock.micros()))
    if (!taken) throw refuse.unknownInvitation()
    const { service_id, role, email_address } = taken
    const person = await addPerson(sql, { id: app.ids.next(), email_address, name })
    const actor = actorWhoSignsIn(person)
    if (service_id === null) await setOperator(sql, person.id, true, actor)
    else if (role !== null)
      await addUser(
        sql,
        {
          id: app.ids.next(),
          service_id,
          name: person.name,
          email_address: person.email_address,
          phone_number: null,
          role,
        },
        actor,
        { invitation: taken.id },
      )
    const { device, before = null } = input
    const session = await startSession(within, person, { method: 'link', device, before })
    return { token: session.token, person, service_id }
  })
}

const nameOf = (actor: Actor) => (actor.kind === 'person' ? actor.name : null)

const nameOfService = async (app: { db: { sql: Sql } }, service: Id | null) =>
  service === null ? null : (await findService(app, service)).name
