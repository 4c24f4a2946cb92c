// Invitations by mail: a link that works once, for 7 days. It proves the address, so it also signs in someone new. Someone who has an
// account accepts in a session of that account, because others may be signed in to it.
import { type Actor, type PersonActor, requirePermission } from '../audit/actor.ts'
import { refuse as refuseActor } from '../audit/refusals.ts'
import type { Role } from '../audit/role.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { find as findService } from '../services/find.ts'
import { addUser, holdTeam, listUsers } from '../services/sql.ts'
import { invitationLetter, type Language, languageOf } from './letters.ts'
import { trustedConsole } from './links.ts'
import { actorWhoSignsIn, type Person, type SignedIn } from './person.ts'
import { refuse } from './refusals.ts'
import { endOtherSessions, startSession } from './session.ts'
import { find, findByToken, type Invitation, list, take, withdraw, invite as write } from './sql/invitations.ts'
import { setOperator } from './sql/operators.ts'
import { addPerson, holdPerson, namesOf, personBy } from './sql/people.ts'
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
export async function invite(app: App, actor: PersonActor, input: NewInvitation): Promise<Invitation> {
  const { service, role } = input
  const permission = service === null ? 'manage-installation' : 'manage-people'
  requirePermission(actor, permission, service)
  const email_address = emailFrom(input.address)
  const console = trustedConsole(app.config, input.console)
  await refuseMember(app.db.sql, service, email_address)
  const token = newToken()
  const language = languageOf(await personBy(app.db.sql, email_address), input.language)
  const mail = invitationLetter(email_address, language, {
    ...{ service: await nameOfService(app, service), role, by: actor.name },
    ...{ link: console + invitationPath(token), days: INVITATION_DAYS },
  })
  const mails = sealedMails(app, service ?? INSTALLATION, [mail])
  const now = app.clock.micros()
  const invitation = {
    id: app.ids.next(),
    service_id: service,
    email_address,
    role,
    token_digest: digestOf(token),
    invited_by: actor.id,
    expires_at: fromMicros(now + INVITATION_DAYS * 86_400_000_000),
  }
  // Counted for the address that gets the mails, not for those who invite.
  const by = tried(app, 'invitation', { recipient: email_address })
  const { over, made } = await app.db.transaction(async sql => {
    if (service !== null) await holdTeam(sql, service)
    await holdPerson(sql, actor.id)
    return write(sql, by, invitation, mails, actor)
  })
  refuseBeyond(app, over)
  if (!made) throw refuseActor.notPermitted(permission)
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
  actor: PersonActor,
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
    found.map(one => one.invited_by),
  )
  return found.map(one => ({ ...one, invited_by_name: names.get(one.invited_by) ?? null }))
}

export type ShownInvitation = {
  email_address: string
  role: Role | null
  service_id: Id | null
  /** Null: the installation. */
  service_name: string | null
  invited_by_name: string | null
  /** The person with this address; null: someone new, who is asked for a name. */
  person_id: Id | null
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
  const names = await namesOf(app.db.sql, [invited_by])
  return {
    email_address,
    role,
    service_id,
    service_name: service?.name ?? null,
    invited_by_name: names.get(invited_by) ?? null,
    person_id: (await personBy(app.db.sql, email_address))?.id ?? null,
  }
}

/** `own`: in the session of the invited person. `new`: the link makes a person. `sign-in`: first, as the invited person. */
export type WayToAccept = 'own' | 'new' | 'sign-in'

export function wayToAccept(
  { localSignIn }: { localSignIn: boolean },
  { person_id }: Pick<ShownInvitation, 'person_id'>,
  signedIn: SignedIn | null,
): WayToAccept {
  if (person_id !== null) return signedIn?.person.id === person_id ? 'own' : 'sign-in'
  return localSignIn ? 'new' : 'sign-in'
}

/**
 * Gives the role to the signed-in person, or makes the person and signs them in: all of it or nothing. The invited person's other
 * sessions end, so that no one has the new rights who does not prove again who they are. `token`: of a new session.
 */
export async function acceptInvitation(
  app: App & { config: { localSignIn: boolean } },
  token: unknown,
  input: { signedIn: SignedIn | null; name: string; device: string; before?: string | null },
): Promise<{ token: string | null; person: Person; service_id: Id | null }> {
  const shown = await readInvitation(app, token)
  if (!shown || !isToken(token)) throw refuse.unknownInvitation()
  const { signedIn, device, before = null } = input
  const way = wayToAccept(app.config, shown, signedIn)
  const name = way === 'new' ? nameFrom(input.name) : ''
  return app.db.transaction(async sql => {
    const within = { ...app, db: { ...app.db, sql } }
    // Changes of the team and the removal of a person lock these first and invitations last.
    if (shown.service_id !== null) await holdTeam(sql, shown.service_id)
    if (way === 'own' && signedIn) await holdPerson(sql, signedIn.person.id)
    const taken = await take(sql, digestOf(token), fromMicros(app.clock.micros()))
    if (!taken) throw refuse.unknownInvitation()
    const person = await acceptedBy(within, way, taken, signedIn, name)
    if (!person) throw refuse.signInFirst(taken.email_address)
    await grant(within, taken, person)
    if (way === 'new') {
      const session = await startSession(within, person, { method: 'link', device, before })
      return { token: session.token, person, service_id: taken.service_id }
    }
    if (signedIn) await endOtherSessions(within, signedIn)
    return { token: null, person, service_id: taken.service_id }
  })
}

type Within = { db: { sql: Sql }; ids: { next(): Id } }

/** Returns null if the person must sign in first, also because someone has taken the address since the page was shown. */
async function acceptedBy(
  { db: { sql }, ids }: Within,
  way: WayToAccept,
  { email_address }: Invitation,
  signedIn: SignedIn | null,
  name: string,
): Promise<Person | null> {
  if (way === 'sign-in') return null
  if (way === 'own') {
    const person = await personBy(sql, email_address)
    return person && person.id === signedIn?.person.id ? person : null
  }
  const added = { id: ids.next(), email_address, name }
  return addPerson(sql, added, 'invitation', actorWhoSignsIn(added))
}

async function grant({ db: { sql }, ids }: Within, invitation: Invitation, person: Person): Promise<void> {
  const { service_id, role } = invitation
  const actor = actorWhoSignsIn(person)
  if (service_id === null) await setOperator(sql, person.id, true, actor)
  else if (role !== null) {
    const { name, email_address } = person
    const user = { id: ids.next(), service_id, name, email_address, phone_number: null, role }
    await addUser(sql, user, actor, { invitation: invitation.id })
  }
}

const nameOfService = async (app: { db: { sql: Sql } }, service: Id | null) =>
  service === null ? null : (await findService(app, service)).name
