import { CHANNELS, type Channel, type Compiled } from '../channels/index.ts'
import { fromMicros, zulu } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { fromNumber } from '../services/senders.ts'
import type { LoadedService, ReplyTo, Sender } from '../services/sql.ts'
import { type Notification, openPersonal } from './notification.ts'
import { describe } from './status.ts'

export type SentMessage = {
  id: Id
  reference: string | null
  content: { subject: string; body: string; from_email: string } | { body: string; from_number: string | null }
  template_id: Id
  template_version: number
  /** The due time as the caller wrote it. */
  scheduled_for: string | null
}

type SentContent = (
  app: { sendingDomain: string },
  service: LoadedService,
  content: { body: string; subject?: string },
  origin: ReplyTo | Sender | null,
) => SentMessage['content']

/** The content in the response to a send, by channel. */
export const SENT_CONTENT: Readonly<Record<Channel, SentContent>> = {
  email: ({ sendingDomain }, { mailbox }, { subject = '', body }) => ({
    subject,
    body,
    from_email: `${mailbox}@${sendingDomain}`,
  }),
  sms: (_app, service, { body }, origin) => ({
    body,
    from_number: fromNumber(service, origin && 'sender' in origin ? origin : null),
  }),
}

/** The response to a send; URLs are absolute. */
export const presentSent = (sent: SentMessage, base: string) => ({
  id: sent.id,
  reference: sent.reference,
  content: sent.content,
  uri: `${base}/v2/notifications/${sent.id}`,
  template: {
    id: sent.template_id,
    version: sent.template_version,
    uri: `${base}/v2/template/${sent.template_id}/${sent.template_version}`,
  },
  scheduled_for: sent.scheduled_for,
})

/** A response has the recipient fields of all channels; the one of the message's channel is set. */
const NO_RECIPIENT = { email_address: null, phone_number: null }

/** A stored message; its text is rendered from the template version that was current when it was accepted. */
export function presentNotification(seal: Seal, n: Notification, version: Compiled) {
  const { type } = version
  const { to, values, by } = openPersonal(seal, n.sealed)
  const answer: { body: string; subject?: string } = version.stored(values)
  return {
    id: n.id,
    reference: n.reference,
    ...NO_RECIPIENT,
    [CHANNELS[type].recipient.field]: to,
    type,
    status: n.status,
    status_description: describe(n.status, type, n.failure_detail),
    provider_response: n.status === 'technical-failure' ? n.provider_response : null,
    template: {
      id: n.template_id,
      version: n.template_version,
      uri: `/v2/template/${n.template_id}/${n.template_version}`,
    },
    body: answer.body,
    subject: answer.subject ?? null,
    created_at: zulu(fromMicros(microsOf(n.id))),
    created_by_name: by ?? null,
    sent_at: n.sent_at && zulu(n.sent_at),
    completed_at: n.completed_at && zulu(n.completed_at),
    scheduled_for: n.scheduled_for && zulu(n.scheduled_for),
  }
}
