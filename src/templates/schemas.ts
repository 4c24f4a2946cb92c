// Schemas of template requests and replies. Problems are reported in the order of the fields.
import { complete, count, id, idOrNull, text, textOrNull, time, timeOrNull } from '../http/shapes.ts'
import { LONGEST_SUBJECT } from './template.ts'

export const createBody = {
  title: 'CreateTemplate',
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Shorter than 255 characters.' },
    template_type: { enum: ['sms', 'email'] },
    content: { type: 'string', description: 'At most 612 characters for a text message, 50,000 for an e-mail.' },
    subject: { type: 'string', maxLength: LONGEST_SUBJECT, description: 'Required for e-mails.' },
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
  title: 'ChangeTemplate',
  type: 'object',
  properties: {
    name: text,
    content: text,
    subject: { type: 'string', maxLength: LONGEST_SUBJECT },
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
  title: 'PreviewTemplate',
  type: 'object',
  properties: {
    personalisation: { type: 'object', additionalProperties: true, description: 'Placeholder name to value.' },
  },
  additionalProperties: false,
} as const

export type PreviewBody = { personalisation?: Record<string, unknown> }

const type = { enum: ['email', 'sms'] } as const
const subject = { ...textOrNull, description: 'null for a text message.' } as const

export const templateReply = complete(
  {
    id,
    service_id: id,
    service_name: text,
    name: text,
    type,
    created_at: { ...text, description: 'YYYY-MM-DD HH:MM:SS.ffffff, UTC' },
    updated_at: textOrNull,
    created_by: text,
    version: count,
    body: text,
    subject,
    postage: text,
    template_category_id: id,
    template_category_name: text,
    folder_id: idOrNull,
    archived: { type: 'boolean' },
  },
  'Template',
)

export const categoriesReply = complete(
  {
    template_categories: {
      type: 'array',
      items: complete({ template_category_id: id, name: text }, 'TemplateCategory'),
    },
  },
  'TemplateCategoryList',
)

export const versionReply = complete(
  {
    id,
    type,
    created_at: time,
    updated_at: timeOrNull,
    created_by: text,
    version: count,
    body: text,
    subject,
    name: text,
    personalisation: {
      type: 'object',
      additionalProperties: complete({ required: { type: 'boolean' } }),
      description: 'Each placeholder with {"required": true}.',
    },
    postage: text,
  },
  'TemplateVersion',
)

export const listReply = complete({ templates: { type: 'array', items: versionReply } }, 'TemplateList')

export const previewReply = complete(
  {
    id,
    type,
    version: count,
    body: text,
    html: { ...textOrNull, description: 'null for a text message.' },
    subject,
    postage: text,
  },
  'TemplatePreview',
)

const TEMPLATE = '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b'
const CATEGORY = '207b293c-2ae5-48e8-836d-fcabd60b2153'
const content = 'Dear ((name)),\n\nyour permit is ready.'
const templateExample = {
  id: TEMPLATE,
  service_id: '0b7e6f2a-5d4c-4b3a-9281-706f5e4d3c2b',
  service_name: 'Parking permits',
  name: 'Permit ready',
  type: 'email',
  created_at: '2026-11-02 09:15:00.123456',
  updated_at: null,
  created_by: 'maria@example.org',
  version: 1,
  body: content,
  subject: 'Your permit',
  postage: 'second',
  template_category_id: CATEGORY,
  template_category_name: 'Status updates',
  folder_id: null,
  archived: false,
}
const versionExample = {
  id: TEMPLATE,
  type: 'email',
  created_at: '2026-11-02T09:15:00.123456Z',
  updated_at: null,
  created_by: 'maria@example.org',
  version: 1,
  body: content,
  subject: 'Your permit',
  name: 'Permit ready',
  personalisation: { name: { required: true } },
  postage: 'second',
}

/** Examples for openapi.json. */
export const examples = {
  listCategories: { reply: { template_categories: [{ template_category_id: CATEGORY, name: 'Status updates' }] } },
  createTemplate: {
    body: {
      name: 'Permit ready',
      template_type: 'email',
      content,
      subject: 'Your permit',
      template_category_id: CATEGORY,
    },
    reply: templateExample,
  },
  getTemplate: { reply: templateExample },
  updateTemplate: {
    body: { content: 'Dear ((name)),\n\nyour permit is **ready**.' },
    reply: {
      ...templateExample,
      updated_at: '2026-11-02 10:00:00.123456',
      version: 2,
      body: 'Dear ((name)),\n\nyour permit is **ready**.',
    },
  },
  archiveTemplate: { reply: { ...templateExample, updated_at: '2026-11-02 10:00:00.123456', archived: true } },
  getVersion: { reply: versionExample },
  previewTemplate: {
    body: { personalisation: { name: 'Ada' } },
    reply: {
      id: TEMPLATE,
      type: 'email',
      version: 1,
      body: 'Dear Ada,\n\nyour permit is ready.',
      html: '<p>Dear Ada,</p><p>your permit is ready.</p>',
      subject: 'Your permit',
      postage: 'second',
    },
  },
  listTemplates: { reply: { templates: [versionExample] } },
} as const
