// The feed's query and its answer.

import { jobStatus } from '../bulk/schemas.ts'
import { channelNames } from '../channels/plain.ts'
import { CAUSES, EVENT_TYPES } from '../events/event.ts'
import { complete, count, id, idOrNull, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { STATUSES } from '../notifications/status.ts'

export const DEFAULT_LIMIT = 100
export const MOST_EVENTS = 1_000
export const LONGEST_WAIT = 25

export const eventsQuery = {
  type: 'object',
  properties: {
    after: {
      type: 'string',
      description:
        '`next` of an earlier answer; or a time (ISO 8601), to begin with the first event of that time or later; or `now`, for events from now on. Without it: all that are stored.',
    },
    types: {
      type: 'array',
      items: { enum: EVENT_TYPES },
      description: 'Only events of these types: repeated, or separated by commas.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_EVENTS,
      default: DEFAULT_LIMIT,
      description: 'How many events an answer has at most.',
    },
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_WAIT,
      default: 0,
      description: 'Seconds to wait for an event, if there is none yet.',
    },
  },
  additionalProperties: false,
} as const

/** As the URL has it. */
export type EventsQuery = { after?: string; types?: string[]; limit?: number | string; wait?: number | string }

const template = {
  ...complete({ id, version: count }, 'TemplateOfEvent'),
  type: ['object', 'null'],
  description: 'null when the message or job was purged.',
} as const

const messageData = complete(
  {
    notification_id: id,
    reference: { ...textOrNull, description: 'null also when the message was purged, like template and job_id.' },
    notification_type: { enum: channelNames },
    status: {
      enum: [...STATUSES, null],
      type: ['string', 'null'],
      description: 'null when the event does not tell it.',
    },
    status_description: textOrNull,
    template,
    job_id: idOrNull,
    cause: { enum: CAUSES, description: 'What caused the event.' },
    provider: textOrNull,
    reason: { ...textOrNull, description: 'The class of a failure, or of a reply that deferred the message.' },
    uncertain: { type: 'boolean', description: 'Whether the message may have been sent without a record of it.' },
    next_attempt_at: timeOrNull,
  },
  'MessageEventData',
)

const jobData = complete(
  {
    job_id: id,
    status: jobStatus,
    original_file_name: textOrNull,
    notification_type: { enum: [...channelNames, null], type: ['string', 'null'] },
    notification_count: { type: ['integer', 'null'] },
    template,
    scheduled_for: timeOrNull,
  },
  'JobEventData',
)

export const eventReply = complete(
  {
    id: { ...id, description: 'It never changes, and is the same in webhooks and timelines.' },
    type: { title: 'EventType', enum: EVENT_TYPES },
    timestamp: time,
    data: { oneOf: [messageData, jobData] },
  },
  'Event',
)

export const eventsReply = complete(
  {
    events: { type: 'array', items: eventReply },
    next: { ...text, description: '`after` of the next request, also when there are no events.' },
    has_more: { type: 'boolean', description: 'Whether more events can be read at once.' },
  },
  'EventList',
)

export const examples = {
  listEvents: {
    reply: {
      events: [
        {
          id: '0199f4c2-8a11-7c3e-9d20-5b6f7a8c0000',
          type: 'notification.delivered',
          timestamp: '2026-06-15T12:30:02.123456Z',
          data: {
            notification_id: '0199f4c2-7f40-7b12-8c3d-4e5f6a7b8c9d',
            reference: 'permit-1207',
            notification_type: 'email',
            status: 'delivered',
            status_description: 'Delivered',
            template: { id: '0199f4b0-1111-7222-8333-444455556666', version: 3 },
            job_id: null,
            cause: 'receipt',
            provider: 'relay',
            reason: null,
            uncertain: false,
            next_attempt_at: null,
          },
        },
      ],
      next: 'k2f.9x.1',
      has_more: false,
    },
  },
} as const
