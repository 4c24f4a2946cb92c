import { csvRow } from '../core/csv.ts'
import { EVENT_TYPES } from '../events/event.ts'
import { complete, count, id, idOrNull, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { status } from '../notifications/schemas.ts'
import { STATUSES } from '../notifications/status.ts'
import { KINDS, NOTHING } from './entry.ts'

const countOrNull = { type: ['integer', 'null'] } as const

const entry = complete(
  {
    at: time,
    kind: { enum: KINDS },
    event_id: {
      ...idOrNull,
      description: 'The same id as in the feed and in webhooks; null for what is not an event.',
    },
    event_type: { ...textOrNull, enum: [...EVENT_TYPES, null] },
    text: { ...text, description: 'What happened, in plain words.' },
    status: {
      ...textOrNull,
      enum: [...STATUSES, null],
      description: 'The status since then; null when it did not change.',
    },
    provider: textOrNull,
    latency_ms: { ...countOrNull, description: 'How long the provider or the webhook took to answer.' },
    reply_class: { ...textOrNull, description: 'The class of the reply or failure, such as `452 4.2.2`.' },
    reply: { ...textOrNull, description: 'The reply in full. It may quote the recipient.' },
    next_try_at: timeOrNull,
    provider_time: { ...timeOrNull, description: 'Of a receipt: the time that the provider gives.' },
    webhook_id: idOrNull,
    status_code: { ...countOrNull, description: 'The answer of a webhook; null when there was none.' },
  },
  'TimelineEntry',
)

export const timelineReply = complete(
  {
    message: complete(
      {
        id,
        type: { enum: ['email', 'sms'] },
        status,
        status_description: text,
        reference: textOrNull,
        template: complete({ id, version: count }),
        job_id: idOrNull,
        created_at: time,
        scheduled_for: timeOrNull,
        sent_at: timeOrNull,
        completed_at: timeOrNull,
        attempts: count,
      },
      'TimelineMessage',
    ),
    sentence: { ...text, description: 'What happened and what to do, in one sentence for people.' },
    entries: {
      type: 'array',
      items: entry,
      description: 'Oldest first: the acceptance, then at most the newest 200 moments.',
    },
    omitted: { ...count, description: 'How many earlier events are not shown.' },
  },
  'Timeline',
)

/** For openapi.json. */
export const example = {
  reply: {
    message: {
      id: '01937e5a-8f3c-7d21-9b4e-2c6f0a1d3e57',
      type: 'email',
      status: 'temporary-failure',
      status_description: 'Content or inbox issue',
      reference: 'permit-4711',
      template: { id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b', version: 3 },
      job_id: null,
      created_at: '2026-11-02T14:05:00.123456Z',
      scheduled_for: null,
      sent_at: '2026-11-02T14:05:00.345678Z',
      completed_at: '2026-11-02T14:05:09.456789Z',
      attempts: 1,
    },
    sentence:
      "Mailbox full at the recipient's provider; tried once at 14:05 UTC; send again later or use another channel.",
    entries: [
      {
        ...NOTHING,
        at: '2026-11-02T14:05:00.123456Z',
        kind: 'accepted',
        status: 'created',
        text: 'Accepted from the key "website" (live key); template "Permit", version 3.',
      },
      {
        ...NOTHING,
        at: '2026-11-02T14:05:00.345678Z',
        kind: 'attempt',
        event_id: '01937e5a-9019-7a3b-8c5d-6e7f80910000',
        event_type: 'notification.sending',
        text: 'The provider relay accepted it in 121 ms; its receipt is awaited.',
        status: 'sending',
        provider: 'relay',
        latency_ms: 121,
      },
      {
        ...NOTHING,
        at: '2026-11-02T14:05:09.456789Z',
        kind: 'receipt',
        event_id: '01937e5a-b3b0-7c1d-9e2f-3a4b5c6d0000',
        event_type: 'notification.temporary-failure',
        text: 'Receipt of 2026-11-02 14:05:08 UTC from relay: temporary-failure (mailbox full, soft-bounce mailbox-full).',
        status: 'temporary-failure',
        provider: 'relay',
        reply_class: 'soft-bounce mailbox-full',
        reply: '552 5.2.2 The mailbox is over quota',
        provider_time: '2026-11-02T14:05:08.000000Z',
      },
    ],
    omitted: 0,
  },
} as const

/** `enum` of formats as in job-report.ts. */
export const reportQuery = {
  type: 'object',
  properties: {
    format: {
      enum: ['csv', 'ndjson'],
      description: 'csv, which is the default, or ndjson: an object of JSON in each line.',
    },
  },
  additionalProperties: false,
} as const

/** One line of the report of a job. */
export const reportRow = complete(
  {
    row: { ...count, description: 'From 1, in the order of the file.' },
    recipient: text,
    reference: textOrNull,
    status,
    status_description: text,
    status_at: time,
    reason: { ...textOrNull, description: 'Why it failed, where that is known.' },
    notification_id: id,
  },
  'JobReportRow',
)

const reportedRow = {
  row: 1,
  recipient: 'ada@example.org',
  reference: 'permit-4711',
  status: 'temporary-failure',
  status_description: 'Content or inbox issue',
  status_at: '2026-11-02T14:05:09.456789Z',
  reason: "Mailbox full at the recipient's provider",
  notification_id: '01937e5a-8f3c-7d21-9b4e-2c6f0a1d3e57',
}

/** For openapi.json. */
export const reportExample = {
  reply: reportedRow,
  csv: [Object.keys(reportedRow), Object.values(reportedRow)].map(cells => `${csvRow(cells)}\r\n`).join(''),
} as const
