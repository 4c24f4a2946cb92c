import { type Actor, requirePermission } from '../audit/actor.ts'
import { randomId } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { mailboxOf, nameFrom } from './checks.ts'
import { refuse } from './refusals.ts'
import { mailboxFrom, type Service } from './service.ts'
import { add, type ShownService } from './sql.ts'

export type NewService = { name: string; mode?: Service['mode']; mailbox?: string }

/** A new service is in trial mode unless `mode` is given, and sends from a mailbox derived from its name. */
export async function create(app: { db: { sql: Sql } }, actor: Actor, input: NewService): Promise<ShownService> {
  requirePermission(actor, 'manage-service', null)
  const name = nameFrom(input.name)
  const mailbox = input.mailbox === undefined ? mailboxFrom(name) : mailboxOf(input.mailbox)
  const added = await add(app.db.sql, { id: randomId(), name, mode: input.mode ?? 'trial', mailbox }, actor)
  if (!added) throw refuse.serviceNameTaken(name)
  return added
}
