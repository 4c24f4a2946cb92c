// Signing in with the provider of the organisation. A person is known there by issuer and subject; the first time they are found by
// an address that the provider has verified. Services that HERALD_OIDC_ROLES names take their roles from groups at every sign-in;
// in all others roles are given in Herald.
import { randomBytes } from 'node:crypto'
import type { Actor } from '../audit/actor.ts'
import { ROLES, type Role } from '../audit/role.ts'
import type { Id } from '../core/id.ts'
import type { Database, Sql } from '../db/connect.ts'
import { readEmail } from '../recipients/email.ts'
import { changeRole, join, leave, type RoleOf } from '../services/sql/group-roles.ts'
import { list as listServices } from '../services/sql.ts'
import { type ChallengeApp, keep, take } from './challenges.ts'
import type { Checks, Claims, OidcClient, ProviderFault } from './oidc.ts'
import type { Person } from './person.ts'
import type { SignInSettings } from './settings.ts'
import { addIdentity, addPersonOfGroups, personByIdentity, setOperatorByGroups } from './sql/identities.ts'
import { personBy, personOf } from './sql/people.ts'

export type SingleSignOnApp = ChallengeApp & { db: Database; config: SignInSettings; oidc: OidcClient | null }

type Kept = { checks: Checks; returnTo: string | null }

export type SignOnFault =
  | ProviderFault
  /**
   * `over`: the sign-in was not begun in this browser, was ended already, or took too long. `unverified`: the provider does not say
   * that the address is the person's. `unknown`: nobody invited them, and no group gives them a role. `another`: confirmed by
   * somebody else.
   */
  | { fault: 'over' | 'unverified' | 'unknown' | 'another'; code: string }

/** `person`: who confirms; null: somebody signs in. `redirectUri`: the whole address of the page that gets the answer. */
export async function beginSingleSignOn(
  app: SingleSignOnApp,
  person: Id | null,
  { browser, redirectUri, returnTo }: { browser: string; redirectUri: string; returnTo: string | null },
): Promise<{ to: string } | SignOnFault> {
  if (!app.oidc) return { fault: 'down', code: 'not configured' }
  const id = app.ids.next()
  const state = `${id}.${randomBytes(24).toString('base64url')}`
  const begun = await app.oidc.begin(state, redirectUri, { isFreshly: person !== null })
  if ('fault' in begun) return begun
  await keep(app, 'single-sign-on', { id, browser, person, secret: { checks: begun.checks, returnTo } satisfies Kept })
  return { to: begun.to }
}

/** `returned`: the query of the provider's answer. `confirms`: the person who began it to confirm who they are. */
export async function endSingleSignOn(
  app: SingleSignOnApp,
  { browser, returned }: { browser: string; returned: URLSearchParams },
): Promise<{ person: Person; returnTo: string | null; confirms: Id | null } | SignOnFault> {
  if (!app.oidc) return { fault: 'down', code: 'not configured' }
  const [id = ''] = (returned.get('state') ?? '').split('.')
  const taken = await take<Kept>(app, 'single-sign-on', { id, browser })
  if (!taken) return { fault: 'over', code: 'no challenge' }
  const claims = await app.oidc.end(returned, taken.secret.checks)
  if ('fault' in claims) return claims
  const person = await app.db.transaction(sql => knownBy({ ...app, sql }, claims))
  if ('fault' in person) return person
  if (taken.person !== null && taken.person !== person.id) return { fault: 'another', code: 'another person' }
  return { person, returnTo: taken.secret.returnTo, confirms: taken.person }
}

type Inside = Omit<SingleSignOnApp, 'db'> & { sql: Sql }

async function knownBy(app: Inside, claims: Claims): Promise<Person | SignOnFault> {
  const given = await rolesFrom(app, claims.groups)
  const person =
    (await personByIdentity(app.sql, claims.issuer, claims.subject)) ?? (await linked(app, claims, given.hasAny))
  if ('fault' in person) return person
  await applyRoles(app, person, given)
  return (await personOf(app.sql, person.id)) ?? { fault: 'unknown', code: 'removed meanwhile' }
}

/** The first sign-in of this identity: it becomes a known person's, or a new person's if a group gives them a role. */
async function linked(app: Inside, claims: Claims, hasRoles: boolean): Promise<Person | SignOnFault> {
  const address = readEmail(claims.email_address ?? '')
  if (!address.ok) return { fault: 'unverified', code: 'no address' }
  if (!claims.isVerified) return { fault: 'unverified', code: 'address not verified' }
  const made = { id: app.ids.next(), email_address: address.address, name: nameOf(claims, address.address) }
  const person =
    (await personBy(app.sql, address.address)) ?? (hasRoles ? await addPersonOfGroups(app.sql, made, GROUPS) : null)
  if (!person) return { fault: 'unknown', code: 'nobody has this address' }
  await addIdentity(app.sql, { issuer: claims.issuer, subject: claims.subject, person: person.id }, GROUPS)
  return person
}

const MOST_NAME = 255

const nameOf = ({ name }: Claims, address: string): string =>
  Array.from((name ?? address).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim())
    .slice(0, MOST_NAME)
    .join('') || address

/** What is changed by groups is recorded under this name. */
const GROUPS: Actor = { kind: 'operator', name: 'single sign-on' }

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
  const governed = services.filter(({ id, name, state }) => state !== 'archived' && (named.has(id) || named.has(name)))
  const roles = governed.flatMap(({ id, name }) => {
    const role = highest(mine.flatMap(value => (value === 'operator' ? [] : (value[id] ?? value[name] ?? []))))
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
  if (isOperator !== null) await setOperatorByGroups(sql, person.id, isOperator, GROUPS)
  if (without.length > 0) await leave(sql, person.id, without, GROUPS)
  for (const role of roles) {
    const { id: person_id, name, email_address } = person
    await changeRole(sql, person_id, role, GROUPS)
    await join(sql, { ...role, id: app.ids.next(), person_id, name, email_address }, GROUPS)
  }
}
