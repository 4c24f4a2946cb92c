// Everything in a file belongs to the service of the file, and passes the checks that it would pass through the interface or in the
// console. The seal of a file proves who wrote it, not what it contains.
import type { Channel } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { EventType } from '../events/event.ts'
import type { KeyType } from '../keys/key.ts'
import { checkVolume } from '../live-requests/ask.ts'
import { homePlan } from '../recipients/plans.ts'
import { settingsFrom } from '../services/change.ts'
import { emailFrom, nameFrom, phoneFrom, reasonFrom, recipientFrom, senderFrom } from '../services/checks.ts'
import type { Changes } from '../services/sql.ts'
import { checkFolders } from '../templates/folder.ts'
import { areKeepable } from '../templates/samples.ts'
import { checkVersion } from '../templates/template.ts'
import { batchFrom, eventTypesFrom, tokenFrom, urlFrom, recipientFrom as withRecipient } from '../webhooks/rules.ts'
import type { WebhookSettings } from '../webhooks/settings.ts'
import { type Format, MOST_WEBHOOKS, type Target } from '../webhooks/webhook.ts'
import { refuse } from './refusals.ts'
import { transferSchema } from './schema.ts'
import { placed, problemsOfShape } from './shapes.ts'
import type { Transfer } from './transfer.ts'

/** What the schema has checked. */
type Shaped = Pick<Transfer, 'version' | 'exported_at' | 'cell'> & {
  service: Transfer['service'] & Changes
  users: readonly (Transfer['users'][number] & { id: Id; name: string; phone_number?: string | null })[]
  reply_tos: readonly { id: Id; email_address: string; is_default: boolean; archived: boolean }[]
  senders: readonly { id: Id; sender: string; is_default: boolean; archived: boolean }[]
  safelist: readonly { id: Id; recipient: string }[]
  folders: readonly { id: Id; name: string; parent_id?: Id | null }[]
  templates: readonly { id: Id; type: Channel; version: number; folder_id?: Id | null }[]
  versions: readonly { template_id: Id; version: number; name: string; content: string; subject?: string | null }[]
  samples: readonly { template_id: Id; values: Record<string, unknown> }[]
  keys: readonly { id: Id; name: string; secret: string }[]
  webhooks: readonly {
    id: Id
    key_type: KeyType
    format: Format
    types?: EventType[] | null
    with_recipient: boolean
    batch: number
    target: Target
  }[]
  live_requests: readonly (Transfer['live_requests'][number] & {
    id: Id
    purpose: string
    email_a_day?: number | null
    sms_a_day?: number | null
    decision?: string | null
    decided_at?: string | null
    reason?: string | null
  })[]
}

/** The content of a file in the form in which it is stored. Throws a refusal that names the first problem and its place. */
export function transferFrom(value: unknown, settings: { homeCountry: string } & WebhookSettings): Transfer {
  const [problem] = problemsOfShape(transferSchema, value, { all: false })
  if (problem !== undefined) throw refuse.problem(problem)
  const given = value as Shaped
  const service = at('/service', () => settingsFrom(given.service))
  const plan = homePlan(service.home_country ?? settings.homeCountry)
  checkTemplates(given)
  checkRequests(given)
  return {
    ...given,
    service,
    users: each(
      '/users',
      given.users,
      user => ({
        ...user,
        name: nameFrom(user.name),
        email_address: emailFrom(user.email_address),
        phone_number: user.phone_number ? phoneFrom(user.phone_number, plan) : null,
      }),
      user => user.email_address.toLowerCase(),
    ),
    reply_tos: oneDefault(
      '/reply_tos',
      each('/reply_tos', given.reply_tos, one => ({ ...one, email_address: emailFrom(one.email_address) })),
    ),
    senders: oneDefault(
      '/senders',
      each('/senders', given.senders, one => ({ ...one, sender: senderFrom(one.sender, plan) })),
    ),
    safelist: each(
      '/safelist',
      given.safelist,
      one => ({ ...one, recipient: recipientFrom(one.recipient, plan) }),
      one => one.recipient,
    ),
    folders: each('/folders', given.folders, one => ({ ...one, name: nameFrom(one.name, 'name of the folder') })),
    keys: each(
      '/keys',
      given.keys,
      one => ({ ...one, name: nameFrom(one.name, 'name of the key') }),
      one => one.secret,
    ),
    webhooks: webhooksFrom(given, settings),
  }
}

/** The items as they are stored. Ids must differ, and so must what `keyOf` returns. */
function each<I, T extends { id: Id }>(
  place: string,
  items: readonly I[],
  read: (item: I) => T,
  keyOf: (item: T) => string = ({ id }) => id,
): T[] {
  const seen = new Set<string>()
  return items.map((item, position) => {
    const stored = at(`${place}/${position}`, () => read(item))
    for (const key of new Set([stored.id, keyOf(stored)])) {
      if (seen.has(key)) throw refuse.problem(`${place}/${position}: occurs twice`)
      seen.add(key)
    }
    return stored
  })
}

function oneDefault<T extends { is_default: boolean; archived: boolean }>(place: string, items: T[]): T[] {
  if (items.filter(one => one.is_default && !one.archived).length > 1)
    throw refuse.problem(`${place}: more than one is the default`)
  return items
}

/** Versions and example values are of templates of the file, and templates in folders of the file. */
function checkTemplates({ folders, templates, versions, samples }: Shaped): void {
  at('/folders', () => checkFolders(folders))
  const folderIds = new Set(folders.map(({ id }) => id))
  const types = new Map<Id, Channel>()
  templates.forEach(({ id, type, folder_id }, position) => {
    const place = `/templates/${position}`
    if (types.has(id)) throw refuse.problem(`${place}: occurs twice`)
    if (folder_id && !folderIds.has(folder_id)) throw refuse.problem(`${place}: its folder is not in the file`)
    types.set(id, type)
  })
  const numbers = new Set<string>()
  versions.forEach((version, position) => {
    const place = `/versions/${position}`
    const type = types.get(version.template_id)
    if (type === undefined) throw refuse.problem(`${place}: its template is not in the file`)
    const number = `${version.template_id}/${version.version}`
    if (numbers.has(number)) throw refuse.problem(`${place}: occurs twice`)
    numbers.add(number)
    at(place, () => checkVersion(type, version))
  })
  templates.forEach(({ id, version }, position) => {
    if (!numbers.has(`${id}/${version}`)) throw refuse.problem(`/templates/${position}: its version is not in the file`)
  })
  const sampled = new Set<Id>()
  samples.forEach(({ template_id, values }, position) => {
    const place = `/samples/${position}`
    if (!types.has(template_id)) throw refuse.problem(`${place}: its template is not in the file`)
    if (sampled.has(template_id)) throw refuse.problem(`${place}: occurs twice`)
    sampled.add(template_id)
    if (!areKeepable(values)) throw refuse.problem(`${place}: the values are too long`)
  })
}

function webhooksFrom(given: Shaped, settings: WebhookSettings) {
  if (given.webhooks.length > MOST_WEBHOOKS)
    throw refuse.problem(`/webhooks: a service has at most ${MOST_WEBHOOKS} webhooks`)
  const unsigned = given.webhooks.findIndex(
    ({ format, target }) => format === 'standard' && !target.secrets.some(({ until }) => until === null),
  )
  if (unsigned !== -1) throw refuse.problem(`/webhooks/${unsigned}: it has no secret to sign its requests with`)
  return each('/webhooks', given.webhooks, ({ format, types, with_recipient, batch, target, ...webhook }) => ({
    ...webhook,
    format,
    types: eventTypesFrom(format, types),
    with_recipient: withRecipient(format, with_recipient),
    batch: batchFrom(format, batch),
    target: {
      url: urlFrom(settings, target.url),
      token: tokenFrom(format, target.token ?? undefined),
      secrets: target.secrets,
    },
  }))
}

function checkRequests(given: Shaped): void {
  const requests = each('/live_requests', given.live_requests, request => {
    reasonFrom(request.purpose, 'description')
    if (request.reason != null) reasonFrom(request.reason)
    checkVolume(request.email_a_day ?? null, 'e-mails', 'email_a_day')
    checkVolume(request.sms_a_day ?? null, 'text messages', 'sms_a_day')
    return request
  })
  const isOpen = ({ decision = null }: (typeof requests)[number]) => decision === null
  if (requests.filter(isOpen).length > 1) throw refuse.problem('/live_requests: more than one is open')
  const half = requests.findIndex(one => isOpen(one) !== ((one.decided_at ?? null) === null))
  if (half !== -1) throw refuse.problem(`/live_requests/${half}: decision and decided_at belong together`)
}

/** A refusal of a rule, with the place in the file. */
function at<T>(place: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw refuse.problem(placed(place, error))
  }
}
