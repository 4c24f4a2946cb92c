// The form of a file as JSON Schema; docs/moving.schema.json is made of it.
import { ROLES } from '../audit/role.ts'
import { channelNames } from '../channels/plain.ts'
import { EVENT_TYPES } from '../events/event.ts'
import { KEY_TYPES } from '../keys/key.ts'
import {
  days,
  flag,
  id,
  idOrNull,
  limit,
  list,
  number,
  object,
  text,
  textOrNull,
  time,
  timeOrNull,
} from '../transfers/shapes.ts'
import { FORMATS, MOST_IN_BATCH } from '../webhooks/webhook.ts'
import { FORMAT, NAME } from './form.ts'

const version = object(
  {
    version: number,
    name: text,
    subject: textOrNull,
    content: text,
    category_id: id,
    literal_values: { ...flag, description: 'Values are inserted as they are, without formatting.' },
    created_by: text,
    made_at: time,
  },
  ['version', 'name', 'content', 'category_id'],
)

export const serviceSchema = object(
  {
    id,
    name: text,
    state: { enum: ['active', 'suspended', 'archived'] },
    suspended_reason: textOrNull,
    mode: { enum: ['trial', 'live'] },
    may_send_email: flag,
    may_send_sms: flag,
    may_send_international: flag,
    may_send_files: flag,
    sms_prefix: { ...flag, description: 'Text messages begin with the name of the service.' },
    mailbox: { ...text, description: 'E-mails come from this mailbox at the sending domain.' },
    email_daily_limit: limit,
    sms_daily_limit: limit,
    rate_limit: { ...limit, description: 'Requests in 60 seconds.' },
    email_retention_days: days,
    sms_retention_days: days,
    home_country: { type: ['string', 'null'], pattern: '^[A-Z]{2}$' },
    created_at: time,
    updated_at: timeOrNull,
    team: list(
      object({ email_address: text, name: text, phone_number: textOrNull, role: { enum: ROLES }, created_at: time }, [
        'email_address',
      ]),
    ),
    reply_to_addresses: list(
      object({ id, email_address: text, is_default: flag, archived: flag, created_at: time, verified_at: timeOrNull }, [
        'id',
        'email_address',
      ]),
    ),
    text_senders: list(
      object({ id, sender: text, is_default: flag, archived: flag, created_at: time }, ['id', 'sender']),
    ),
    safelist: list(object({ recipient: text, created_at: time }, ['recipient'])),
    folders: list(object({ id, name: text, parent_id: idOrNull, created_at: time }, ['id', 'name'])),
    templates: list(
      object(
        {
          id,
          type: { enum: channelNames },
          version: { ...number, description: 'The version that is sent. Default: the last one.' },
          folder_id: idOrNull,
          archived: flag,
          created_by: text,
          created_at: time,
          updated_at: timeOrNull,
          versions: { ...list(version), minItems: 1 },
        },
        ['id', 'type', 'versions'],
      ),
    ),
    keys: list(
      object(
        {
          id,
          name: text,
          type: { enum: KEY_TYPES },
          manage_templates: flag,
          manage_webhooks: flag,
          created_by: text,
          created_at: time,
          expires_at: timeOrNull,
          revoked_at: timeOrNull,
          secret: { ...textOrNull, description: 'The secret (36 characters) or the whole key.' },
        },
        ['id', 'name', 'type'],
      ),
    ),
    webhooks: list(
      object(
        {
          id,
          url: text,
          key_type: { enum: KEY_TYPES, description: 'It is told about messages of keys of this type.' },
          format: { enum: FORMATS },
          types: { type: ['array', 'null'], items: { enum: EVENT_TYPES }, description: 'Null: every type.' },
          include_recipient: flag,
          batch: { type: 'integer', minimum: 1, maximum: MOST_IN_BATCH },
          state: { enum: ['active', 'paused', 'disabled'] },
          reason: { enum: ['failing', 'gone', null] },
          created_at: time,
          updated_at: timeOrNull,
          secret: { ...textOrNull, description: 'What signs its requests (whsec_…), or the token of a callback.' },
        },
        ['id', 'url'],
      ),
    ),
  },
  ['id', 'name'],
)

export const moveSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Services of an installation, to move them',
  ...object(
    {
      $schema: text,
      is: { const: NAME },
      format: { const: FORMAT },
      categories: list(
        object({ id, name: text, lane: { enum: ['high', 'medium', 'low'] }, hidden: flag }, ['id', 'name', 'lane']),
      ),
      services: list(serviceSchema),
    },
    ['is', 'format', 'services'],
  ),
} as const
