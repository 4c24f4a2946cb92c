// Signing in with the provider of the organisation. A person is known there by issuer and subject. The first time they are found by
// an address that the provider has verified; someone who has signed in otherwise before connects the two accounts in a session of
// their own. Services that HERALD_OIDC_ROLES names take their roles from groups at every sign-in; in all others roles are given in
// Herald.
import type { Actor } from '../audit/actor.ts'
import { ROLES, type Role } from '../audit/role.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { readEmail } from '../recipients/email.ts'
import { changeRole, join, leave, type RoleOf } from '../services/sql/group-roles.ts'
import { list as listServices } from '../services/sql.ts'
import type { Claims, OidcClient, ProviderFault } from './oidc.ts'
import { isSpent, spendChallenge } from './passkey-challenges.ts'
import type { Person } from './person.ts'
import type { SignInSettings } from './settings.ts'
import { readState, stateFor } from './sign-on-state.ts'
import { addIdentity, hasSignedIn, personByIdentity, setOperatorByGroups } from './sql/identities.ts'
import { endInvitationTo, endUnbacked, isExpected } from './sql/invitations.ts'
import { addPerson, holdPerson, personBy, personOf } from './sql/people.ts'
import { endOtherSessions } from './sql/sessions.ts'

export type SingleSignOnApp = {
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Pick<Seal, 'sealToken' | 'openToken'>
  config: SignInSettings
  oidc: OidcClient | null
}

export type SignedOn = {
  person: Person
  returnTo: string | null
  /** The person who began it to confirm who they are, or null for a sign-in. */
  confirms: Id | null
  /** When they last proved to the provider who they are; null: it does not say. */
  provedAt: number | null
}

export type SignOnFault =
  | ProviderFault
  /**
   * `over`: the sign-in was not begun in this browser, was ended already, or took too long. `unverified`: the provider does not say
   * that the address is the person's. `unknown`: no one invited them, and no group gives them a role. `another`: confirmed by
   * someone else.
   */
  | { fault: 'over' | 'unverified' | 'unknown' | 'another'; code: string }
  /** The person with this address has signed in otherwise before: they must do so again and confirm with single sign-on. */
  | { fault: 'unconnected'; code: string; returnTo: string | null }

/** `person`: who confirms; null: somebody signs in. `redirectUri`: the whole address of the page that gets the answer. */
export async function beginSingleSignOn(
  app: SingleSignOnApp,
  person: Id | null,
  { browser, redirectUri, returnTo }: { browser: string; redirectUri: string; returnTo: string | null },
): Promise<{ to: string } | SignOnFault> {
  if (!app.oidc) return { fault: 'down', code: 'not configured' }
  const begun = await app.oidc.begin(
    proof => stateFor(app, browser, { ...proof, person, redirectUri, returnTo }),
    redirectUri,
    { isFreshly: person !== null },
  )
  return 'fault' in begun ? begun : { to: begun.to }
}

/** `returned`: the query of the provider's answer. `session`: of the browser; it stays when others end. */
export async function endSingleSignOn(
  app: SingleSignOnApp,
  { browser, returned, session }: { browser: string; returned: URLSearchParams; session: Id | null },
): Promise<SignedOn | SignOnFault> {
  if (!app.oidc) return { fault: 'down', code: 'not configured' }
  const state = returned.get('state') ?? ''
  const begun = readState(app, browser, state)
  if (!begun || (await isSpent(app, begun.id))) return OVER
  const { id, person: confirms, returnTo, ...proof } = begun
  const claims = await app.oidc.end(returned, { ...proof, state, isFreshly: confirms !== null })
  if ('fault' in claims) return claims
  if (!(await spendChallenge(app, id))) return OVER
  const confirming = confirms === null ? null : { person: confirms, session }
  const person = await app.db.transaction(sql => knownBy({ ...app, sql }, claims, confirming))
  if ('fault' in person) return person.fault === 'unconnected' ? { ...person, returnTo } : person
  return { person, returnTo, confirms, provedAt: claims.provedAt }
}

type Inside = Omit<SingleSignOnApp, 'db'> & { sql: Sql }

const OVER: SignOnFault = { fault: 'over', code: 'no state of this browser' }
const ANOTHER: SignOnFault = { fault: 'another', code: 'another person' }

/** The person who confirms, and their session in this browser; null: it has ended meanwhile. */
type Confirming = { person: Id; session: Id | null }

/** Every refusal comes before the first write. */
async function knownBy(app: Inside, claims: Claims, confirming: Confirming | null): Promise<Person | SignOnFault> {
  const known = await personByIdentity(app.sql, claims.issuer, claims.subject)
  if (known && confirming && known.id !== confirming.person) return ANOTHER
  if (known) await holdPerson(app.sql, known.id)
  const given = await rolesFrom(app, claims.groups)
  const person = known ?? (await linked(app, claims, confirming, given.hasAny))
  if ('fault' in person) return person
  await applyRoles(app, person, given)
  return (await personOf(app.sql, person.id)) ?? { fault: 'unknown', code: 'removed meanwhile' }
}

/**
 * The first sign-in of this identity. It becomes that of the person who confirms, of a person who has never signed in, or of a new
 * person if a group or an invitation expects them. It is never attached to an account in use by the address alone: everyone who is
 * signed in to that account would get the rights of the identity. For the same reason its other sessions end when it is connected.
 */
async function linked(
  app: Inside,
  claims: Claims,
  confirming: Confirming | null,
  hasRoles: boolean,
): Promise<Person | SignOnFault> {
  const address = readEmail(claims.email_address ?? '')
  if (!address.ok) return { fault: 'unverified', code: 'no address' }
  if (!claims.isVerified) return { fault: 'unverified', code: 'address not verified' }
  const { sql } = app
  const found = await personBy(sql, address.address)
  if (confirming && found?.id !== confirming.person) return ANOTHER
  if (found && !confirming && (await hasSignedIn(sql, found.id)))
    return { fault: 'unconnected', code: 'address of an account that is not connected', returnTo: null }
  const person = found ?? (await added(app, claims, address.address, hasRoles))
  if (!person) return { fault: 'unknown', code: 'nobody has this address' }
  await holdPerson(sql, person.id)
  await addIdentity(sql, { issuer: claims.issuer, subject: claims.subject, person: person.id }, SIGN_ON)
  if (confirming) await endOtherSessions(sql, confirming.person, confirming.session, SIGN_ON)
  return person
}

/** Returns null if neither a group nor an invitation expects someone with this address. */
async function added(app: Inside, claims: Claims, address: string, hasRoles: boolean): Promise<Person | null> {
  const { sql } = app
  const by = hasRoles
    ? 'groups'
    : (await isExpected(sql, address, fromMicros(app.clock.micros())))
      ? 'invitation'
      : null
  if (by === null) return null
  return addPerson(sql, { id: app.ids.next(), email_address: address, name: nameOf(claims, address) }, by, SIGN_ON)
}

const MOST_NAME = 255

const nameOf = ({ name }: Claims, address: string): string =>
  Array.from((name ?? address).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim())
    .slice(0, MOST_NAME)
    .join('') || address

/** What single sign-on changes is recorded under this name. */
const SIGN_ON: Actor = { kind: 'operator', name: 'single sign-on' }

type Given = {
  /** Null: no group decides who is an operator. */
  isOperator: boolean | null
  roles: readonly RoleOf[]
  /** Services that the groups decide about and in which they give no role. */
  without: readonly Id[]
  hasAny: boolean
}

async function rolesFrom(app: Inside, groups: readonly string[]): Promise<Given> {
  const table = app.config.oidcRoles
  const all = Object.values(table)
  const mine = Object.entries(table).flatMap(([group, value]) => (groups.includes(group) ? [value] : []))
  const named = new Set(all.flatMap(value => (value === 'operator' ? [] : Object.keys(value))))
  const services = named.size === 0 ? [] : await listServices(app.sql)
  const governed = services.filter(({ id, state }) => state !== 'archived' && named.has(id))
  const roles = governed.flatMap(({ id }) => {
    const role = highest(mine.flatMap(value => (value === 'operator' ? [] : (value[id] ?? []))))
    return role ? [{ service_id: id, role }] : []
  })
  const isOperator = all.includes('operator') ? mine.includes('operator') : null
  return {
    isOperator,
    roles,
    without: governed.map(({ id }) => id).filter(id => !roles.some(role => role.service_id === id)),
    hasAny: isOperator === true || roles.length > 0,
  }
}

/** The last in the order of ROLES. */
const highest = (roles: readonly Role[]): Role | undefined => ROLES.findLast(role => roles.includes(role))

async function applyRoles(app: Inside, person: Person, { isOperator, roles, without }: Given): Promise<void> {
  const { sql } = app
  const { id: person_id, name, email_address } = person
  if (isOperator !== null) {
    const changed = await setOperatorByGroups(sql, person_id, isOperator, SIGN_ON)
    if (!isOperator && changed.length > 0) await endInvitationTo(sql, null, email_address, SIGN_ON)
  }
  const left = without.length > 0 ? await leave(sql, person_id, without, SIGN_ON) : []
  for (const { service_id } of left) await endInvitationTo(sql, service_id, email_address, SIGN_ON)
  for (const role of roles) {
    await changeRole(sql, person_id, role, SIGN_ON)
    await join(sql, { ...role, id: app.ids.next(), person_id, name, email_address }, SIGN_ON)
  }
  await endUnbacked(sql, person_id, SIGN_ON)
}
