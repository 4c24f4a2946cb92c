// The content of a file of format 1 as JSON Schema.
import { ROLES } from '../audit/role.ts'
import { channelNames } from '../channels/plain.ts'
import { EVENT_TYPES } from '../events/event.ts'
import { KEY_TYPES } from '../keys/key.ts'
import { UNKNOWN_PATTERN } from '../keys/unknown-secret.ts'
import { FORMATS } from '../webhooks/webhook.ts'
import { days, flag, id, idOrNull, limit, list, number, object, text, textOrNull, time, timeOrNull } from './shapes.ts'

const service = object(
  {
    id,
    name: text,
    state: { enum: ['active', 'suspended', 'archived'] },
    mode: { enum: ['trial', 'live'] },
    ...{
      may_send_email: flag,
      may_send_sms: flag,
      may_send_international: flag,
      may_send_files: flag,
      sms_prefix: flag,
    },
    mailbox: text,
    ...{ email_daily_limit: limit, sms_daily_limit: limit, rate_limit: limit },
    ...{ email_retention_days: days, sms_retention_days: days },
    ...{ home_country: textOrNull, suspended_reason: textOrNull, created_at: time, updated_at: timeOrNull },
  },
  [
    ...(['id', 'name', 'state', 'mode', 'mailbox', 'created_at', 'email_retention_days'] as const),
    ...(['may_send_email', 'may_send_sms', 'may_send_international', 'may_send_files', 'sms_prefix'] as const),
    'sms_retention_days',
  ],
)

const user = object(
  {
    ...{ id, name: text, email_address: text, phone_number: textOrNull, role: { enum: ROLES }, created_at: time },
    person_id: idOrNull,
  },
  ['id', 'name', 'email_address', 'role', 'created_at'],
)

const origin = { id, is_default: flag, archived: flag, created_at: time }
const replyTo = object({ ...origin, email_address: text, verified_at: timeOrNull }, [
  ...(['id', 'email_address', 'is_default', 'archived', 'created_at'] as const),
])
const sender = object({ ...origin, sender: text }, ['id', 'sender', 'is_default', 'archived', 'created_at'])
const entry = object({ id, recipient: text, created_at: time }, ['id', 'recipient', 'created_at'])
const folder = object({ id, name: text, parent_id: idOrNull, created_at: time }, ['id', 'name', 'created_at'])

const template = object(
  {
    ...{ id, type: { enum: channelNames }, version: number, folder_id: idOrNull, archived: flag, created_by: text },
    ...{ created_at: time, updated_at: timeOrNull },
  },
  ['id', 'type', 'version', 'archived', 'created_by', 'created_at'],
)
const version = object(
  {
    ...{ template_id: id, version: number, name: text, content: text, subject: textOrNull, category_id: id },
    ...{ created_by: text, made_at: time, literal_values: flag },
  },
  ['template_id', 'version', 'name', 'content', 'category_id', 'created_by', 'made_at', 'literal_values'],
)
const value = {
  type: ['string', 'number', 'boolean', 'null', 'array'],
  items: { type: ['string', 'number', 'boolean'] },
}
const sample = object({ template_id: id, updated_at: time, values: { type: 'object', additionalProperties: value } }, [
  'template_id',
  'updated_at',
  'values',
])

const key = object(
  {
    ...{ id, name: text, key_type: { enum: KEY_TYPES }, manage_templates: flag, manage_webhooks: flag },
    ...{ created_by: text, created_at: time, expires_at: timeOrNull, revoked_at: timeOrNull, last_used_at: timeOrNull },
    secret: { type: 'string', pattern: `${id.pattern}|${UNKNOWN_PATTERN}` },
  },
  ['id', 'name', 'key_type', 'manage_templates', 'manage_webhooks', 'created_by', 'created_at', 'secret'],
)

const signing = object(
  {
    secret: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$', maxLength: 200 },
    until: { type: ['number', 'null'] },
  },
  ['secret', 'until'],
)
const target = object({ url: text, secrets: { ...list(signing), maxItems: 10 }, token: textOrNull }, [
  'url',
  'secrets',
  'token',
])
const webhook = object(
  {
    ...{ id, key_type: { enum: KEY_TYPES }, format: { enum: FORMATS }, with_recipient: flag, batch: number },
    types: { type: ['array', 'null'], items: { enum: EVENT_TYPES } },
    ...{ state: { enum: ['active', 'paused', 'disabled'] }, reason: { enum: ['failing', 'gone', null] } },
    ...{ created_at: time, updated_at: timeOrNull, target },
  },
  ['id', 'key_type', 'format', 'with_recipient', 'batch', 'state', 'created_at', 'target'],
)

const request = object(
  {
    ...{ id, purpose: text, email_a_day: limit, sms_a_day: limit, asked_by: idOrNull, asked_at: time },
    ...{ decision: { enum: ['granted', 'declined', null] }, reason: textOrNull },
    ...{ decided_by: idOrNull, decided_at: timeOrNull },
  },
  ['id', 'purpose', 'asked_at'],
)

export const transferSchema = object(
  {
    ...{ version: text, exported_at: time, service },
    cell: object({ keyPrefix: text, sendingDomain: text, homeCountry: text }, [
      ...(['keyPrefix', 'sendingDomain', 'homeCountry'] as const),
    ]),
    ...{ users: list(user), reply_tos: list(replyTo), senders: list(sender), safelist: list(entry) },
    ...{ folders: list(folder), templates: list(template), versions: list(version), samples: list(sample) },
    ...{ keys: list(key), webhooks: list(webhook), live_requests: list(request) },
  },
  [
    ...(['version', 'exported_at', 'cell', 'service', 'users', 'reply_tos', 'senders', 'safelist', 'folders'] as const),
    ...(['templates', 'versions', 'samples', 'keys', 'webhooks', 'live_requests'] as const),
  ],
)
