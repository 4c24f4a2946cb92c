// Adds what a file has and this database has not. What is here is never changed, with three exceptions that only go forward: a
// template goes on to a newer version, a key that is revoked there is revoked here, and a key without a secret gets it. So an import
// can be repeated: after an interruption it goes on, and before the callers are moved it adds what is new.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Row, Sql } from '../db/connect.ts'
import { endOfLog } from '../feed/read.ts'
import { type KeyPrefix, readKey } from '../keys/key.ts'
import { importKeys, setRevoked, setSecret } from '../keys/sql/transfer.ts'
import { unknownSecret } from '../keys/unknown-secret.ts'
import { homePlan } from '../recipients/plans.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { isSampleName, mailboxFrom } from '../services/service.ts'
import { importLists, importService } from '../services/sql/transfer.ts'
import { hold, isNameTaken } from '../services/sql.ts'
import { advance, exportCategories, importCategories, importTemplates } from '../templates/sql/transfer.ts'
import { conflictOf } from '../transfers/conflict.ts'
import { eventTypesFrom } from '../webhooks/rules.ts'
import type { WebhookSettings } from '../webhooks/settings.ts'
import { lockWebhooksOf } from '../webhooks/sql/manage.ts'
import { importWebhook } from '../webhooks/sql/transfer.ts'
import { MOST_WEBHOOKS, sealTarget } from '../webhooks/webhook.ts'
import { type Collected, collected } from './collect.ts'
import { type GivenHook, type GivenKey, type GivenService, type GivenTemplate, type Move, moment } from './form.ts'
import { hostOf, normalised } from './normalise.ts'
import { refuse } from './refusals.ts'

type App = {
  db: Pick<Database, 'transaction'>
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  config: { homeCountry: string; keyPrefix: KeyPrefix } & WebhookSettings
}

export type Counts = Record<(typeof COUNTED)[number], number>
const COUNTED = [
  'templates',
  'versions',
  'folders',
  'keys',
  'secrets',
  'revoked',
  'members',
  'reply_tos',
  'senders',
  'safelist',
  'webhooks',
] as const

export type Result = {
  id: Id
  name: string
  /**
   * `completed`: it was here, and something was added. `refused`: nothing of it was stored; the first note says why. `skipped`: it is a
   * sample, and there is one here.
   */
  outcome: 'added' | 'completed' | 'unchanged' | 'refused' | 'skipped'
  added: Counts
  /** What was not taken over, one sentence each. */
  notes: string[]
}
export type Report = { dry_run: boolean; categories: number; services: Result[]; notes: string[] }

type Options = {
  dryRun: boolean
  /** By the id of their key or webhook: secrets, or whole keys. */
  secrets?: ReadonlyMap<string, string>
  /** What the reader of another database could not take over; null: of the whole installation. */
  notes?: ReadonlyMap<Id | null, readonly string[]>
  /** Services of another database that its reader has refused, and why. */
  refused?: ReadonlyMap<Id, readonly string[]>
  onService?(done: number): void
}

/** One transaction for each service: after an interruption the services before it are complete. */
export async function importMove(app: App, actor: Actor, move: Move, options: Options): Promise<Report> {
  requirePermission(actor, 'manage-installation', null)
  const services: Result[] = []
  const categories = await undoable(app, options.dryRun, sql => addCategories(sql, move))
  for (const service of move.services) {
    const known = options.notes?.get(service.id) ?? []
    const why = options.refused?.get(service.id)
    const result = why ? refusedFor(service, why) : await one(app, actor, move, service, options)
    services.push({ ...result, notes: [...result.notes, ...known] })
    options.onService?.(services.length)
  }
  const notes = [...categories.notes, ...(options.notes?.get(null) ?? [])]
  return { dry_run: options.dryRun, categories: categories.added, services, notes }
}

const noCounts = () => Object.fromEntries(COUNTED.map(what => [what, 0])) as Counts

const refusedFor = ({ id, name }: GivenService, why: readonly string[]): Result => ({
  ...{ id, name, outcome: 'refused', added: noCounts(), notes: [...why] },
})

class Undo extends Error {}

/** A dry run does everything, and then undoes it: it finds what only the database can tell. */
async function undoable<T>(app: App, dryRun: boolean, work: (sql: Sql) => Promise<T>): Promise<T> {
  const done: { result?: T } = {}
  try {
    await app.db.transaction(async sql => {
      done.result = await work(sql)
      if (dryRun) throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  return done.result as T
}

async function addCategories(sql: Sql, { categories }: Move): Promise<{ added: number; notes: string[] }> {
  const here = new Map((await exportCategories(sql)).map(category => [category.id, category]))
  const notes = categories.flatMap(category => {
    const ours = here.get(category.id)
    const fields = ours ? differing(category, ours) : []
    return ours && fields.length > 0
      ? [
          `The category ${category.id} is "${category.name}" there and "${ours.name}" here (${fields.join(', ')}). It stays as it is here.`,
        ]
      : []
  })
  return { added: (await importCategories(sql, categories)).length, notes }
}

async function one(app: App, actor: Actor, move: Move, service: GivenService, options: Options): Promise<Result> {
  const { id, name } = service
  const notes: string[] = []
  const added = noCounts()
  try {
    const outcome = await undoable(app, options.dryRun, async sql => {
      await importCategories(sql, move.categories)
      const plan = homePlan(service.home_country ?? app.config.homeCountry)
      const wanted = normalised(
        withSecrets(app, service, options.secrets, notes),
        { plan, webhooks: app.config },
        notes,
      )
      await hold(sql, id)
      const here = await collected(sql, app.seal, id)
      const isNew = here === null
      if (isNew && service.state !== 'archived' && (await isNameTaken(sql, name, id))) {
        if (!isSampleName(name)) throw refuseService.serviceNameTaken(name)
        notes.splice(
          0,
          notes.length,
          'Every first start creates a sample service. To move this one, give it another name there.',
        )
        return 'skipped'
      }
      await store({ ...app, sql, added, notes }, wanted, here)
      const hasAdded = Object.values(added).some(count => count > 0)
      if (isNew || hasAdded) await record(sql, 'service imported', actor, id, id, added)
      return isNew ? 'added' : hasAdded ? 'completed' : 'unchanged'
    })
    return { id, name, outcome, added, notes }
  } catch (error) {
    const why = error instanceof Refusal ? error.message : conflictOf(error)
    if (why === null) throw error
    return refusedFor(service, [why])
  }
}

type Work = App & { sql: Sql; added: Counts; notes: string[] }

async function store(work: Work, wanted: GivenService, here: Collected | null): Promise<void> {
  const { sql, added, notes } = work
  const { id } = wanted
  const now = fromMicros(work.clock.micros())
  const missing = <T extends object>(
    what: string,
    given: readonly T[] | undefined,
    there: readonly T[] | undefined,
    keyOf: (item: T) => string,
  ): T[] => {
    const known = new Map((there ?? []).map(item => [keyOf(item), item]))
    return (given ?? []).filter(item => {
      const found = known.get(keyOf(item))
      const fields = found ? differing(item, found) : []
      if (fields.length > 0)
        notes.push(`${what} ${keyOf(item)} differs here (${fields.join(', ')}), and stays as it is.`)
      return !found
    })
  }
  const byId = (item: { id: Id }) => item.id

  const lists = {
    users: missing('The team member', wanted.team, here?.team, member => member.email_address.toLowerCase()).map(
      member => ({
        ...{ id: work.ids.next(), name: member.email_address, role: 'viewer', created_at: now },
        ...member,
      }),
    ),
    reply_tos: missing('The reply-to address', wanted.reply_to_addresses, here?.reply_to_addresses, byId).map(
      address => ({
        ...{ is_default: false, archived: false, created_at: now, verified_at: now },
        ...address,
      }),
    ),
    senders: missing('The text sender', wanted.text_senders, here?.text_senders, byId).map(sender => ({
      ...{ is_default: false, archived: false, created_at: now },
      ...sender,
    })),
    // An entry has no other field that matters.
    safelist: missing(
      '',
      wanted.safelist?.map(({ recipient }) => ({ recipient })),
      here?.safelist,
      entry => entry.recipient,
    )
      .map(({ recipient }) => wanted.safelist?.find(entry => entry.recipient === recipient))
      .map(entry => ({ id: work.ids.next(), created_at: now, ...entry })),
  }
  if (here) {
    const fields = differing(settingsOf(wanted), here)
    if (fields.length > 0) notes.push(`The service exists here, and keeps its own ${fields.join(', ')}.`)
    await importLists(sql, id, lists)
  } else if (!(await importService(sql, { ...lists, service: completed(settingsOf(wanted), now) })))
    throw refuse.addedMeanwhile(id)
  added.members += lists.users.length
  added.reply_tos += lists.reply_tos.length
  added.senders += lists.senders.length
  added.safelist += lists.safelist.length

  const folders = missing('The folder', wanted.folders, here?.folders, byId)
  const templates = missing('The template', wanted.templates?.map(heads), here?.templates.map(heads), byId)
  const versions = await newVersions(work, wanted.templates ?? [], here?.templates ?? [])
  await importTemplates(sql, id, {
    folders: folders.map(folder => ({ created_at: now, ...folder })),
    templates: templates.map(template =>
      completedTemplate(
        wanted.templates?.find(one => one.id === template.id),
        now,
      ),
    ),
    versions: versions.map(version => ({
      ...{ subject: null, literal_values: false, created_by: '', made_at: now },
      ...version,
    })),
  })
  await goOn(work, id, wanted.templates ?? [], here?.templates ?? [], versions)
  added.folders += folders.length
  added.templates += templates.length
  added.versions += versions.length

  await storeKeys(work, id, wanted.keys ?? [], here?.keys ?? [], now)
  await storeWebhooks(work, id, wanted.webhooks ?? [], here?.webhooks ?? [], now)
}

const settingsOf = ({
  team,
  reply_to_addresses,
  text_senders,
  safelist,
  folders,
  templates,
  keys,
  webhooks,
  ...settings
}: GivenService) => settings

/** Everything that a file need not give (the columns have no defaults when a whole row is inserted). */
const completed = (settings: ReturnType<typeof settingsOf>, now: string) => ({
  ...{ state: 'active', mode: 'trial', mailbox: mailboxFrom(settings.name), created_at: now },
  ...{ may_send_email: true, may_send_sms: true, may_send_international: true, may_send_files: true, sms_prefix: true },
  ...{ email_retention_days: 7, sms_retention_days: 7 },
  ...settings,
})

const lastOf = ({ version, versions }: GivenTemplate) =>
  version ?? versions.reduce((last, one) => Math.max(last, one.version), 0)

const completedTemplate = (template: GivenTemplate | undefined, now: string): Row => {
  if (!template) throw new Error('a template that is missing here is in the file')
  const { versions, ...head } = template
  return { archived: false, created_by: '', created_at: now, ...head, version: lastOf(template) }
}

/** What of a template is compared: it may have a newer version here. */
const heads = ({ version, versions, updated_at, ...head }: GivenTemplate) => head

async function newVersions(work: Work, wanted: readonly GivenTemplate[], here: readonly GivenTemplate[]) {
  return wanted.flatMap(template => {
    const known = new Map(here.find(({ id }) => id === template.id)?.versions.map(one => [one.version, one]))
    return template.versions.flatMap(version => {
      const found = known.get(version.version)
      if (!found) return [{ template_id: template.id, ...version }]
      const fields = differing(version, found)
      if (fields.length > 0)
        work.notes.push(
          `Version ${version.version} of the template ${template.id} differs here (${fields.join(', ')}), and stays as it is.`,
        )
      return []
    })
  })
}

/** Templates that were here, and have a newer version in the file. */
async function goOn(
  { sql }: Work,
  service: Id,
  wanted: readonly GivenTemplate[],
  here: readonly GivenTemplate[],
  added: readonly { template_id: Id; version: number }[],
): Promise<void> {
  for (const template of wanted) {
    const found = here.find(({ id }) => id === template.id)
    const version = lastOf(template)
    const isNew = added.some(one => one.template_id === template.id && one.version === version)
    if (found && isNew) await advance(sql, service, template.id, version, template.updated_at ?? null)
  }
}

async function storeKeys(
  work: Work,
  service: Id,
  wanted: readonly GivenKey[],
  here: readonly GivenKey[],
  now: string,
): Promise<void> {
  const { sql, seal, added, notes } = work
  const rows: Row[] = []
  for (const { secret, ...key } of wanted) {
    const found = here.find(({ id }) => id === key.id)
    if (!found) {
      const stored = secret ?? unknownSecret()
      const { type, ...columns } = key
      rows.push({
        ...{ manage_templates: false, manage_webhooks: false, created_by: '', created_at: now },
        ...{ ...columns, key_type: type },
        ...{
          secret_digest: bytea(seal.digest('key secret', stored)),
          secret_sealed: bytea(seal.seal('key secret', stored)),
        },
      })
      added.keys++
      if (secret) added.secrets++
    } else {
      const { revoked_at, ...compared } = key
      const fields = differing(compared, found)
      if (fields.length > 0) notes.push(`The key ${key.id} differs here (${fields.join(', ')}), and stays as it is.`)
      if (revoked_at && !found.revoked_at) {
        await setRevoked(sql, service, key.id, revoked_at)
        added.revoked++
      }
      if (secret && !found.secret) {
        await setSecret(sql, service, key.id, {
          digest: seal.digest('key secret', secret),
          sealed: seal.seal('key secret', secret),
        })
        added.secrets++
      } else if (secret && found.secret !== secret)
        notes.push(`The key ${key.id} has another secret here, and keeps it.`)
    }
    const isUsable = secret || found?.secret || key.revoked_at || found?.revoked_at
    if (!isUsable)
      notes.push(
        `The key "${key.name}" (${key.id}) has no secret here: its callers get "API key not found". Give its secret with --secrets-file, or create another key.`,
      )
  }
  await importKeys(sql, service, rows)
}

/** An endpoint is sent what is logged after the import. Its receiver could not check requests without a secret, so it is not stored without. */
async function storeWebhooks(
  work: Work,
  service: Id,
  wanted: readonly GivenHook[],
  here: readonly GivenHook[],
  now: string,
): Promise<void> {
  const { sql, seal, added, notes } = work
  if (wanted.length > 0) await lockWebhooksOf(sql, service)
  let count = here.length
  for (const { secret, ...webhook } of wanted) {
    const what = `The webhook ${webhook.id} to ${hostOf(webhook.url)}`
    const found = here.find(({ id }) => id === webhook.id)
    if (found) {
      const { updated_at, ...compared } = webhook
      const fields = differing(compared, found)
      if (secret && secret !== found.secret) fields.push('secret')
      if (fields.length > 0) notes.push(`${what} differs here (${fields.join(', ')}), and stays as it is.`)
    } else if (!secret) notes.push(`${what} was not taken over: give its secret with --secrets-file.`)
    else if (count >= MOST_WEBHOOKS)
      notes.push(`${what} was not taken over: a service has at most ${MOST_WEBHOOKS} webhooks.`)
    else {
      const { url, include_recipient, key_type = 'normal', format = 'standard', types, ...columns } = webhook
      const isCallback = format === 'callback'
      const target = {
        url,
        token: isCallback ? secret : null,
        secrets: isCallback ? [] : [{ secret, until: null }],
      }
      const row = {
        ...{ batch: 1, state: 'active', created_at: now, ...columns, key_type, format },
        ...{ types: eventTypesFrom(format, types), with_recipient: include_recipient ?? isCallback },
        sealed: bytea(sealTarget(seal, target)),
      }
      await importWebhook(sql, service, row, await endOfLog(sql, { service_id: service, key_type }))
      added.webhooks++
      count++
    }
  }
}

/** As PostgreSQL reads it in JSON. */
const bytea = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

/** Secrets from the file of secrets, and from whole keys; what is no secret is noted, and left out. */
function withSecrets(
  { config }: App,
  service: GivenService,
  secrets: ReadonlyMap<string, string> | undefined,
  notes: string[],
): GivenService {
  const webhooks = service.webhooks?.map(webhook => ({
    ...webhook,
    secret: secrets?.get(webhook.id) ?? webhook.secret ?? null,
  }))
  const keys = service.keys?.map(key => {
    const given = secrets?.get(key.id) ?? key.secret
    if (!given) return { ...key, secret: null }
    const whole = readKey(config.keyPrefix, given)
    const secret = readId(given.slice(-36))
    if (!secret || (given.length > 36 && whole?.serviceId !== service.id)) {
      notes.push(
        secret && given.slice(-73, -37) === service.id
          ? `The key "${key.name}" (${key.id}) begins with a word that is not accepted here: add it to HERALD_KEY_PREFIX.`
          : `What is given as the secret of the key "${key.name}" (${key.id}) is not one: it must be the 36 characters at the end of the key, or the whole key.`,
      )
      return { ...key, secret: secret && given.slice(-73, -37) === service.id ? secret : null }
    }
    return { ...key, secret }
  })
  return { ...service, ...(keys && { keys }), ...(webhooks && { webhooks }) }
}

/** The fields that are given and not the same here. */
function differing(given: object, here: object): string[] {
  const ours = here as Row
  return Object.entries(given)
    .filter(([field, value]) => value !== undefined && !isSame(field, value, ours[field]))
    .map(([field]) => field)
}

const isSame = (field: string, a: unknown, b: unknown) =>
  field.endsWith('_at')
    ? moment(a) === moment(b)
    : Array.isArray(a)
      ? JSON.stringify(a) === JSON.stringify(b)
      : (a ?? null) === (b ?? null)
