// Shapes of template requests and replies. The order of the fields is the order in which complaints are reported.

const id = { type: 'string', format: 'uuid' } as const
const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

export const createBody = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Shorter than 255 characters.' },
    template_type: { enum: ['sms', 'email'] },
    content: { type: 'string', description: 'At most 612 characters for a text message, 50,000 for an e-mail.' },
    subject: { type: 'string', maxLength: 2000, description: 'Required for e-mails.' },
    template_category_id: id,
    parent_folder_id: id,
  },
  required: ['name', 'template_type', 'content', 'template_category_id'],
  if: { type: 'object', properties: { template_type: { const: 'email' } }, required: ['template_type'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['subject'] },
  additionalProperties: false,
} as const

export type CreateBody = {
  name: string
  template_type: 'sms' | 'email'
  content: string
  subject?: string
  template_category_id: string
  parent_folder_id?: string
}

export const updateBody = {
  type: 'object',
  properties: {
    name: text,
    content: text,
    subject: { type: 'string', maxLength: 2000 },
    template_category_id: id,
    parent_folder_id: {
      type: ['string', 'null'],
      format: 'uuid',
      description: 'null takes the template out of its folder.',
    },
  },
  minProperties: 1,
  additionalProperties: false,
} as const

export type UpdateBody = {
  name?: string
  content?: string
  subject?: string
  template_category_id?: string
  parent_folder_id?: string | null
}

export const listQuery = {
  type: 'object',
  properties: { type: { enum: ['sms', 'email'] } },
  additionalProperties: false,
} as const

export const previewBody = {
  type: 'object',
  properties: { personalisation: { type: 'object', description: 'Placeholder name to value.' } },
  additionalProperties: false,
} as const

export type PreviewBody = { personalisation?: Record<string, unknown> }

export const templateReply = {
  type: 'object',
  properties: {
    id,
    service_id: id,
    service_name: text,
    name: text,
    type: { enum: ['email', 'sms'] },
    created_at: { type: 'string', description: 'YYYY-MM-DD HH:MM:SS.ffffff, UTC' },
    updated_at: textOrNull,
    created_by: text,
    version: { type: 'integer' },
    body: text,
    subject: textOrNull,
    postage: text,
    template_category_id: id,
    template_category_name: text,
    folder_id: textOrNull,
    archived: { type: 'boolean' },
  },
} as const

export const categoriesReply = {
  type: 'object',
  properties: {
    template_categories: {
      type: 'array',
      items: { type: 'object', properties: { template_category_id: id, name: text } },
    },
  },
} as const

export const versionReply = {
  type: 'object',
  properties: {
    id,
    type: { enum: ['email', 'sms'] },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: textOrNull,
    created_by: text,
    version: { type: 'integer' },
    body: text,
    subject: textOrNull,
    name: text,
    personalisation: { type: 'object', description: 'Each placeholder with {"required": true}.' },
    postage: text,
  },
} as const

export const listReply = {
  type: 'object',
  properties: { templates: { type: 'array', items: versionReply } },
} as const

export const previewReply = {
  type: 'object',
  properties: {
    id,
    type: { enum: ['email', 'sms'] },
    version: { type: 'integer' },
    body: text,
    html: textOrNull,
    subject: textOrNull,
    postage: text,
  },
} as const
