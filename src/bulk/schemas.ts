// Shapes of bulk requests and replies. The order of the fields is the order in which complaints are reported.

const id = { type: 'string', format: 'uuid' } as const
const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

export const bulkBody = {
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
    reply_to_id: { type: ['string', 'null'], format: 'uuid' },
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

const statistics = {
  type: 'array',
  items: { type: 'object', properties: { status: text, count: { type: 'integer' } } },
} as const

export const jobShape = {
  type: 'object',
  properties: {
    id,
    original_file_name: text,
    notification_count: { type: 'integer' },
    template: id,
    template_version: { type: 'integer' },
    template_type: { enum: ['email', 'sms'] },
    service: id,
    service_name: { type: 'object', properties: { name: text } },
    created_by: { type: 'object', properties: { id, name: text } },
    api_key: { type: ['object', 'null'], properties: { id, name: text, key_type: text } },
    job_status: text,
    scheduled_for: textOrNull,
    processing_started: textOrNull,
    processing_finished: textOrNull,
    created_at: text,
    updated_at: textOrNull,
    archived: { type: 'boolean' },
    sender_id: textOrNull,
    statistics,
  },
} as const

export const jobReply = { type: 'object', properties: { data: jobShape } } as const

export const listReply = {
  type: 'object',
  properties: {
    bulk_jobs: { type: 'array', items: jobShape },
    links: { type: 'object', properties: { current: text, next: text } },
  },
} as const
