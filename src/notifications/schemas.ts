// Shapes of message requests and replies. The order of the fields is the order in which complaints are reported.
import { FILTERS } from './status.ts'

const id = { type: 'string', format: 'uuid' } as const
const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const reference = {
  type: 'string',
  maxLength: 1000,
  description: 'Your own name for one message or a batch; no personal information.',
} as const
const personalisation = {
  type: 'object',
  description: 'Placeholder name to value; for e-mails a value may be a file: {file, filename, sending_method}.',
} as const
const scheduledFor = {
  type: ['string', 'null'],
  description: 'ISO 8601, UTC unless a zone is given, at most 96 hours ahead.',
} as const

export const emailBody = {
  type: 'object',
  properties: {
    reference,
    email_address: { type: 'string', format: 'email' },
    template_id: id,
    personalisation,
    scheduled_for: scheduledFor,
    email_reply_to_id: id,
  },
  required: ['email_address', 'template_id'],
  additionalProperties: false,
} as const

export const smsBody = {
  type: 'object',
  properties: {
    reference,
    phone_number: { type: 'string', format: 'phone' },
    template_id: id,
    personalisation,
    scheduled_for: scheduledFor,
    sms_sender_id: id,
  },
  required: ['phone_number', 'template_id'],
  additionalProperties: false,
} as const

/** Both bodies as the verb takes them. */
export type SendInput = {
  to: string
  template_id: string
  reference: string | null
  personalisation: Readonly<Record<string, unknown>>
  /** Decoded contents of its file objects, by key. */
  contents: ReadonlyMap<string, Buffer | null>
  scheduled_for: string | null
  sender_id: string | undefined
}

export type EmailBody = {
  reference?: string
  email_address: string
  template_id: string
  personalisation?: Record<string, unknown>
  scheduled_for?: string | null
  email_reply_to_id?: string
}

export type SmsBody = Omit<EmailBody, 'email_address' | 'email_reply_to_id'> & {
  phone_number: string
  sms_sender_id?: string
}

export const listQuery = {
  type: 'object',
  properties: {
    reference: { type: 'string' },
    status: { type: 'array', items: { enum: FILTERS } },
    template_type: { type: 'array', items: { enum: ['sms', 'email'] } },
    include_jobs: { enum: ['true', 'True', 'false', 'False'] },
    older_than: id,
  },
  additionalProperties: false,
} as const

export type ListQuery = {
  reference?: string
  status?: (typeof FILTERS)[number][]
  template_type?: ('sms' | 'email')[]
  include_jobs?: 'true' | 'True' | 'false' | 'False'
  older_than?: string
}

const template = { type: 'object', properties: { id, version: { type: 'integer' }, uri: text } } as const

const sendReply = (content: Record<string, unknown>) =>
  ({
    type: 'object',
    properties: {
      id,
      reference: textOrNull,
      content: { type: 'object', properties: content },
      uri: text,
      template,
      scheduled_for: textOrNull,
    },
  }) as const

export const emailReply = sendReply({ subject: text, body: text, from_email: text })
export const smsReply = sendReply({ body: text, from_number: textOrNull })

export const notificationReply = {
  type: 'object',
  properties: {
    id,
    reference: textOrNull,
    email_address: textOrNull,
    phone_number: textOrNull,
    type: { enum: ['email', 'sms'] },
    status: text,
    status_description: text,
    provider_response: textOrNull,
    template,
    body: text,
    subject: textOrNull,
    created_at: { type: 'string', format: 'date-time' },
    created_by_name: textOrNull,
    sent_at: textOrNull,
    completed_at: textOrNull,
    scheduled_for: textOrNull,
  },
} as const

export const listReply = {
  type: 'object',
  properties: {
    notifications: { type: 'array', items: notificationReply },
    links: { type: 'object', properties: { current: text, next: text } },
  },
} as const

export const cancelReply = { type: 'object', properties: { result: text } } as const
