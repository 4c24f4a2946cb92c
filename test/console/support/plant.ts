// An installation as after a week of use: a service with messages of every status, jobs, templates in folders with versions, people
// of every role, and a second service with the same kinds of things. Used by tests and by scripts/shots.ts, so nothing of vitest.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Operator, PersonActor } from '../../../src/audit/actor.ts'
import type { Role } from '../../../src/audit/role.ts'
import { floorOf, type Id } from '../../../src/core/id.ts'
import { part } from '../../../src/db/connect.ts'
import { note } from '../../../src/inbox/sql.ts'
import { create as createKey } from '../../../src/keys/create.ts'
import { makePartitionsOf } from '../../../src/notifications/partitions.ts'
import { move } from '../../../src/notifications/sql/apply.ts'
import { type Result, record } from '../../../src/notifications/sql/record.ts'
import { recountDay } from '../../../src/notifications/sql/recount.ts'
import type { Status } from '../../../src/notifications/status.ts'
import type { Parts } from '../../../src/parts.ts'
import { invite } from '../../../src/people/invitations.ts'
import { printLink } from '../../../src/people/links.ts'
import { addReplyTo } from '../../../src/people/reply-tos.ts'
import { startSession } from '../../../src/people/session.ts'
import { personBy } from '../../../src/people/sql/people.ts'
import { digestOf, newToken } from '../../../src/people/token.ts'
import { change } from '../../../src/services/change.ts'
import { create as createService } from '../../../src/services/create.ts'
import { addOrigin } from '../../../src/services/origins.ts'
import { addUser } from '../../../src/services/people.ts'
import { receive } from '../../../src/sheets/receive.ts'
import { addFolder } from '../../../src/templates/folders.ts'
import { keepSamples } from '../../../src/templates/samples.ts'
import { type RowOutcome, settleRows, spreadJob } from '../../support/jobs.ts'
import { type PlantedForDevelopers, plantForDevelopers } from './plant-developers.ts'

/** The program that is planted in. It must not send: what is planted has its state from here. */
export type Place = { parts: Parts; address: string }

const OPERATOR: Operator = { kind: 'operator', name: 'tests' }

export const CATEGORY = {
  general: '207b293c-2ae5-48e8-836d-fcabd60b2153',
  confirmation: '977e2a00-f957-4ff0-92f2-ca3286b24786',
  decision: 'e81678c0-4897-4111-b9d0-172f6b595f89',
  authentication: 'b6c42a7e-2a26-4a07-802b-123a5c3198a9',
  reminder: 'edb966f3-4a4c-47a4-96ab-05ff259b919c',
}

/** Everybody who signs in, by what they may do. `operator` is no member of a service, `newcomer` belongs to none. */
export type Who = Role | 'operator' | 'stranger' | 'newcomer'
export type PlantedPerson = { id: Id; name: string; email_address: string }

export type PlantedService = PlantedForDevelopers & {
  id: Id
  name: string
  keys: { id: Id; key: string }[]
  folders: { top: Id; nested: Id; empty: Id }
  /** `email` has three versions, `versioned` two, the others one. */
  templates: Record<'email' | 'sms' | 'archived' | 'unused' | 'rightToLeft' | 'versioned', Id>
  /** One message of each status, by its name in the plan below. */
  messages: Record<string, Id>
  /** Files that somebody has uploaded and not sent: one person's own. */
  uploads: Record<'ready' | 'errors' | 'columns' | 'unreadable', Id>
  /** `mixed` has messages of most statuses; `finished` has none yet. */
  jobs: { finished: Id; scheduled: Id; cancelled: Id; mixed: Id }
  /** The token of the invitation is `token`. */
  team: { member: Id; invitation: Id; token: string }
  /** A reply-to address that can be used and one whose link is `link`, and two text senders. */
  settings: { replyTo: Id; unverified: Id; link: string; sender: Id; other: Id }
}

export type Planted = {
  service: PlantedService
  other: PlantedService
  /** It has no message and no template. */
  empty: Id
  /** In trial, with a request to go live. */
  trial: Id
  people: Record<Who, PlantedPerson>
  /** The token of a link that signs in the viewer, made at the machine. */
  link: string
  /** Somebody who is in no service and does nothing here, and an invitation of an operator. */
  spare: { person: Id; invitation: Id }
  /** What belongs to the sender alone. */
  senders: { session: Id; passkey: Id }
  /** Of Herald itself, in the inbox of operators. */
  mail: Id
  /** Tests of providers with these ends. */
  providerTests: Record<'accepted' | 'refused' | 'silent', Id>
}

const NAMES: Record<Who, string> = {
  viewer: 'Tomas Keel',
  author: 'Sami Oduya',
  sender: 'Jo Lind',
  developer: 'Ada Brandt',
  manager: 'Mira Holt',
  operator: 'Noor Visser',
  stranger: 'Kit Marlow',
  newcomer: 'Lea Sand',
}
const addressOf = (name: string) => `${name.toLowerCase().replace(' ', '.')}@eastmere.example`

export async function plant(place: Place): Promise<Planted> {
  const { parts } = place
  const people = {} as Record<Who, PlantedPerson>
  people.operator = await person(parts, NAMES.operator, { isOperator: true })
  const service = await plantService(place, { name: 'Parking permits', boss: NAMES.manager })
  const other = await plantService(place, { name: 'Council tax', boss: NAMES.stranger })
  const { id: empty } = await createService(parts, OPERATOR, { name: 'Library reminders', mode: 'trial' })
  for (const who of ['manager', 'author', 'sender', 'developer', 'viewer'] as const)
    people[who] = await member(parts, service.id, NAMES[who], who)
  people.stranger = await member(parts, other.id, NAMES.stranger, 'manager')
  await member(parts, empty, NAMES.manager, 'author')
  const trial = await plantTrial(parts, people.manager)
  await plantHistory(parts, service)
  service.uploads = await plantUploads(parts, service, people.sender)
  people.newcomer = await person(parts, NAMES.newcomer, { isOperator: false })
  const { path } = await printLink(parts, OPERATOR, people.viewer.email_address)
  const { session } = await startSession(parts, people.sender, { method: 'passkey', device: 'Firefox on Windows' })
  const senders = { session: session.id, passkey: await plantPasskey(parts, people.sender, 'Security key') }
  await plantPasskey(parts, people.manager, 'Laptop')
  const { id: invitation } = await invite(parts, await inviterIn(parts, null), {
    ...{ service: null, role: null, address: 'next.operator@eastmere.example', console: place.address },
  })
  const spare = { person: (await person(parts, 'Odd One', { isOperator: false })).id, invitation }
  return {
    service,
    other,
    empty,
    trial,
    people,
    link: path.split('/').at(-1) ?? '',
    senders,
    spare,
    mail: await plantMail(parts, people.viewer),
    providerTests: await plantProviderTests(parts),
  }
}

/** A mail of Herald itself. */
async function plantMail(parts: Parts, { email_address: to }: PlantedPerson): Promise<Id> {
  const id = parts.ids.next()
  await parts.inbox.keep.email({
    ...{ id, messageId: `<${id}@herald.example>`, from: { name: 'Herald', address: 'herald@herald.example' } },
    ...{ replyTo: null, to, subject: 'Sign in to Herald', html: '', attachments: [] },
    text: 'Open https://herald.example/console/sign-in/link/x within 15 minutes.',
  })
  return id
}

async function plantProviderTests(parts: Parts): Promise<Planted['providerTests']> {
  const answers = {
    accepted: { kind: 'accepted', ref: '0102018f5e1b2c3d-4e5f-6789' },
    refused: { kind: 'refused', class: '550 5.1.1', detail: '550 5.1.1 Mailbox unavailable' },
    silent: null,
  }
  const planted = Object.entries(answers).map(async ([name, answer]) => {
    const id = parts.ids.next()
    await parts.db.sql`
      insert into provider_tests (id, channel, provider, asked_at, taken_by, answer)
      values (${id}, 'email', 'smtp', clock_timestamp() - interval '40 s', 'mail-2:4711',
              ${answer && parts.seal.seal('provider test answer', JSON.stringify(answer))})`
    return [name, id] as const
  })
  return Object.fromEntries(await Promise.all(planted)) as Planted['providerTests']
}

/** A service in trial that asks to go live. */
async function plantTrial(parts: Parts, manager: PlantedPerson): Promise<Id> {
  const { id } = await createService(parts, OPERATOR, { name: 'Road closures', mode: 'trial' })
  await member(parts, id, manager.name, 'manager')
  await parts.db.sql`
    insert into live_requests (id, service_id, purpose, email_a_day, asked_by)
    values (${parts.ids.next()}, ${id}, 'Notices to residents about closed streets, two days ahead.', 1200, ${manager.id})`
  return id
}

/** A member with this role; somebody who belongs to other services already is the same person. */
export async function member(parts: Parts, service: Id, name: string, role: Role): Promise<PlantedPerson> {
  const email_address = addressOf(name)
  const { sql } = parts.db
  const [there] = await sql<{
    id: Id
  }>`select id from users where service_id = ${service} and email_address = ${email_address}`
  const id = there?.id ?? (await addUser(parts, OPERATOR, service, { name, email_address })).id
  const [row] = await sql<{ person_id: Id }>`update users set role = ${role} where id = ${id} returning person_id`
  if (!row) throw new Error('the member has no person')
  return { id: row.person_id, name, email_address }
}

async function person(parts: Parts, name: string, { isOperator }: { isOperator: boolean }): Promise<PlantedPerson> {
  const planted = { id: parts.ids.next(), name, email_address: addressOf(name) }
  await parts.db.sql`
    insert into people (id, email_address, name, is_operator)
    values (${planted.id}, ${planted.email_address}, ${name}, ${isOperator})`
  return planted
}

/** The planted operator, on a page of this service or of the installation. */
async function inviterIn({ db }: Parts, service_id: Id | null): Promise<PersonActor> {
  const found = await personBy(db.sql, addressOf(NAMES.operator))
  if (!found) throw new Error('the operator is planted first')
  const { id, name, email_address } = found
  return { kind: 'person', id, name, email_address, service_id, permissions: ['manage-people', 'manage-installation'] }
}

async function plantInvitation({ parts, address: console }: Place, service: Id, address: string) {
  const { id } = await invite(parts, await inviterIn(parts, service), { service, role: 'author', address, console })
  // The token is in the mail only.
  const token = newToken()
  await parts.db.sql`update invitations set token_digest = ${digestOf(token)} where id = ${id}`
  return { invitation: id, token }
}

async function plantPasskey(parts: Parts, person: PlantedPerson, name: string): Promise<Id> {
  const id = parts.ids.next()
  await parts.db.sql`
    insert into passkeys (id, person_id, credential_id, public_key, name)
    values (${id}, ${person.id}, ${randomBytes(16)}, ${randomBytes(77)}, ${name})`
  return id
}

type Send = [
  name: string,
  template: 'email' | 'sms' | 'rightToLeft',
  to: string,
  values: Record<string, string>,
  outcome: (message: { id: Id; ticket: Id }) => Outcome,
]
/** What a provider answers to the attempt, and a receipt after it. */
type Outcome = { result: Partial<Result> | null; receipt?: { status: Status; detail?: string; reply?: string } }

const NOTHING: Omit<Result, 'id' | 'ticket' | 'takes' | 'status'> = {
  ...{ moves: [], provider: null, ref: null, response: null, detail: null, diagnosis: null },
  ...{ uncertain: false, took: null, parts: null, delay: null },
}
const ended =
  (status: Result['status'], more: Partial<Result> = {}) =>
  (): Outcome => ({
    result: {
      status,
      moves: status === 'delivered' ? ['sending', status] : [String(status)],
      provider: 'relay',
      took: 84,
      ...more,
    },
  })
const later = (status: Status, detail?: string, reply?: string) => (): Outcome => ({
  ...ended('sending')(),
  receipt: { status, ...(detail && { detail }), ...(reply && { reply }) },
})

const LONG = 'the.residents.association.of.upper.and.lower.harbour.street@a-very-long-subdomain.example.org'
const KIM = {
  'first name': 'Kim',
  'permit number': 'ZC-20418',
  zone: 'C',
  'end date': '30 November 2026',
  discount: 'yes',
}
const CODE = { code: '4471', start: 'today 18:00', end: 'tomorrow 08:00', zone: 'C' }

/** The last is the newest. Nothing here is sent. */
const MESSAGES: readonly Send[] = [
  ['cancelled', 'email', 'h.tanaka@example.net', KIM, () => ({ result: null })],
  ['technical-failure', 'email', 's.novak@example.org', KIM, ended('technical-failure', { response: '550 policy' })],
  ['sent', 'sms', '+1 202 555 0143', CODE, ended('sent')],
  [
    'virus-scan-failed',
    'email',
    'd.moreau@example.com',
    KIM,
    () => ({ result: null, receipt: { status: 'virus-scan-failed' } }),
  ],
  [
    'pending-virus-check',
    'email',
    'e.santos@example.com',
    KIM,
    () => ({ result: null, receipt: { status: 'pending-virus-check' } }),
  ],
  ['sending', 'email', LONG, KIM, ended('sending')],
  ['right-to-left', 'rightToLeft', 'permits@example.com', { name: 'ليلى' }, ended('delivered')],
  ['temporary-failure-sms', 'sms', '+44 7911 123118', CODE, later('temporary-failure', 'unreachable')],
  ['permanent-failure-sms', 'sms', '+44 7911 123119', CODE, later('permanent-failure')],
  [
    'temporary-failure',
    'email',
    'm.ilves@example.org',
    KIM,
    later('temporary-failure', 'mailbox-full', '452 4.2.2 mailbox full'),
  ],
  [
    'permanent-failure',
    'email',
    'k.lindgren@example.net',
    KIM,
    later('permanent-failure', 'no-email', '550 5.1.1 user unknown'),
  ],
  ['pending-sms', 'sms', '+44 7911 123461', CODE, later('pending')],
  ['delivered-sms', 'sms', '+44 7911 123462', CODE, later('delivered')],
  ['delivered', 'email', 'ana.petrov@example.org', KIM, later('delivered', undefined, '250 2.0.0 queued')],
]

/** `mark` is added to every text that somebody enters. */
export async function plantService(
  place: Place,
  { name: plain, boss, mark = '' }: { name: string; boss: string; mark?: string },
): Promise<PlantedService> {
  const { parts } = place
  const name = plain + mark
  const { id } = await createService(parts, OPERATOR, { name, mode: 'live', mailbox: 'permits' })
  const service = await change(parts, OPERATOR, id, {
    name,
    home_country: 'GB',
    may_send_international: true,
    may_send_files: true,
    rate_limit: 10_000,
    email_daily_limit: 10_000,
    sms_daily_limit: 2_000,
  })
  const user = await addUser(parts, OPERATOR, id, { name: boss + mark, email_address: addressOf(boss) })
  const settings = await plantOrigins(place, id)
  const made = await createKey(parts, OPERATOR, service, {
    name: `Production${mark}`,
    key_type: 'normal',
    manage_templates: true,
  })
  const test = await createKey(parts, OPERATOR, service, { name: 'Development', key_type: 'test' })
  const call = caller(place.address, made.key)

  const top = await addFolder(parts, OPERATOR, id, `Permits${mark}`)
  const nested = await addFolder(parts, OPERATOR, id, `Renewals${mark}`)
  const visitors = await addFolder(parts, OPERATOR, id, `Visitors${mark}`)
  await parts.db.sql`update folders set parent_id = ${top.id} where id = ${nested.id}`
  const appeals = await addFolder(parts, OPERATOR, id, `Appeals${mark}`)
  const templates = await plantTemplates(call, mark, { top: top.id, nested: nested.id, visitors: visitors.id })

  const author = {
    kind: 'person',
    service_id: id,
    permissions: ['manage-templates'],
    id,
    email_address: '',
    name: '',
  } as const
  await keepSamples(parts, author, id, templates.email, KIM)
  await keepSamples(parts, author, id, templates.sms, CODE)
  const mixed = await plantMixedJob(place, call, templates, mark)
  const messages: Record<string, Id> = {}
  for (const send of MESSAGES) messages[send[0]] = await plantMessage(place, call, templates, mark, send)
  messages.scheduled = await sendOne(call, templates.email, 'j.osei@example.org', KIM, { scheduled_for: inHours(20) })
  await plantInbox(parts, messages)
  return {
    ...{ id, name, messages, uploads: { ready: id, errors: id, columns: id, unreadable: id } },
    keys: [made, test].map(({ id, key }) => ({ id, key })),
    folders: { top: top.id, nested: nested.id, empty: appeals.id },
    templates,
    team: {
      member: user.id,
      ...(await plantInvitation(place, id, `${name.length}.${id.slice(0, 8)}@eastmere.example`)),
    },
    jobs: { ...(await plantJobs(call, templates, mark)), mixed },
    settings,
    ...(await plantForDevelopers(parts, service, mark)),
  }
}

async function plantOrigins({ parts, address }: Place, service: Id): Promise<PlantedService['settings']> {
  const add = (kind: 'reply-to' | 'sender', value: string, makeDefault: boolean) =>
    addOrigin(parts, OPERATOR, kind, service, { value, makeDefault })
  const replyTo = await add('reply-to', 'permits@eastmere.example', true)
  const sender = await add('sender', 'EASTMERE', true)
  const other = await add('sender', '+44 7911 123000', false)
  const asked = { address: `appeals.${service.slice(0, 8)}@eastmere.example`, console: address }
  const unverified = await addReplyTo(parts, OPERATOR, service, asked)
  // The token is in the mail only.
  const link = newToken()
  await parts.db.sql`update reply_tos set link_digest = ${digestOf(link)} where id = ${unverified.id}`
  return { replyTo: replyTo.id, unverified: unverified.id, link, sender: sender.id, other: other.id }
}

/** Some of the messages were captured; one of them was sent with a test key. */
async function plantInbox({ db: { sql } }: Parts, messages: Record<string, Id>) {
  const names = ['right-to-left', 'sending', 'permanent-failure', 'delivered-sms', 'delivered']
  await note(
    sql,
    names.flatMap(name => messages[name] ?? []),
  )
  await sql`update inbox set key_type = 'test' where id = ${messages['delivered-sms']}`
  await sql`update inbox set seen_at = now() where id = ${messages['permanent-failure']}`
}

type Call = ReturnType<typeof caller>

const caller =
  (address: string, key: string) =>
  async (method: string, path: string, body?: unknown): Promise<{ id: Id; data: { id: Id } }> => {
    const response = await fetch(address + path, {
      method,
      headers: { authorization: `ApiKey-v1 ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} is answered with ${response.status}: ${text}`)
    return JSON.parse(text || '{}')
  }

export const REMINDER = `# Your permit ends soon

Dear ((first name)), your permit **((permit number))** for zone ((zone)) ends on **((end date))**.

((discount??You pay half the price, because you renew online.))

You need:

- a proof of address, not older than three months
- the registration of your vehicle

[Renew your permit](https://permits.eastmere.example/renew)`

async function plantTemplates(
  call: Call,
  mark: string,
  folders: { top: Id; nested: Id; visitors: Id },
): Promise<PlantedService['templates']> {
  type Fields = { name: string; subject?: string; content: string } & Record<string, unknown>
  const make = async (fields: Fields): Promise<Id> => {
    const { name, subject, content } = fields
    const marked = { name: name + mark, content: content + mark, ...(subject && { subject: subject + mark }) }
    const body = { template_category_id: CATEGORY.general, ...fields, ...marked }
    return (await call('POST', '/v2/manage-template', body)).id
  }
  const email = await make({
    ...{ name: 'Permit renewal reminder', template_type: 'email', template_category_id: CATEGORY.reminder },
    ...{
      parent_folder_id: folders.nested,
      subject: 'Your permit ends soon',
      content: 'Dear ((first name)), your permit ends.',
    },
  })
  await call('PATCH', `/v2/manage-template/${email}`, {
    subject: `Your permit ((permit number)) ends on ((end date))${mark}`,
  })
  await call('PATCH', `/v2/manage-template/${email}`, { content: REMINDER + mark })
  const sms = await make({
    ...{ name: 'Visitor code', template_type: 'sms', template_category_id: CATEGORY.authentication },
    ...{ parent_folder_id: folders.visitors },
    content:
      'your visitor code is ((code)). It works from ((start)) until ((end)) in zone ((zone)). Lost it? Call 01632 960 204 – à bientôt!',
  })
  const rightToLeft = await make({
    ...{ name: 'تجديد التصريح', template_type: 'email', template_category_id: CATEGORY.confirmation },
    ...{ parent_folder_id: folders.top, subject: 'تم تجديد تصريح وقوف السيارات الخاص بك', content: 'مرحبا ((name))' },
  })
  const unused = await make({
    ...{ name: 'Permit refused', template_type: 'email', template_category_id: CATEGORY.decision },
    ...{
      parent_folder_id: folders.top,
      subject: 'Your permit could not be renewed',
      content: 'Dear ((first name)), …',
    },
  })
  const archived = await make({
    name: 'Monthly list',
    template_type: 'email',
    subject: 'Monthly list',
    content: 'The list.',
  })
  await call('DELETE', `/v2/manage-template/${archived}`)
  const versioned = await make({
    name: 'Appeal received',
    template_type: 'email',
    subject: 'Your appeal',
    content: 'We have it.',
  })
  await call('PATCH', `/v2/manage-template/${versioned}`, {
    content: 'Your appeal is here. We answer within ten days.',
  })
  return { email, sms, archived, unused, rightToLeft, versioned }
}

async function sendOne(
  call: Call,
  template_id: Id,
  to: string,
  personalisation: object,
  more: object = {},
): Promise<Id> {
  const isEmail = to.includes('@')
  const sent = await call('POST', `/v2/notifications/${isEmail ? 'email' : 'sms'}`, {
    ...{ template_id, personalisation, ...more },
    ...(isEmail ? { email_address: to } : { phone_number: to }),
  })
  return sent.id
}

/** Sends it and writes its outcome with the statements of the engine, so that events and counts are right. */
async function plantMessage(
  { parts }: Place,
  call: Call,
  templates: PlantedService['templates'],
  mark: string,
  [name, template, to, plain, outcomeOf]: Send,
): Promise<Id> {
  const { sql } = parts.db
  const isCancelled = name === 'cancelled'
  const values = Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [key, value === 'yes' ? value : value + mark]),
  )
  const id = await sendOne(call, templates[template], to, values, {
    reference: `${name}-2026${mark}`,
    ...(isCancelled && { scheduled_for: inHours(1) }),
  })
  if (isCancelled) {
    await call('DELETE', `/v2/notifications/${id}`)
    return id
  }
  const owner = parts.ids.next()
  const [ticket] = await sql<{ id: Id; takes: number }>`
    update tickets set owner = ${owner}, takes = 1, leased_until = now() + interval '1 minute'
    where ${id} = any (subjects) returning id, takes`
  if (!ticket) throw new Error('the message has no ticket: is an engine running?')
  const { result, receipt } = outcomeOf({ id, ticket: ticket.id })
  const written: Result[] = result ? [{ ...NOTHING, status: null, ...result, id, ticket: ticket.id, takes: 1 }] : []
  if (written.length > 0) await record(sql, owner, [ticket], written, [ticket.id], [])
  else await sql`delete from tickets where id = ${ticket.id}`
  if (!receipt) return id
  const { status, detail = null, reply } = receipt
  const at = parts.clock.now()
  const decided = {
    ...{ id, from: { status: result ? ('sending' as const) : ('created' as const), receipt_at: null }, status, at },
    ...{
      isFinal: !['pending', 'pending-virus-check'].includes(status),
      changes: true,
      provider: 'relay',
      decidedAt: at,
    },
    ...{ response: null, detail, diagnosis: reply ? parts.seal.seal('provider reply', reply) : null, moves: [status] },
  }
  const { allMoved } = await move(sql, owner, [], [decided], [], [], [])
  if (!allMoved) throw new Error(`the message did not become ${status}`)
  return id
}

async function sendJob(call: Call, template_id: Id, name: string, many: number, more: object = {}): Promise<Id> {
  const row = (at: number) => [
    `resident.${at}@example.org`,
    ...Object.values({ ...KIM, 'permit number': `ZC-${20_500 + at}` }),
  ]
  const rows = [['email address', ...Object.keys(KIM)], ...Array.from({ length: many }, (_, at) => row(at))]
  return (await call('POST', '/v2/notifications/bulk', { template_id, name, rows, ...more })).data.id
}

/** What became of the rows; the others still wait. */
const ROWS: readonly (RowOutcome | null)[] = [
  ...Array.from({ length: 11 }, () => ({ status: 'delivered' as const, moves: ['sending', 'delivered'] })),
  ...[{ status: 'sending' as const }, { status: 'sending' as const }],
  ...[{ status: 'permanent-failure' as const, detail: 'no-email', reply: '550 5.1.1 user unknown' }],
  ...[1, 2].map(() => ({ status: 'temporary-failure' as const, detail: 'mailbox-full', reply: '452 4.2.2 full' })),
  ...[{ status: 'technical-failure' as const, response: 'no provider is up' }],
]

async function plantMixedJob(
  { parts }: Place,
  call: Call,
  templates: PlantedService['templates'],
  mark: string,
): Promise<Id> {
  const id = await sendJob(call, templates.email, `renewals-october-late.csv${mark}`, 20)
  await spreadJob(parts, id)
  await settleRows(parts, id, row => ROWS[row - 1] ?? null)
  return id
}

async function plantJobs(
  call: Call,
  templates: PlantedService['templates'],
  mark: string,
): Promise<Omit<PlantedService['jobs'], 'mixed'>> {
  const job = (plain: string, more: object): Promise<Id> => sendJob(call, templates.email, plain + mark, 3, more)
  const finished = await job('renewals-november.csv', {})
  const scheduled = await job('zone-c-notice.csv', { scheduled_for: inHours(4) })
  const cancelled = await job('visitors-fair.csv', { scheduled_for: inHours(5) })
  await call('DELETE', `/v2/notifications/bulk/${cancelled}`)
  return { finished, scheduled, cancelled }
}

const HEADER = 'email address,first name,permit number,zone,end date,discount,notes'

/** Files of one person, as they are after they were read. */
export async function plantUploads(
  parts: Parts,
  service: PlantedService,
  person: PlantedPerson,
): Promise<PlantedService['uploads']> {
  const actor = { kind: 'person', service_id: service.id, permissions: ['send-messages'], ...person } as const
  const upload = async (name: string, text: string) =>
    receive(parts, actor, service.id, {
      template_id: service.templates.email,
      origin: 'file',
      name,
      chunks: (async function* () {
        yield Buffer.from(text)
      })(),
    })
  const good = (at: number) => `resident.${at}@example.org,Kim,ZC-${at},C,30 November 2026,yes,called twice`
  const many = Array.from({ length: 20 }, (_, at) => good(at + 1))
  const bad = [
    'p.ilves@example,Pia,ZC-100,C,30 November 2026,yes,',
    ',Ola,ZC-101,C,30 November 2026,no,',
    'مُحَمَّد@@example.org,مُحَمَّد,ZC-102,C,,yes,',
    'resident.1@example.org,Kim,ZC-103,C,30 November 2026,yes,',
  ]
  const uploads = {
    ready: await upload('renewals-december.csv', [HEADER, ...many].join('\n')),
    errors: await upload('renewals-with-errors.csv', [HEADER, ...many, ...bad].join('\n')),
    columns: await upload('other-names.csv', [HEADER.replace('zone', 'Parking area'), ...many].join('\n')),
    unreadable: await upload('picture.csv', '%PDF-1.7 \u0000\u0001\u0002'),
  }
  await parts.sheets.idle()
  return uploads
}

/** Messages of the six days before today: copies of planted ones. */
async function plantHistory({ db, clock }: Parts, { messages }: PlantedService): Promise<void> {
  const midnight = Math.floor(clock.now() / 86_400_000) * 86_400_000
  const kinds = [
    ['delivered', 5],
    ['delivered-sms', 2],
    ['permanent-failure', 1],
    ['temporary-failure-sms', 1],
  ] as const
  const copies = [6, 5, 4, 3, 2, 1].flatMap(day =>
    Array.from({ length: 12 }, (_, hour) => midnight - day * 86_400_000 + (7 + hour) * 3_600_000).flatMap((at, hour) =>
      kinds.flatMap(([kind, most]) => {
        const many = kind.startsWith('delivered') ? most + ((hour * day) % 4) : (hour + day) % 5 === 0 ? most : 0
        return Array.from({ length: many }, (_, one) => ({
          of: messages[kind] ?? '',
          at: at + one * 61_000,
          took: kind === 'delivered' ? 0.8 + one * 1.7 : 2.4,
        }))
      }),
    ),
  )
  const ids = copies.map(({ at }) => `${floorOf(at * 1000).slice(0, 19)}8${randomUUID().slice(20)}` as Id)
  await makePartitionsOf(db, ids)
  const copied = part`unnest(${ids}::uuid[], ${copies.map(one => one.of)}::uuid[], ${copies.map(one => one.at)}::float8[],
                             ${copies.map(one => one.took)}::float8[]) as c (id, of, at, took)`
  await db.sql`
    insert into notifications (id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane,
                               reference, sender_id, is_international, sealed)
    select c.id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane, null, sender_id,
           is_international, sealed
    from ${copied} join notifications n on n.id = c.of`
  await db.sql`
    insert into states (id, service_id, key_type, channel, in_job, template_id, status, moves, provider, attempts, sent_at,
                        completed_at)
    select c.id, service_id, key_type, channel, in_job, template_id, status, moves, provider, attempts,
           to_timestamp(c.at / 1000 + 0.2), to_timestamp(c.at / 1000 + c.took)
    from ${copied} join states s on s.id = c.of`
  const today = Math.floor(midnight / 86_400_000)
  for (let ago = 1; ago <= 6; ago++) await recountDay(db.sql, today - ago)
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)
