// Queues mails. What must be committed together with something else uses `sealedMails` and the statement part `mailsQueued`.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import { listUsers } from '../services/sql.ts'
import { MAIL_LANE, type Mail, sealMail } from './mail.ts'
import { type QueuedMail, queue } from './sql.ts'

export type MailApp = { sql: Sql; seal: Seal; ids: { next(): Id }; wake(lane: string): void }

export async function sendMails(app: MailApp, service: Id, mails: readonly Mail[]): Promise<void> {
  if (mails.length === 0) return
  await queue(app.sql, sealedMails(app, service, mails))
  app.wake(MAIL_LANE)
}

/** Whose matter a mail is that belongs to no service: one turn for all of them. */
export const INSTALLATION = '00000000-0000-0000-0000-000000000000' as Id

/** What sends queued mails without delay. A command has none: an engine finds them within a second. */
export type Mailing = { dispatcher: Pick<Dispatcher, 'hand'> }

/** After the commit that queued them. */
export function wakeMails({ dispatcher }: Partial<Mailing>, mails: readonly QueuedMail[]): void {
  const [first] = mails
  if (!first) return
  const { id, service_id } = first
  dispatcher?.hand([{ id, lane: MAIL_LANE, service_id, subjects: [id], attempts: 0, takes: 0 }], null)
}

/** `service`: whose matter it is. Mails of different services have their turn fairly. */
export const sealedMails = (
  { seal, ids }: Pick<MailApp, 'seal' | 'ids'>,
  service: Id,
  mails: readonly Mail[],
): QueuedMail[] => mails.map(mail => ({ id: ids.next(), service_id: service, sealed: sealMail(seal, mail) }))

/** The addresses of those who manage a service, each once: its managers, or all team members where there is none. */
export async function managersOf(sql: Sql, service: Id): Promise<string[]> {
  const users = await listUsers(sql, service)
  const managers = users.filter(user => user.role === 'manager')
  const addressed = managers.length > 0 ? managers : users
  return [...new Map(addressed.map(user => [user.email_address.toLowerCase(), user.email_address])).values()]
}
