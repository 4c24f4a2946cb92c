// Builds the message that is passed to a provider.
import type { CompiledOf } from '../channels/index.ts'
import { recipientKey } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Attachment, EmailMessage, TextMessage } from '../providers/port.ts'
import { homePlan } from '../recipients/plans.ts'
import type { Email, PiecedEmail } from '../rendering/compile.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Personal } from './notification.ts'

/** A stored message with its compiled template. */
type Stored<C extends 'email' | 'sms'> = { id: Id; sender_id: Id | null; version: CompiledOf<C> }

export function emailOf(
  app: { sendingDomain: string },
  item: Pick<Stored<'email'>, 'id' | 'sender_id'>,
  service: LoadedService,
  to: string,
  email: Email | PiecedEmail,
  attachments: readonly Attachment[],
): EmailMessage {
  return {
    id: item.id,
    messageId: `<${item.id}@${app.sendingDomain}>`,
    from: { name: service.name, address: `${service.mailbox}@${app.sendingDomain}` },
    replyTo: service.reply_tos.find(one => one.id === item.sender_id)?.email_address ?? null,
    to,
    subject: email.subject,
    text: email.text,
    html: email.html,
    pieces: 'pieces' in email ? email.pieces : null,
    attachments,
  }
}

export function textOf(item: Stored<'sms'>, service: LoadedService, { to, values, e164 }: Personal): TextMessage {
  const { text, encoding, fragments } = item.version.compiled.render(values, service.sms_prefix ? service.name : null)
  const number = e164 ?? recipientKey(to, 'sms', homePlan(service.home_country))
  if (number === undefined) throw new Error('a number that was accepted cannot be read')
  const from = service.senders.find(one => one.id === item.sender_id)?.sender ?? service.default_sender
  return { id: item.id, to: number, from, text, encoding, parts: fragments }
}

/** A message and its template have the same channel; anything else is a bug. */
export function versionOf<C extends 'email' | 'sms', V extends { type: string }>(
  version: V,
  channel: C,
): Extract<V, { type: C }> {
  if (version.type !== channel) throw new Error('a message with a template of another channel')
  return version as Extract<V, { type: C }>
}
