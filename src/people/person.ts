// People, their sessions and their places in services.
import type { PersonActor } from '../audit/actor.ts'
import { permissionsOf, type Role } from '../audit/role.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'

export type Theme = 'auto' | 'light' | 'dark'
/** auto: the browser's. */
export type ShownLanguage = 'auto' | 'en' | 'fr'

export type Person = {
  id: Id
  email_address: string
  name: string
  is_operator: boolean
  /** Of the IANA database; null: not known yet. */
  time_zone: string | null
  theme: Theme
  language: ShownLanguage
  /** Whether single letters are shortcuts. */
  shortcuts: boolean
}

export type SignInMethod = 'link' | 'passkey' | 'single-sign-on'

export type Session = {
  id: Id
  method: SignInMethod
  /** Browser and system in words, such as "Firefox on Linux". */
  device: string
  created_at: Timestamp
  /** The last proof of who it is: signing in, or confirming it again. With single sign-on, the one that the provider had. */
  signed_in_at: Timestamp
  last_seen_at: Timestamp
}

/** A service that the person belongs to. */
export type Membership = { service_id: Id; service_name: string; mode: 'trial' | 'live'; role: Role }

export type SignedIn = { person: Person; session: Session; memberships: readonly Membership[] }

/** On a page of this service, or of the installation (null). */
export const actorOf = (
  { person, memberships }: Pick<SignedIn, 'person' | 'memberships'>,
  service: Id | null,
): PersonActor => ({
  kind: 'person',
  id: person.id,
  service_id: service,
  email_address: person.email_address,
  name: person.name,
  permissions: permissionsOf(memberships.find(one => one.service_id === service)?.role ?? null, person.is_operator),
})

/** Somebody who signs in: may nothing yet, but is recorded. */
export const actorWhoSignsIn = (person: Pick<Person, 'id' | 'email_address' | 'name'>): PersonActor => ({
  kind: 'person',
  id: person.id,
  service_id: null,
  email_address: person.email_address,
  name: person.name,
  permissions: [],
})
