// Mails of Herald itself: to the team of a service, not to a recipient of a message.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { EmailMessage } from '../providers/port.ts'

export type Mail = { to: string; subject: string; text: string }

export const MAIL_LANE = 'mails'

/** Given up this long after it was queued. */
export const KEPT_SECONDS = 72 * 3600

export const sealMail = (seal: Seal, { to, subject, text }: Mail): Buffer =>
  seal.seal('mail', JSON.stringify({ to, subject, text } satisfies Mail))

/** A plain text message from the installation's own address, without HTML. */
export function emailFrom(app: { seal: Seal; sendingDomain: string }, id: Id, sealed: Buffer): EmailMessage {
  const { to, subject, text } = JSON.parse(app.seal.open('mail', sealed).toString('utf8')) as Mail
  return {
    id,
    messageId: `<${id}@${app.sendingDomain}>`,
    from: { name: 'Herald', address: `herald@${app.sendingDomain}` },
    replyTo: null,
    to,
    subject,
    text,
    html: '',
    attachments: [],
  }
}
