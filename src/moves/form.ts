// The documented form of a whole installation (docs/moving.md): what callers of the interface can notice, and who works with it. The
// fields are written in the order of these lists, and times with six digits, so that the same content is the same bytes.
import { zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { EventType } from '../events/event.ts'
import type { KeyType } from '../keys/key.ts'
import type { Service } from '../services/service.ts'
import type { CategoryRow } from '../templates/sql/transfer.ts'
import type { Format, Reason, State } from '../webhooks/webhook.ts'

export const NAME = 'herald-installation'
export const FORMAT = 1

/** What a file does not give gets its default when it is stored, and is not compared. */
type Given<T, Required extends keyof T> = Pick<T, Required> & Partial<T>

type Settings = Service & { suspended_reason: string | null; created_at: string; updated_at: string | null }
export type Member = {
  email_address: string
  name: string
  phone_number: string | null
  role: string
  created_at: string
}
type Origin = { id: Id; is_default: boolean; archived: boolean; created_at: string }
export type ReplyTo = Origin & { email_address: string; verified_at: string | null }
export type Sender = Origin & { sender: string }
export type Entry = { recipient: string; created_at: string }
export type Folder = { id: Id; name: string; parent_id: Id | null; created_at: string }
export type Version = {
  version: number
  name: string
  subject: string | null
  content: string
  category_id: Id
  literal_values: boolean
  created_by: string
  made_at: string
}
export type Template = {
  id: Id
  type: string
  version: number
  folder_id: Id | null
  archived: boolean
  created_by: string
  created_at: string
  updated_at: string | null
  versions: readonly GivenVersion[]
}
export type Key = {
  id: Id
  name: string
  type: KeyType
  manage_templates: boolean
  manage_webhooks: boolean
  created_by: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  /** Of a key that the reader knows the secret of: only read, and written to a file of its own. */
  secret?: string | null
}

export type Hook = {
  id: Id
  url: string
  key_type: KeyType
  format: Format
  /** Null: every type. */
  types: readonly EventType[] | null
  include_recipient: boolean
  batch: number
  state: State
  reason: Reason | null
  created_at: string
  updated_at: string | null
  /** What signs its requests, or the token of a callback: as for keys. */
  secret?: string | null
}

export type GivenVersion = Given<Version, 'version' | 'name' | 'content' | 'category_id'>
export type GivenTemplate = Given<Template, 'id' | 'type' | 'versions'>
export type GivenKey = Given<Key, 'id' | 'name' | 'type'>
export type GivenHook = Given<Hook, 'id' | 'url'>
export type GivenService = Given<Settings, 'id' | 'name'> & {
  team?: readonly Given<Member, 'email_address'>[]
  reply_to_addresses?: readonly Given<ReplyTo, 'id' | 'email_address'>[]
  text_senders?: readonly Given<Sender, 'id' | 'sender'>[]
  safelist?: readonly Given<Entry, 'recipient'>[]
  folders?: readonly Given<Folder, 'id' | 'name'>[]
  templates?: readonly GivenTemplate[]
  keys?: readonly GivenKey[]
  webhooks?: readonly GivenHook[]
}
export type Move = {
  is: typeof NAME
  format: typeof FORMAT
  categories: readonly CategoryRow[]
  services: readonly GivenService[]
}

export const FIELDS = {
  category: ['id', 'name', 'lane', 'hidden'],
  service: [
    ...['id', 'name', 'state', 'suspended_reason', 'mode', 'may_send_email', 'may_send_sms', 'may_send_international'],
    ...['may_send_files', 'sms_prefix', 'mailbox', 'email_daily_limit', 'sms_daily_limit', 'rate_limit'],
    ...['email_retention_days', 'sms_retention_days', 'home_country', 'created_at', 'updated_at'],
  ],
  member: ['email_address', 'name', 'phone_number', 'role', 'created_at'],
  replyTo: ['id', 'email_address', 'is_default', 'archived', 'created_at', 'verified_at'],
  sender: ['id', 'sender', 'is_default', 'archived', 'created_at'],
  entry: ['recipient', 'created_at'],
  folder: ['id', 'name', 'parent_id', 'created_at'],
  template: ['id', 'type', 'version', 'folder_id', 'archived', 'created_by', 'created_at', 'updated_at'],
  version: ['version', 'name', 'subject', 'content', 'category_id', 'literal_values', 'created_by', 'made_at'],
  key: [
    ...['id', 'name', 'type', 'manage_templates', 'manage_webhooks', 'created_by', 'created_at', 'expires_at'],
    'revoked_at',
  ],
  hook: [
    ...['id', 'url', 'key_type', 'format', 'types', 'include_recipient', 'batch', 'state', 'reason', 'created_at'],
    'updated_at',
  ],
} as const

/** The fields of a row in their order, times in the form of the file. A field that the row does not have is left out. */
export function picked<T>(fields: readonly string[], row: Readonly<Record<string, unknown>>): T {
  const entries = fields
    .filter(field => row[field] !== undefined)
    .map(field => [field, field.endsWith('_at') ? moment(row[field]) : row[field]])
  return Object.fromEntries(entries) as T
}

/** Any of PostgreSQL's spellings in UTC, also without a zone, as `2026-06-15T12:30:00.123456Z`. */
export const moment = (time: unknown): string | null =>
  time === null || time === undefined ? null : zulu(String(time).replace(/(?:Z|\+00(?::?00)?)$/, ''))

export const written = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
