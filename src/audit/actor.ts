// Who acts: an API key, a person, or the operator at the command line. Verbs that change something take an actor, check what it
// may do and record it.
import type { Id } from '../core/id.ts'
import { refuse } from './refusals.ts'

export const PERMISSIONS = [
  'see-service',
  'see-messages',
  'export-recipients',
  'send-messages',
  'cancel-messages',
  'manage-templates',
  'manage-webhooks',
  'manage-keys',
  'see-inbox',
  'manage-people',
  'manage-service',
  'manage-installation',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** It may do what its permissions say in its service, and nothing elsewhere. */
type Limited = { id: Id; permissions: readonly Permission[] }

export type KeyActor = Limited & {
  kind: 'key'
  service_id: Id
  name: string
  /** E-mail address of the creator of the key, shown as the author of what the key creates. */
  created_by: string
}

/**
 * Somebody who is signed in to the console, on a page of a service or of the installation (`service_id` null). Names and addresses
 * of people are never written to the audit table, only their ids.
 */
export type PersonActor = Limited & { kind: 'person'; service_id: Id | null; email_address: string; name: string }

/** A person who can run commands on the machine may do everything. The name is that of the system account. */
export type Operator = { kind: 'operator'; name: string }

export type Actor = KeyActor | PersonActor | Operator

/** `service`: the service that is changed; null for the whole installation. */
export const may = (actor: Actor, permission: Permission, service: Id | null): boolean =>
  actor.kind === 'operator' || (actor.service_id === service && actor.permissions.includes(permission))

/** Throws a refusal when the permission is missing. */
export function requirePermission(actor: Actor, permission: Permission, service: Id | null): void {
  if (!may(actor, permission, service)) throw refuse.notPermitted(permission)
}

/** The service that statements of the actor are limited to. Null matches no row: a person on a page of the installation. */
export type ServiceScope = Id | 'every-service' | null
export const serviceScopeOf = (actor: Actor): ServiceScope =>
  actor.kind === 'operator' ? 'every-service' : actor.service_id
