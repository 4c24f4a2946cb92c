import { type Actor, requirePermission } from '../audit/actor.ts'
import { PLAIN } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { checkCountry, checkDays, checkLimit, mailboxOf, nameFrom, reasonFrom } from './checks.ts'
import { refuse } from './refusals.ts'
import { type Changes, isNameTaken, type ShownService, change as write } from './sql.ts'

/** What only operators decide. The mailbox too: a service must not send from that of another. */
const OPERATORS = [
  'mode',
  'state',
  'suspended_reason',
  'mailbox',
  'rate_limit',
  ...Object.values(PLAIN).map(({ columns }) => columns.dailyLimit),
] as const satisfies readonly (keyof Changes)[]

/** Changes the given fields only; a limit of null means the default of the service's mode. */
export async function change(app: { db: { sql: Sql } }, actor: Actor, id: Id, wanted: Changes): Promise<ShownService> {
  requirePermission(actor, 'manage-service', id)
  if (OPERATORS.some(field => wanted[field] !== undefined)) requirePermission(actor, 'manage-installation', id)
  const changes = settingsFrom(wanted)
  if (changes.name !== undefined && (await isNameTaken(app.db.sql, changes.name, id)))
    throw refuse.serviceNameTaken(changes.name).about('name')
  const changed = await write(app.db.sql, id, changes, actor)
  if (!changed) throw refuse.unknownService(id)
  return changed
}

/** The settings in the form in which they are stored, or a refusal. */
export function settingsFrom<C extends Changes>(wanted: C): C {
  for (const { columns, words } of Object.values(PLAIN)) {
    const { [columns.dailyLimit]: limit, [columns.retentionDays]: days } = wanted
    if (limit !== undefined) checkLimit(limit, `daily limit of ${words.many}`, columns.dailyLimit)
    if (days !== undefined) checkDays(days, `retention of ${words.many}`, columns.retentionDays)
  }
  if (wanted.rate_limit !== undefined) checkLimit(wanted.rate_limit, 'limit of requests per minute', 'rate_limit')
  if (wanted.home_country !== undefined) checkCountry(wanted.home_country)
  return {
    ...wanted,
    ...(wanted.name !== undefined && { name: nameFrom(wanted.name) }),
    ...(wanted.mailbox !== undefined && { mailbox: mailboxOf(wanted.mailbox) }),
    ...(wanted.suspended_reason != null && { suspended_reason: reasonFrom(wanted.suspended_reason) }),
  }
}

/** The team sees the reason. Messages that become due meanwhile are not sent. */
export function suspend(app: { db: { sql: Sql } }, actor: Actor, id: Id, reason: string): Promise<ShownService> {
  requirePermission(actor, 'manage-installation', id)
  if (reason.trim() === '') throw refuse.noReason()
  return change(app, actor, id, { state: 'suspended', suspended_reason: reasonFrom(reason) })
}

export const resume = (app: { db: { sql: Sql } }, actor: Actor, id: Id): Promise<ShownService> =>
  change(app, actor, id, { state: 'active' })
