// Shapes of bulk requests and replies. Validation errors are reported in the order of the fields.
import { complete, count, id, idOrNull, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { daily, problems, status } from '../notifications/schemas.ts'
import { JOB_STATUSES } from './job.ts'
import { ROW_PROBLEMS } from './report.ts'

export const bulkBody = {
  title: 'SendBulk',
  type: 'object',
  properties: {
    template_id: id,
    reference: {
      type: 'string',
      maxLength: 1000,
      description: 'Accepted and ignored; a column named reference counts.',
    },
    scheduled_for: {
      type: ['string', 'null'],
      description: 'ISO 8601, UTC unless a zone is given, at most 96 hours ahead.',
    },
    reply_to_id: idOrNull,
    csv: { type: 'string', description: 'The whole file, instead of rows.' },
    rows: { type: 'array', minItems: 2, description: 'Header first, then 1 to 50,000 recipients in header order.' },
    name: { type: 'string', maxLength: 255 },
  },
  required: ['template_id', 'name'],
  additionalProperties: false,
} as const

export type BulkBody = {
  template_id: string
  reference?: string
  scheduled_for?: string | null
  reply_to_id?: string | null
  csv?: string
  rows?: unknown[]
  name: string
}

export const listQuery = { type: 'object', properties: { older_than: id }, additionalProperties: false } as const

export const jobStatus = { title: 'JobStatus', enum: JOB_STATUSES } as const

const fields = {
  id,
  original_file_name: text,
  notification_count: count,
  template: id,
  template_version: count,
  template_type: { enum: ['email', 'sms'] },
  service: id,
  service_name: complete({ name: text }),
  created_by: complete({ id, name: text }),
  api_key: {
    ...complete({ id, name: text, key_type: text }),
    type: ['object', 'null'],
    description: 'null when the operator sent it.',
  },
  job_status: jobStatus,
  scheduled_for: timeOrNull,
  processing_started: timeOrNull,
  processing_finished: timeOrNull,
  created_at: time,
  updated_at: timeOrNull,
  archived: { type: 'boolean' },
  sender_id: idOrNull,
  statistics: { type: 'array', items: complete({ status, count }) },
} as const
const job = complete(fields, 'Job')

export const jobReply = complete({ data: job }, 'JobReply')

/** A cancelled job is returned with fewer fields. */
const cancelled = complete(
  {
    id: fields.id,
    original_file_name: fields.original_file_name,
    notification_count: fields.notification_count,
    template: fields.template,
    template_version: fields.template_version,
    template_type: fields.template_type,
    job_status: fields.job_status,
    scheduled_for: fields.scheduled_for,
    created_at: fields.created_at,
    updated_at: fields.updated_at,
    statistics: fields.statistics,
  },
  'CancelledJob',
)
export const cancelReply = complete({ data: cancelled }, 'CancelledJobReply')

export const listReply = complete(
  {
    bulk_jobs: { type: 'array', items: job },
    links: {
      type: 'object',
      properties: { current: text, next: { ...text, description: 'The next page, when there is one.' } },
      required: ['current'],
    },
  },
  'JobList',
)

const orNull = <T extends { readonly type: 'object' }>(schema: T) => ({ ...schema, type: ['object', 'null'] }) as const
const countOrNull = { type: ['integer', 'null'] } as const
const texts = { type: 'array', items: text } as const

const rowError = complete(
  {
    row: { ...count, description: 'From 1: the first row after the header.' },
    column: { ...textOrNull, description: 'Its header as written; null: the whole row.' },
    problem: { enum: ROW_PROBLEMS },
    message: text,
  },
  'RowError',
)

/** One line of all errors of a file. */
export const errorLine = complete(
  {
    row: { type: ['integer', 'null'], description: 'From 1: the first row after the header; null: the whole file.' },
    column: rowError.properties.column,
    problem: { enum: [...ROW_PROBLEMS, 'file'] },
    message: text,
  },
  'ErrorLine',
)

export const checkReply = complete(
  {
    ok: { type: 'boolean', description: 'A send with this body would be accepted now.' },
    problems,
    skipped: {
      type: 'array',
      items: { enum: ['template', 'sender', 'daily limit', 'rows', 'recipients'] },
      description: 'What could not be checked because of a problem.',
    },
    template: orNull(complete({ id, version: count, type: { enum: ['email', 'sms'] } })),
    rows: orNull(
      complete({
        total: count,
        ok: { ...count, description: 'Rows without an error.' },
        bad: { ...count, description: 'Rows with one or more errors.' },
        not_allowed: { ...count, description: 'To recipients that trial mode or a team key refuses.' },
        simulated: { ...count, description: 'To recipients of smoke tests.' },
      }),
    ),
    error_count: count,
    errors: {
      type: 'array',
      items: rowError,
      description:
        'The first 1,000. With `Accept: application/x-ndjson` or `text/csv` the answer is the list of all of them.',
    },
    duplicates: {
      ...orNull(
        complete({
          rows: { ...count, description: 'Rows with the recipient of an earlier row.' },
          recipients: count,
          first: {
            type: 'array',
            items: complete({ count, rows: { type: 'array', items: count } }),
            description: 'The first 20 recipients, each with up to 10 of its rows.',
          },
        }),
      ),
      description: 'Recipients in more than one row. A send accepts them.',
    },
    columns: orNull(
      complete({
        recipient: textOrNull,
        used: texts,
        unused: { ...texts, description: 'Columns that the template does not use.' },
        missing: texts,
        duplicate: texts,
      }),
    ),
    parts: { ...countOrNull, description: 'Of text messages: how many the job counts as.' },
    alphabets: orNull(complete({ 'GSM-7': count, 'UCS-2': count })),
    lane: textOrNull,
    daily: {
      ...orNull(complete({ ...daily, needed: { ...count, description: 'How much of it the job would use.' } })),
      description: 'null for a test key, which has no daily limit.',
    },
    examples: {
      type: 'array',
      items: complete(
        { row: count, to: textOrNull, subject: textOrNull, body: text, parts: countOrNull },
        'RowExample',
      ),
      description: 'The first three rows, as recipients would read them.',
    },
    estimated_seconds: {
      ...countOrNull,
      description: 'At the pace of the last jobs of the service. null: there is none in the last week.',
    },
  },
  'CheckedBulk',
)

const JOB = '01937e5b-2a4c-7b6d-8e0f-1a2b3c4d5e6f'
const cancelledExample = {
  id: JOB,
  original_file_name: 'November reminders',
  notification_count: 2,
  template: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b',
  template_version: 3,
  template_type: 'email',
  job_status: 'cancelled',
  scheduled_for: '2026-11-03T08:00:00.000000+00:00',
  created_at: '2026-11-02T09:15:00.123456+00:00',
  updated_at: '2026-11-02T10:00:00.123456+00:00',
  statistics: [],
}
const jobExample = {
  ...cancelledExample,
  service: '0b7e6f2a-5d4c-4b3a-9281-706f5e4d3c2b',
  service_name: { name: 'Parking permits' },
  created_by: { id: '4e1a1b2c-0000-4000-8000-000000000001', name: 'API service user' },
  api_key: { id: '01937e59-4c3b-7a29-8f1e-0d9c8b7a6f5e', name: 'website', key_type: 'normal' },
  job_status: 'pending',
  updated_at: null,
  processing_started: null,
  processing_finished: null,
  archived: false,
  sender_id: null,
}

/** Examples of a request and its response, for openapi.json. */
export const examples = {
  sendBulk: {
    body: {
      name: 'November reminders',
      template_id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b',
      rows: [
        ['email address', 'name'],
        ['ada@example.org', 'Ada'],
        ['bob@example.org', 'Bob'],
      ],
      scheduled_for: '2026-11-03T08:00:00',
    },
    reply: { data: jobExample },
  },
  checkBulk: {
    body: {
      name: 'November reminders',
      template_id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b',
      rows: [
        ['email address', 'name', 'town'],
        ['ada@example.org', 'Ada', 'Ottawa'],
        ['bob@example', '', 'Hull'],
      ],
    },
    reply: {
      ok: false,
      problems: [
        {
          error: 'BadRequestError',
          message: 'Some rows have errors. Row 2 - email address: invalid recipient,name: Missing.',
        },
      ],
      skipped: [],
      template: { id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b', version: 3, type: 'email' },
      rows: { total: 2, ok: 1, bad: 1, not_allowed: 0, simulated: 0 },
      error_count: 2,
      errors: [
        { row: 2, column: 'email address', problem: 'recipient', message: 'Not a valid email address' },
        { row: 2, column: 'name', problem: 'missing', message: 'Missing' },
      ],
      duplicates: { rows: 0, recipients: 0, first: [] },
      columns: {
        recipient: 'email address',
        used: ['email address', 'name'],
        unused: ['town'],
        missing: [],
        duplicate: [],
      },
      parts: null,
      alphabets: null,
      lane: 'email-medium',
      daily: { day: '2026-11-02', limit: 10_000, used: 120, remaining: 9_880, needed: 2 },
      examples: [
        { row: 1, to: 'ada@example.org', subject: 'Your permit', body: 'Dear Ada', parts: null },
        { row: 2, to: 'bob@example', subject: 'Your permit', body: 'Dear ((name))', parts: null },
      ],
      estimated_seconds: 1,
    },
  },
  listJobs: {
    reply: { bulk_jobs: [jobExample], links: { current: 'https://herald.example/v2/notifications/bulk' } },
  },
  getJob: { reply: { data: jobExample } },
  cancelJob: { reply: { data: cancelledExample } },
} as const
