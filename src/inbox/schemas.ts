// The query of the inbox and its answers.
import { channelNames } from '../channels/plain.ts'
import { complete, count, id, text, textOrNull, time } from '../http/shapes.ts'
import { LINK_PROBLEMS } from './links.ts'

export const DEFAULT_LIMIT = 20
export const MOST_MESSAGES = 100
export const LONGEST_WAIT = 25

const to = {
  type: 'string',
  description: 'Only messages to this e-mail address or phone number, in any spelling that a send would accept.',
} as const
const type = { enum: channelNames, description: 'Only e-mails or only text messages.' } as const

export const inboxQuery = {
  type: 'object',
  properties: {
    to,
    type,
    after: {
      type: 'string',
      description:
        'Only messages that were accepted later: the id of a message, or a time (ISO 8601). Give the time when a test began.',
    },
    before: {
      type: 'string',
      description: 'Only messages that were accepted earlier: the last id of a page, or a time.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_MESSAGES,
      default: DEFAULT_LIMIT,
      description: 'The most messages of an answer.',
    },
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_WAIT,
      default: 0,
      description: 'Seconds to wait for a message, if there is none yet.',
    },
  },
  additionalProperties: false,
} as const

/** As the URL has it. */
export type InboxQuery = {
  to?: string
  type?: (typeof channelNames)[number]
  after?: string
  before?: string
  limit?: number | string
  wait?: number | string
}

export const emptyQuery = { type: 'object', properties: { to, type }, additionalProperties: false } as const
export type EmptyQuery = Pick<InboxQuery, 'to' | 'type'>

const link = complete(
  {
    url: text,
    text: { ...text, description: 'The words of the link.' },
    problems: {
      type: 'array',
      items: { enum: LINK_PROBLEMS },
      description:
        'What is wrong with its form: scheme (neither http, https, mailto nor tel), unreadable, spaces, placeholder (one was left over), local (recipients cannot open it), not-encrypted (http), other-address (the words name another host). Nothing is fetched.',
    },
  },
  'LinkOfMessage',
)

const attachment = complete({ filename: text, media_type: text, bytes: count }, 'AttachmentOfMessage')

const fields = {
  id: { ...id, description: 'The id of the notification.' },
  type: { enum: channelNames },
  created_at: time,
  simulated: {
    type: 'boolean',
    description: 'Whether it was sent with a test key. If not, its channel has no provider.',
  },
  from: { ...textOrNull, description: 'null: the sender of the provider.' },
  to: text,
  reply_to: textOrNull,
  subject: { ...textOrNull, description: 'null for text messages.' },
  text,
  html: { ...textOrNull, description: 'null for text messages.' },
  parts: { type: ['integer', 'null'], description: 'Parts of a text message; null for e-mails.' },
  links: { type: 'array', items: link },
  attachments: { type: 'array', items: attachment },
} as const

export const messageReply = complete(fields, 'CapturedMessage')

export const inboxReply = complete(
  {
    messages: { type: 'array', items: messageReply },
    has_more: { type: 'boolean', description: 'Whether there may be older ones: ask with `before` and the last id.' },
  },
  'CapturedMessageList',
)

export const wholeReply = complete(
  {
    ...fields,
    headers: {
      type: 'array',
      items: complete({ name: text, value: text }, 'HeaderOfMessage'),
      description: 'Of an e-mail, in order; empty for text messages.',
    },
    source: { ...textOrNull, description: 'The e-mail as it would be sent (RFC 5322); null for text messages.' },
  },
  'WholeCapturedMessage',
)

export const removedReply = complete({ result: { enum: ['success'] } }, 'CapturedMessageDeleted')

export const emptiedReply = complete(
  {
    deleted: count,
    has_more: { type: 'boolean', description: 'There were more than one request deletes: call again.' },
  },
  'InboxEmptied',
)

const message = {
  id: '0199f4c2-7f40-7b12-8c3d-4e5f6a7b8c9d',
  type: 'email',
  created_at: '2026-06-15T12:30:01.123456Z',
  simulated: true,
  from: 'Parking permits <parking.permits@example.org>',
  to: 'ada@example.org',
  reply_to: null,
  subject: 'Your code',
  text: 'Your code is 4471. Enter it at https://permits.example.org/code',
  html: '<p>Your code is 4471. <a href="https://permits.example.org/code">Enter it</a></p>',
  parts: null,
  links: [{ url: 'https://permits.example.org/code', text: 'Enter it', problems: [] }],
  attachments: [],
} as const

export const examples = {
  list: { reply: { messages: [message], has_more: false } },
  get: {
    reply: {
      ...message,
      headers: [
        { name: 'From', value: 'Parking permits <parking.permits@example.org>' },
        { name: 'To', value: 'ada@example.org' },
        { name: 'Subject', value: 'Your code' },
      ],
      source:
        'From: Parking permits <parking.permits@example.org>\r\nTo: ada@example.org\r\nSubject: Your code\r\n\r\n…',
    },
  },
  empty: { reply: { deleted: 3, has_more: false } },
  remove: { reply: { result: 'success' } },
} as const
