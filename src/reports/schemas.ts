import { csvRow } from '../core/csv.ts'
import { complete, count, id, idOrNull, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { status } from '../notifications/schemas.ts'
import { STATUS_FILTERS, type StatusFilter } from '../timeline/browse.ts'
import { MESSAGE_COLUMNS, REPORT_FORMATS, type ReportFormat } from '../timeline/lines.ts'
import { JOB_COLUMNS } from './jobs.ts'
import { GROUPINGS, type Grouping } from './statistics.ts'

const period = {
  from: {
    ...text,
    description: 'A date or a time in ISO 8601, UTC unless a zone is given; seven days before `to` if absent.',
  },
  to: { ...text, description: 'A date, which is included, or a time, which is not; now if absent.' },
} as const
const format = {
  enum: REPORT_FORMATS,
  description: 'csv, which is the default, or ndjson: an object of JSON in each line.',
} as const

type Period = { from?: string; to?: string }

export const messagesQuery = {
  type: 'object',
  properties: {
    ...period,
    status: {
      enum: Object.keys(STATUS_FILTERS),
      description: 'A status, or the group in-transit, failed or scheduled.',
    },
    template_id: id,
    format,
  },
  additionalProperties: false,
} as const
export type MessagesQuery = Period & { status?: StatusFilter; template_id?: string; format?: ReportFormat }

export const jobsQuery = { type: 'object', properties: { ...period, format }, additionalProperties: false } as const
export type JobsQuery = Period & { format?: ReportFormat }

export const statisticsQuery = {
  type: 'object',
  properties: {
    ...period,
    by: { enum: GROUPINGS, description: 'day if absent.' },
    format: { enum: ['json', 'csv'], description: 'json if absent.' },
  },
  additionalProperties: false,
} as const
export type StatisticsQuery = Period & { by?: Grouping; format?: 'json' | 'csv' }

const type = { enum: ['email', 'sms'] } as const
const countOrNull = { type: ['integer', 'null'] } as const

export const messageRow = complete(
  {
    id,
    recipient: text,
    type,
    status,
    status_description: text,
    reference: textOrNull,
    template_id: id,
    template_version: count,
    template_name: text,
    job_id: idOrNull,
    job_name: textOrNull,
    text_parts: {
      ...countOrNull,
      description:
        'How many parts a text message had when it was handed over to a provider; null before that, and for e-mails.',
    },
    created_at: time,
    scheduled_for: timeOrNull,
    sent_at: timeOrNull,
    completed_at: timeOrNull,
  },
  'ReportedMessage',
)

export const jobRow = complete(
  {
    id,
    name: text,
    type,
    status: text,
    template_id: id,
    template_version: count,
    key_type: text,
    messages: count,
    delivered: count,
    failed: count,
    in_transit: count,
    cancelled: count,
    created_at: time,
    scheduled_for: timeOrNull,
    processing_started: timeOrNull,
    processing_finished: timeOrNull,
  },
  'ReportedJob',
)

const group = complete(
  {
    group: {
      ...textOrNull,
      description:
        'The day, the month, the id of the template, the status, the channel, the key type or the id of the key. Null by key: messages that people have sent, or that were accepted before keys were counted.',
    },
    name: { ...textOrNull, description: 'The name of the key; null otherwise.' },
    messages: {
      ...count,
      description:
        'Accepted messages, without those that were cancelled; by status, the group cancelled has the cancelled ones.',
    },
    delivered: { ...count, description: 'delivered, and sent where the provider reports no more.' },
    failed: count,
    in_transit: { ...count, description: 'Not final yet, scheduled ones among them.' },
    cancelled: count,
    text_parts: {
      ...count,
      description: 'Parts of the text messages that were handed over to a provider, as they are charged.',
    },
    text_parts_of: { ...count, description: 'How many messages these parts are of.' },
  },
  'CountGroup',
)
export const statisticsReply = complete(
  { from: time, to: time, by: { enum: GROUPINGS }, groups: { type: 'array', items: group } },
  'Statistics',
)

const TEMPLATE = '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b'
const message = {
  id: '01937e5b-2a4c-7b6d-8e0f-1a2b3c4d5e6f',
  recipient: '+16135550123',
  type: 'sms',
  status: 'delivered',
  status_description: 'Delivered',
  reference: 'permit-4711',
  template_id: TEMPLATE,
  template_version: 3,
  template_name: 'Permit',
  job_id: null,
  job_name: null,
  text_parts: 2,
  created_at: '2026-11-02T14:05:00.123456Z',
  scheduled_for: null,
  sent_at: '2026-11-02T14:05:00.345678Z',
  completed_at: '2026-11-02T14:05:09.456789Z',
} as const
const job = {
  id: '01937e5b-2a4c-7b6d-8e0f-1a2b3c4d5e70',
  name: 'November reminders',
  type: 'email',
  status: 'finished',
  template_id: TEMPLATE,
  template_version: 3,
  key_type: 'normal',
  messages: 3,
  delivered: 2,
  failed: 1,
  in_transit: 0,
  cancelled: 0,
  created_at: '2026-11-02T14:05:00.123456Z',
  scheduled_for: null,
  processing_started: '2026-11-02T14:05:00.345678Z',
  processing_finished: '2026-11-02T14:05:09.456789Z',
} as const
const csvOf = (names: readonly string[], row: Readonly<Record<string, string | number | null>>) =>
  `${csvRow(names)}\r\n${csvRow(names.map(name => row[name] ?? null))}\r\n`

export const examples = {
  messages: { reply: message, csv: csvOf(MESSAGE_COLUMNS, message) },
  jobs: { reply: job, csv: csvOf(JOB_COLUMNS, job) },
  statistics: {
    reply: {
      from: '2026-11-01T00:00:00.000000Z',
      to: '2026-12-01T00:00:00.000000Z',
      by: 'month',
      groups: [
        {
          group: '2026-11',
          name: null,
          messages: 5205,
          delivered: 5100,
          failed: 90,
          in_transit: 15,
          cancelled: 5,
          text_parts: 1804,
          text_parts_of: 1320,
        },
      ],
    },
  },
} as const
