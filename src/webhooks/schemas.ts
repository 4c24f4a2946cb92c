// Schemas of requests and answers. Problems are reported in the order of the fields.
import { EVENT_TYPES } from '../events/event.ts'
import { complete, count, id, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { FORMATS } from './webhook.ts'

const url = {
  type: 'string',
  description: 'https on port 443, unless the operator allows others. At most 2,000 characters.',
} as const
const types = {
  type: ['array', 'null'],
  items: { enum: EVENT_TYPES },
  description: 'null: the default, all types; of the format callback the final statuses.',
} as const
const includeRecipient = { type: 'boolean', description: 'Adds the recipient to events of messages.' } as const
const batch = {
  type: 'integer',
  description: 'How many events one request has at most, 1 to 100. With more than 1 the body is {"events": […]}.',
} as const
const token = {
  type: 'string',
  description: 'For the format callback: sent as Authorization: Bearer. 10 to 500 characters.',
} as const
const from = { type: 'string', description: 'ISO 8601, not in the future.' } as const

export const createBody = {
  title: 'CreateWebhook',
  type: 'object',
  properties: {
    url,
    format: {
      enum: FORMATS,
      description:
        'standard (the default): Standard Webhooks 1.0, signed. callback: one message a request, with a bearer token.',
    },
    types,
    include_recipient: includeRecipient,
    batch,
    token,
  },
  required: ['url'],
  additionalProperties: false,
} as const

export const changeBody = {
  title: 'ChangeWebhook',
  type: 'object',
  properties: {
    url,
    types,
    include_recipient: includeRecipient,
    batch,
    token,
    state: { enum: ['active', 'paused'], description: 'active resumes an endpoint that is paused or disabled.' },
    from: {
      ...from,
      description: 'ISO 8601, not in the future. Sends everything from this time on, also what was sent before.',
    },
  },
  minProperties: 1,
  additionalProperties: false,
} as const

export const rotateBody = {
  title: 'RotateWebhookSecret',
  type: 'object',
  properties: {
    overlap_hours: {
      type: 'number',
      description: 'How long requests are signed with the previous secret too: 0 to 168, by default 24.',
    },
  },
  additionalProperties: false,
} as const

export const replayBody = {
  title: 'ReplayWebhook',
  type: 'object',
  properties: {
    from,
    to: {
      ...from,
      description:
        'ISO 8601, later than `from` and not in the future; by default now. Events from now on are sent anyway.',
    },
    types: { type: 'array', items: { enum: EVENT_TYPES } },
    event: { ...id, description: 'One event.' },
    failed: { type: 'boolean', description: 'true: every event that the endpoint refused.' },
  },
  additionalProperties: false,
} as const

export const attemptsQuery = {
  type: 'object',
  properties: { failed: { enum: ['true', 'false'] }, older_than: id },
  additionalProperties: false,
} as const

export const failedQuery = { type: 'object', properties: { older_than: id }, additionalProperties: false } as const

const fields = {
  id,
  url: text,
  format: { enum: FORMATS },
  types: { type: ['array', 'null'], items: text, description: 'null: all types.' },
  include_recipient: { type: 'boolean' },
  batch: count,
  state: { enum: ['active', 'paused', 'disabled'] },
  reason: { ...textOrNull, description: 'Why it is disabled: failing (for 72 hours), or gone (it answered 410).' },
  failing_since: timeOrNull,
  failures: { ...count, description: 'Failed attempts since the last success.' },
  behind: complete(
    {
      events: { ...count, description: 'Events that it has not been sent.' },
      more: { type: 'boolean', description: 'There may be more than were counted.' },
      since: { ...timeOrNull, description: 'The time of the first of them.' },
    },
    'WebhookBacklog',
  ),
  created_at: time,
  updated_at: timeOrNull,
  last_success_at: timeOrNull,
} as const

export const webhookReply = complete(fields, 'Webhook')

export const createdReply = complete(
  {
    ...fields,
    secret: { ...textOrNull, description: 'Shown once. null for the format callback.' },
  },
  'CreatedWebhook',
)

export const listReply = complete({ webhooks: { type: 'array', items: webhookReply } }, 'WebhookList')

export const removedReply = complete({ result: text }, 'RemovedWebhook')

export const rotatedReply = complete(
  {
    secret: { ...text, description: 'Shown once.' },
    previous_valid_until: { ...time, description: 'Until then requests have a signature of the previous secret too.' },
  },
  'RotatedWebhookSecret',
)

export const testReply = complete(
  {
    success: { type: 'boolean', description: 'A status from 200 to 299.' },
    status_code: { type: ['integer', 'null'] },
    error: { ...textOrNull, description: 'Why there is no answer.' },
    took_ms: count,
    answer: { ...textOrNull, description: 'The first kilobyte.' },
  },
  'WebhookTest',
)

export const replayReply = complete(
  {
    from: timeOrNull,
    to: timeOrNull,
    types: { type: ['array', 'null'], items: text, description: 'null: all types of the webhook.' },
    events: { type: ['integer', 'null'], description: 'How many; null: those of a period are not counted.' },
  },
  'WebhookReplay',
)

const links = complete(
  { current: text, next: { ...textOrNull, description: 'null on the last page.' } },
  'WebhookPageLinks',
)

export const attemptsReply = complete(
  {
    attempts: {
      type: 'array',
      items: complete(
        {
          id,
          at: time,
          events: { type: 'array', items: id },
          took_ms: {
            type: 'array',
            items: count,
            description: 'One entry for a request with all these events, or one for the request of each event.',
          },
          status_code: { type: ['integer', 'null'] },
          error: { ...textOrNull, description: 'Why there is no answer.' },
          answer: { ...textOrNull, description: 'The first kilobyte.' },
        },
        'WebhookAttempt',
      ),
    },
    links,
  },
  'WebhookAttemptList',
)

export const failedReply = complete(
  {
    events: {
      type: 'array',
      items: complete(
        {
          event: id,
          subject: { ...id, description: 'The message or job.' },
          state: { enum: ['waiting', 'failed'], description: 'failed: not tried again, unless it is replayed.' },
          failures: count,
          since: time,
          next_attempt_at: timeOrNull,
          status_code: { type: ['integer', 'null'] },
        },
        'RefusedEvent',
      ),
    },
    links,
  },
  'RefusedEventList',
)

const WEBHOOK = '01937e5a-7d3b-7c2a-9f10-2b3c4d5e6f70'
const EVENT = '01937e5a-9a41-7d5e-8b07-1f2e3d4c0000'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
const TYPES = ['notification.delivered', 'notification.permanent-failure']
const PATH = `https://herald.example/herald/v1/webhooks/${WEBHOOK}`
const webhookExample = {
  id: WEBHOOK,
  url: 'https://permits.example.org/events',
  format: 'standard',
  types: TYPES,
  include_recipient: false,
  batch: 100,
  state: 'active',
  reason: null,
  failing_since: null,
  failures: 0,
  behind: { events: 0, more: false, since: null },
  created_at: '2026-11-02T09:15:00.123456Z',
  updated_at: null,
  last_success_at: null,
}

/** Examples for openapi.json. */
export const examples = {
  createWebhook: {
    body: { url: 'https://permits.example.org/events', types: TYPES, batch: 100 },
    reply: { ...webhookExample, secret: SECRET },
  },
  listWebhooks: { reply: { webhooks: [webhookExample] } },
  getWebhook: { reply: webhookExample },
  changeWebhook: {
    body: { state: 'paused' },
    reply: { ...webhookExample, state: 'paused', updated_at: '2026-11-02T10:00:00.123456Z' },
  },
  removeWebhook: { reply: { result: 'success' } },
  rotateSecret: {
    body: { overlap_hours: 24 },
    reply: { secret: SECRET, previous_valid_until: '2026-11-03T09:15:00.123000Z' },
  },
  testWebhook: { reply: { success: true, status_code: 204, error: null, took_ms: 87, answer: '' } },
  replay: {
    body: { from: '2026-01-15T08:00:00Z', to: '2026-01-15T09:00:00Z' },
    reply: {
      from: '2026-01-15T08:00:00.000000Z',
      to: '2026-01-15T09:00:00.000000Z',
      types: TYPES,
      events: null,
    },
  },
  listAttempts: {
    reply: {
      attempts: [
        {
          id: '01937e5b-0c1d-7e2f-8a3b-4c5d6e7f8091',
          at: '2026-11-02T09:16:02.345678Z',
          events: [EVENT],
          took_ms: [412],
          status_code: 503,
          error: null,
          answer: 'Service Unavailable',
        },
      ],
      links: { current: `${PATH}/attempts`, next: null },
    },
  },
  listFailed: {
    reply: {
      events: [
        {
          event: EVENT,
          subject: '01937e5a-8f00-7b1c-9d2e-3f4a5b6c7d8e',
          state: 'waiting',
          failures: 2,
          since: '2026-11-02T09:16:02.345678Z',
          next_attempt_at: '2026-11-02T09:18:31.345678Z',
          status_code: 422,
        },
      ],
      links: { current: `${PATH}/failed`, next: null },
    },
  },
} as const
