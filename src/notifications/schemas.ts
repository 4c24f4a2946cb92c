// Schemas of requests and responses. Validation errors are reported in the order of the fields.
import { complete, count, id, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { FILTERS, STATUSES } from './status.ts'

const reference = {
  type: 'string',
  maxLength: 1000,
  description: 'Your own name for one message or a batch; no personal information.',
} as const
const personalisation = {
  type: 'object',
  additionalProperties: true,
  description:
    'Placeholder name to value: a string, a number, a boolean, or a list of strings and numbers; for e-mails also a file: {file, filename, sending_method}. At most 1,000 names, 3 levels and 51,200 characters, files not counted.',
} as const
const scheduledFor = {
  type: ['string', 'null'],
  description: 'ISO 8601, UTC unless a zone is given, at most 96 hours ahead.',
} as const

export const emailBody = {
  title: 'SendEmail',
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
  title: 'SendTextMessage',
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

/** The body of a send, for any channel. */
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

const template = complete({ id, version: count, uri: text }, 'TemplateOfMessage')

const sendReply = (title: string, content: Record<string, unknown>) =>
  complete(
    {
      id,
      reference: textOrNull,
      content: complete(content),
      uri: text,
      template,
      scheduled_for: { ...textOrNull, description: 'As it was given.' },
    },
    title,
  )

export const emailReply = sendReply('SentEmail', { subject: text, body: text, from_email: text })
export const smsReply = sendReply('SentTextMessage', { body: text, from_number: textOrNull })

export const status = { title: 'MessageStatus', enum: STATUSES } as const

export const notificationReply = complete(
  {
    id,
    reference: textOrNull,
    email_address: { ...textOrNull, description: 'null for a text message.' },
    phone_number: { ...textOrNull, description: 'null for an e-mail.' },
    type: { enum: ['email', 'sms'] },
    status,
    status_description: text,
    provider_response: { ...textOrNull, description: 'Only of a technical failure.' },
    template,
    body: text,
    subject: { ...textOrNull, description: 'null for a text message.' },
    created_at: time,
    created_by_name: textOrNull,
    sent_at: timeOrNull,
    completed_at: timeOrNull,
    scheduled_for: timeOrNull,
  },
  'Message',
)

export const listReply = complete(
  {
    notifications: { type: 'array', items: notificationReply },
    links: {
      type: 'object',
      properties: { current: text, next: { ...text, description: 'Not there when this page is empty.' } },
      required: ['current'],
    },
  },
  'MessageList',
)

export const cancelReply = complete({ result: { enum: ['success'] } }, 'CancelledMessage')

const countOrNull = { type: ['integer', 'null'] } as const
const orNull = <T extends { readonly type: 'object' }>(schema: T) => ({ ...schema, type: ['object', 'null'] }) as const

export const problems = {
  type: 'array',
  items: complete({ error: text, message: text }, 'Problem'),
  description:
    'Everything that is wrong, in the order of the checks. A send is refused with the first, or with all of one body.',
} as const

export const daily = {
  day: { type: 'string', format: 'date', description: 'The UTC day on which it is due.' },
  limit: count,
  used: count,
  remaining: count,
} as const

const file = complete(
  {
    name: text,
    bytes: count,
    method: { enum: ['attach', 'link'] },
    media_type: text,
    is_scanned: {
      type: 'boolean',
      description: 'false: the virus scanner did not answer; the message would wait for it.',
    },
  },
  'CheckedFile',
)

export const checkReply = complete(
  {
    ok: { type: 'boolean', description: 'A send with this body would be accepted now.' },
    problems,
    skipped: {
      type: 'array',
      items: { enum: ['template', 'content', 'daily limit', 'sender', 'recipient', 'files'] },
      description: 'What could not be checked because of a problem.',
    },
    template: orNull(complete({ id, version: count })),
    content: {
      ...orNull(complete({ subject: textOrNull, body: text, text, html: textOrNull })),
      description:
        '`body`: as the answer to a send shows it. `text` and `html`: as the recipient gets it. Missing values show as marks. null: it cannot be rendered.',
    },
    parts: { ...countOrNull, description: 'Of a text message: how many it counts as.' },
    alphabet: { type: ['string', 'null'], enum: ['GSM-7', 'UCS-2', null], description: 'Of a text message.' },
    characters: {
      ...countOrNull,
      description: 'Of a text message: units of its alphabet, at most 612. Of an e-mail: characters of its text.',
    },
    bytes: { ...countOrNull, description: 'Of an e-mail: subject, body and files, at most 6,291,456.' },
    files: { type: 'array', items: file, description: 'Files whose type is allowed, if none has a virus.' },
    lane: { ...textOrNull, description: 'Where it would wait to be sent. null for a recipient of smoke tests.' },
    daily: { ...orNull(complete(daily)), description: 'null for a test key, which has no daily limit.' },
    recipient: orNull(
      complete({
        address: { ...text, description: 'In its normal form.' },
        is_allowed: { type: 'boolean' },
        reason: { type: ['string', 'null'], enum: ['team-only', 'trial', 'international', null] },
        is_international: { type: 'boolean' },
        is_smoke_test: { type: 'boolean' },
      }),
    ),
  },
  'CheckedMessage',
)

const MESSAGE = '01937e5a-8f3c-7d21-9b4e-2c6f0a1d3e57'
const TEMPLATE = '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b'
const sentExample = (content: object) => ({
  id: MESSAGE,
  reference: 'permit-4711',
  content,
  uri: `https://herald.example/v2/notifications/${MESSAGE}`,
  template: { id: TEMPLATE, version: 3, uri: `https://herald.example/v2/template/${TEMPLATE}/3` },
  scheduled_for: null,
})
const messageExample = {
  id: MESSAGE,
  reference: 'permit-4711',
  email_address: 'ada@example.org',
  phone_number: null,
  type: 'email',
  status: 'delivered',
  status_description: 'Delivered',
  provider_response: null,
  template: { id: TEMPLATE, version: 3, uri: `/v2/template/${TEMPLATE}/3` },
  body: 'Dear Ada,\n\nyour permit is ready.',
  subject: 'Your permit',
  created_at: '2026-11-02T09:15:00.123456Z',
  created_by_name: null,
  sent_at: '2026-11-02T09:15:00.345678Z',
  completed_at: '2026-11-02T09:15:02.456789Z',
  scheduled_for: null,
}

/** Examples for openapi.json. */
export const examples = {
  sendEmail: {
    body: {
      template_id: TEMPLATE,
      email_address: 'ada@example.org',
      personalisation: { name: 'Ada' },
      reference: 'permit-4711',
    },
    reply: sentExample({
      subject: 'Your permit',
      body: 'Dear Ada,\n\nyour permit is ready.',
      from_email: 'permits@herald.example',
    }),
  },
  sendSms: {
    body: {
      template_id: TEMPLATE,
      phone_number: '+16135550123',
      personalisation: { name: 'Ada' },
      reference: 'permit-4711',
    },
    reply: sentExample({ body: 'Dear Ada, your permit is ready.', from_number: 'PERMITS' }),
  },
  checkEmail: {
    body: { template_id: TEMPLATE, email_address: 'ada@example.org' },
    reply: {
      ok: false,
      problems: [
        { error: 'BadRequestError', message: `Missing personalisation for template ID ${TEMPLATE}: name` },
        { error: 'BadRequestError', message: "Can't send to this recipient when service is in trial mode" },
      ],
      skipped: [],
      template: { id: TEMPLATE, version: 3 },
      content: {
        subject: 'Your permit',
        body: 'Dear ((name)),\n\nyour permit is ready.',
        text: 'Dear ((name)),\n\nyour permit is ready.',
        html: '<!doctype html>…',
      },
      parts: null,
      alphabet: null,
      characters: 36,
      bytes: 47,
      files: [],
      lane: 'email-medium',
      daily: { day: '2026-11-02', limit: 50, used: 0, remaining: 50 },
      recipient: {
        address: 'ada@example.org',
        is_allowed: false,
        reason: 'trial',
        is_international: false,
        is_smoke_test: false,
      },
    },
  },
  checkSms: {
    body: { template_id: TEMPLATE, phone_number: '+16135550123', personalisation: { name: 'Ada' } },
    reply: {
      ok: true,
      problems: [],
      skipped: [],
      template: { id: TEMPLATE, version: 3 },
      content: {
        subject: null,
        body: 'Dear Ada, your permit is ready.',
        text: 'Parking permits: Dear Ada, your permit is ready.',
        html: null,
      },
      parts: 1,
      alphabet: 'GSM-7',
      characters: 48,
      bytes: null,
      files: [],
      lane: 'sms-medium',
      daily: { day: '2026-11-02', limit: 1500, used: 12, remaining: 1488 },
      recipient: {
        address: '+16135550123',
        is_allowed: true,
        reason: null,
        is_international: false,
        is_smoke_test: false,
      },
    },
  },
  getOne: { reply: messageExample },
  listAll: {
    reply: {
      notifications: [messageExample],
      links: {
        current: '/v2/notifications?reference=permit-4711',
        next: `/v2/notifications?older_than=${MESSAGE}&reference=permit-4711`,
      },
    },
  },
  cancelOne: { reply: { result: 'success' } },
} as const
