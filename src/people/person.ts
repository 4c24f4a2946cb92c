// People, their sessions and their places in services.
import type { Role } from '../audit/role.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'

export type Theme = 'auto' | 'light' | 'dark'

export type Person = {
  id: Id
  email_address: string
  name: string
  is_operator: boolean
  /** Of the IANA database; null: not known yet. */
  time_zone: string | null
  theme: Theme
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
  /** The last proof of who it is: signing in, or confirming it again. */
  signed_in_at: Timestamp
  last_seen_at: Timestamp
}

/** A service that the person belongs to. */
export type Membership = { service_id: Id; service_name: string; mode: 'trial' | 'live'; role: Role }

export type SignedIn = { person: Person; session: Session; memberships: readonly Membership[] }
