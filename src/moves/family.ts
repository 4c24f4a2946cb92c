// From the tables of the reference implementation to the form of a file, with a sentence for everything that has no place here.
import { createHash } from 'node:crypto'
import type { Role } from '../audit/role.ts'
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Row } from '../db/connect.ts'
import { KEY_TYPES, type KeyType } from '../keys/key.ts'
import type { Pace } from '../templates/categories.ts'
import type { CategoryRow } from '../templates/sql/transfer.ts'
import { checkVersion } from '../templates/template.ts'
import { grouped } from './collect.ts'
import {
  FORMAT,
  type GivenHook,
  type GivenKey,
  type GivenService,
  type GivenTemplate,
  type GivenVersion,
  type Move,
  moment,
  NAME,
} from './form.ts'
import { hostOf } from './normalise.ts'
import { refusedServices } from './read.ts'
import { refuse } from './refusals.ts'
import { type Signing, verified } from './signed.ts'
import type { FamilyRows } from './sql.ts'

/** `refused`: services that are not stored, and why. */
export type Converted = { move: Move; notes: Map<Id | null, string[]>; refused: Map<Id, string[]> }

/** `signing` null: the secrets of keys and the callbacks are not taken over. */
export function convert(rows: FamilyRows, signing: Signing | null): Converted {
  const needed = ['services', 'users', 'api_keys', 'templates', 'templates_history'] as const
  if (rows.services.length === 0) throw refuse.notFamily(needed.filter(table => rows[table].length === 0).join(', '))
  const notes = new Map<Id | null, string[]>()
  const tables = indexed(rows)
  const move: Move = {
    is: NAME,
    format: FORMAT,
    categories: [...rows.template_categories.map(categoryOf), ...missingGeneral(rows)],
    services: rows.services.map(row => {
      const said: string[] = []
      const service = serviceOf(tables, row, signing, said)
      if (said.length > 0) notes.set(service.id, said)
      return service
    }),
  }
  notes.set(null, ofInstallation(rows, signing))
  return { move, notes, refused: refusedServices(move.services) }
}

/** Rows by the id of their service, and people by their own. */
function indexed(rows: FamilyRows) {
  const byService = (table: keyof FamilyRows) => grouped(rows[table], 'service_id')
  return {
    people: new Map(rows.users.map(row => [row.id, row])),
    members: byService('user_to_service'),
    rights: byService('permissions'),
    permissions: byService('service_permissions'),
    replyTos: byService('service_email_reply_to'),
    senders: byService('service_sms_senders'),
    safelist: grouped([...rows.service_safelist, ...rows.service_whitelist], 'service_id'),
    retention: byService('service_data_retention'),
    callbacks: byService('service_callback_api'),
    inbound: byService('service_inbound_api'),
    branding: byService('service_email_branding'),
    files: byService('files'),
    keys: byService('api_keys'),
    folders: byService('template_folder'),
    templates: byService('templates'),
    history: grouped(rows.templates_history, 'id'),
    lanes: new Map(rows.template_categories.map(row => [row.id, categoryOf(row).lane])),
    folderOf: new Map(rows.template_folder_map.map(row => [row.template_id, row.template_folder_id])),
  }
}
type Tables = ReturnType<typeof indexed>

function serviceOf(tables: Tables, row: Row, signing: Signing | null, notes: string[]): GivenService {
  const id = row.id as Id
  const of = (table: Map<unknown, Row[]>) => table.get(id) ?? []
  const may = new Set(of(tables.permissions).map(({ permission }) => permission))
  const daysFor = (type: string) =>
    Number(of(tables.retention).find(one => one.notification_type === type)?.days_of_retention ?? 7)
  noteOthers(tables, row, may, notes)
  return {
    id,
    name: String(row.name),
    // An archived service has got another name; it has also a time of suspension, like one that is suspended only.
    state: row.active ? 'active' : String(row.name).startsWith('_archived') ? 'archived' : 'suspended',
    mode: row.restricted ? 'trial' : 'live',
    may_send_email: may.has('email'),
    may_send_sms: may.has('sms'),
    may_send_international: may.has('international_sms'),
    may_send_files: may.has('upload_document'),
    sms_prefix: Boolean(row.prefix_sms),
    mailbox: String(row.email_from).replace(/@.*$/s, ''),
    email_daily_limit: limitOf(row.message_limit),
    sms_daily_limit: limitOf(row.sms_daily_limit ?? row.message_limit),
    rate_limit: limitOf(row.rate_limit),
    email_retention_days: daysFor('email'),
    sms_retention_days: daysFor('sms'),
    created_at: moment(row.created_at) ?? '',
    updated_at: moment(row.updated_at),
    team: teamOf(tables, id, row, notes),
    reply_to_addresses: of(tables.replyTos).map(one => ({
      ...originOf(one),
      email_address: String(one.email_address),
      verified_at: moment(one.created_at),
    })),
    text_senders: of(tables.senders).map(one => ({ ...originOf(one), sender: String(one.sms_sender) })),
    safelist: of(tables.safelist).map(one => ({
      recipient: String(one.recipient),
      created_at: moment(one.created_at ?? row.created_at) ?? '',
    })),
    folders: of(tables.folders).map(one => ({
      id: one.id as Id,
      name: String(one.name),
      parent_id: (one.parent_id ?? null) as Id | null,
      created_at: moment(row.created_at) ?? '',
    })),
    templates: of(tables.templates).flatMap(template => templateOf(tables, template, notes)),
    keys: of(tables.keys).map(key => keyOf(tables, key, signing, notes)),
    webhooks: of(tables.callbacks).flatMap(callback => hooksOf(tables, callback, signing, notes)),
  }
}

const LARGEST = 2_147_483_647
const limitOf = (limit: unknown): number | null =>
  limit === null || limit === undefined ? null : Math.min(Number(limit), LARGEST)

const originOf = (row: Row) => ({
  id: row.id as Id,
  is_default: Boolean(row.is_default),
  archived: Boolean(row.archived),
  created_at: moment(row.created_at) ?? '',
})

function noteOthers(tables: Tables, row: Row, may: ReadonlySet<unknown>, notes: string[]): void {
  const of = (table: Map<unknown, Row[]>) => table.get(row.id) ?? []
  if (of(tables.inbound).length > 0)
    notes.push('Received text messages are not forwarded here: there is no inbound interface.')
  if (of(tables.branding).length > 0) notes.push('The branding of its e-mails was not taken over.')
  const files = of(tables.files).filter(({ archived }) => !archived).length
  if (files > 0)
    notes.push(`${files} files that are attached to its templates were not taken over: send them with each message.`)
  if (may.has('letter')) notes.push('Letters are not sent here.')
  if (may.has('inbound_sms')) notes.push('Text messages are not received here.')
  if (row.research_mode) notes.push('It was in research mode, where nothing is sent. Here it sends: use a test key.')
  if (row.sending_domain)
    notes.push(`Its e-mails came from ${row.sending_domain}. Here all services share HERALD_SENDING_DOMAIN.`)
}

/** What a member may do there, the most first, and the role that includes it. */
const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^manage_(users|settings)$/, 'manager'],
  [/^manage_api_keys$/, 'developer'],
  [/^send_/, 'sender'],
  [/^manage_templates$/, 'author'],
]

function teamOf(tables: Tables, service: Id, row: Row, notes: string[]) {
  const rights = grouped(tables.rights.get(service) ?? [], 'user_id')
  const people = (tables.members.get(service) ?? []).flatMap(({ user_id }): Row[] => {
    const person = tables.people.get(user_id)
    return person ? [person] : []
  })
  const active = people.filter(({ state }) => state === 'active')
  if (active.length < people.length)
    notes.push(`${people.length - active.length} members of the team are not active there, and were left out.`)
  const members = active.map(person => {
    const may = (rights.get(person.id) ?? []).map(({ permission }) => String(permission))
    const roles = ROLES.filter(([pattern]) => may.some(one => pattern.test(one))).map(([, role]) => role)
    if (roles.length > 1 && roles[0] !== 'manager')
      notes.push(`The member ${person.id} was ${roles.join(' and ')}, and is ${roles[0]} here: a member has one role.`)
    return {
      email_address: String(person.email_address),
      name: String(person.name),
      phone_number: (person.mobile_number ?? null) as string | null,
      role: roles[0] ?? 'viewer',
      created_at: moment(person.created_at ?? row.created_at) ?? '',
    }
  })
  return members.toSorted((a, b) => (a.created_at + a.email_address < b.created_at + b.email_address ? -1 : 1))
}

const LANES: Readonly<Record<string, Pace>> = {
  bulk: 'low',
  normal: 'medium',
  priority: 'high',
  low: 'low',
  medium: 'medium',
  high: 'high',
}
const laneOf = (process: unknown): Pace => LANES[String(process)] ?? 'medium'
const RANK = { low: 0, medium: 1, high: 2 } as const

/** A category has one lane here, and one for each channel there: the faster one is taken. */
const lanesOf = (row: Row): [Pace, Pace] => [laneOf(row.email_process_type), laneOf(row.sms_process_type)]
const categoryOf = (row: Row): CategoryRow => {
  const [email, sms] = lanesOf(row)
  return {
    id: row.id as Id,
    name: String(row.name_en),
    lane: RANK[email] >= RANK[sms] ? email : sms,
    hidden: Boolean(row.hidden),
  }
}

/** Templates without a category, which older versions have, get one of these by their priority. Newer versions have the same ids. */
const GENERAL: readonly CategoryRow[] = [
  { id: '0dda24c2-982a-4f44-9749-0e38b2607e89' as Id, name: 'Low', lane: 'low', hidden: true },
  { id: 'f75d6706-21b7-437e-b93a-2c0ab771e28e' as Id, name: 'Medium', lane: 'medium', hidden: true },
  { id: 'c4f87d7c-a55b-4c0f-91fe-e56c65bb1871' as Id, name: 'High', lane: 'high', hidden: true },
]
const generalFor = (process: unknown) => GENERAL.find(({ lane }) => lane === laneOf(process))?.id as Id

const missingGeneral = (rows: FamilyRows) => {
  const there = new Set(rows.template_categories.map(({ id }) => id))
  return GENERAL.filter(({ id }) => !there.has(id))
}

function templateOf(tables: Tables, row: Row, notes: string[]): GivenTemplate[] {
  const id = row.id as Id
  const what = `The template "${row.name}" (${id})`
  const type = row.template_type
  if (type !== 'email' && type !== 'sms') {
    notes.push(`${what} is a ${type}, and was left out.`)
    return []
  }
  const author = (one: Row) => String(tables.people.get(one.created_by_id)?.email_address ?? '')
  // The row of the template is its last version, also where the history does not have it.
  const all = [...(tables.history.get(id) ?? []).filter(({ version }) => version !== row.version), row]
  const kept = all.filter(({ version }) => Number(version) > 0)
  if (kept.length === 0) {
    notes.push(`${what} has no version above 0, and was left out.`)
    return []
  }
  if (row.hidden) notes.push(`${what} was hidden, and is in the list here.`)
  if (row.text_direction_rtl)
    notes.push(`${what} was marked as written from right to left; the mark was not taken over.`)
  const lane = tables.lanes.get(row.template_category_id)
  if (row.process_type && lane && laneOf(row.process_type) !== lane)
    notes.push(`${what} had a priority of its own (${row.process_type}); here its category decides.`)
  const versions = kept.map(
    (one): GivenVersion => ({
      version: Number(one.version),
      name: String(one.name),
      subject: type === 'email' ? String(one.subject ?? '') : null,
      content: String(one.content),
      category_id: (one.template_category_id ?? generalFor(one.process_type)) as Id,
      literal_values: false,
      created_by: author(one),
      made_at: moment(one.updated_at ?? one.created_at) ?? '',
    }),
  )
  return [
    {
      id,
      type,
      version: Number(row.version),
      folder_id: (tables.folderOf.get(id) ?? null) as Id | null,
      archived: Boolean(row.archived),
      created_by: author(row),
      created_at: moment(row.created_at) ?? '',
      updated_at: moment(row.updated_at),
      versions: versions
        .filter(version => version.version === Number(row.version) || isUsable(type, id, version, notes))
        .toSorted((a, b) => a.version - b.version),
    },
  ]
}

/** An earlier version cannot be corrected in the other database, so the service is not refused for it, as it is for the last one. */
function isUsable(type: 'email' | 'sms', template: Id, version: GivenVersion, notes: string[]): boolean {
  try {
    checkVersion(type, version)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    notes.push(`Version ${version.version} of the template ${template} was left out: ${error.message}`)
    return false
  }
}

function keyOf(tables: Tables, row: Row, signing: Signing | null, notes: string[]): GivenKey {
  const secret = signing && verified(String(row.secret), 'key', signing)
  if (signing && secret === null)
    notes.push(`The secret of the key "${row.name}" (${row.id}) was not signed with the secret that was given.`)
  const may = Array.isArray(row.permissions) ? row.permissions : []
  return {
    id: row.id as Id,
    name: String(row.name),
    type: row.key_type as KeyType,
    manage_templates: may.includes('manage_templates'),
    manage_webhooks: false,
    created_by: String(tables.people.get(row.created_by_id)?.email_address ?? ''),
    created_at: moment(row.created_at) ?? '',
    // There a key with a date is revoked, whatever the date (contract 3.3).
    expires_at: null,
    revoked_at: moment(row.expiry_date),
    secret,
  }
}

/**
 * A callback is sent the messages of every key there, and a webhook those of one type of key here: there is one for each type of key
 * that the service has. The first has the id of the callback.
 */
function hooksOf(tables: Tables, row: Row, signing: Signing | null, notes: string[]): GivenHook[] {
  const type = String(row.callback_type ?? 'delivery_status')
  const what = `The callback (${type}) to ${hostOf(String(row.url))} was not taken over`
  const otherwise = 'herald webhook add, with --format callback and the token that its receiver expects.'
  if (type !== 'delivery_status') {
    notes.push(`${what}: there are only callbacks about the status of messages.`)
    return []
  }
  const secret = signing && verified(String(row.bearer_token), 'token', signing)
  if (secret === null) {
    const why = signing
      ? 'its token was not signed with the secret that was given'
      : '--signing-secret-file was not given'
    notes.push(`${what}, because ${why}. Import again with the right file, or ${otherwise}`)
    return []
  }
  const keys = tables.keys.get(row.service_id) ?? []
  const isUsed = (type: KeyType) => keys.some(({ key_type, expiry_date }) => key_type === type && !expiry_date)
  return KEY_TYPES.filter(type => type === 'normal' || isUsed(type)).map(key_type => ({
    id: key_type === 'normal' ? (row.id as Id) : idFrom(`${row.id} ${key_type}`),
    url: String(row.url),
    key_type,
    format: 'callback',
    state: row.is_suspended ? 'paused' : 'active',
    created_at: moment(row.created_at) ?? '',
    updated_at: moment(row.updated_at),
    secret,
  }))
}

/** Always the same for the same text, so that a second import finds what the first has made (a UUID of version 8, RFC 9562). */
function idFrom(text: string): Id {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}` as Id
}

function ofInstallation(rows: FamilyRows, signing: Signing | null): string[] {
  const notes: string[] = []
  const operators = rows.users.filter(({ platform_admin, state }) => platform_admin && state === 'active').length
  if (operators > 0)
    notes.push(
      `${operators} people were administrators of the installation. Make them operators yourself: herald operator add.`,
    )
  for (const row of rows.template_categories) {
    const [email, sms] = lanesOf(row)
    if (email !== sms)
      notes.push(
        `The category ${row.id} had the lanes ${email} (e-mail) and ${sms} (text message); here both have the faster one.`,
      )
  }
  if (!signing && rows.api_keys.length > 0)
    notes.push('The secrets of keys were not taken over, because --signing-secret-file was not given.')
  notes.push(
    'Passwords, invitations, organisations, annual limits, rights on single folders, messages, jobs, statistics and received text messages were not taken over.',
  )
  return notes
}
