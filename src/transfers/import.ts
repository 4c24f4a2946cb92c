import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Row, Sql } from '../db/connect.ts'
import { endOfLog } from '../feed/read.ts'
import { importKeys } from '../keys/sql/transfer.ts'
import { isUnknown, unknownSecret } from '../keys/unknown-secret.ts'
import { importRequests } from '../live-requests/sql/transfer.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { importService } from '../services/sql/transfer.ts'
import { isNameTaken, shownService } from '../services/sql.ts'
import { exportCategories, importSamples, importTemplates } from '../templates/sql/transfer.ts'
import type { WebhookSettings } from '../webhooks/settings.ts'
import { importWebhook } from '../webhooks/sql/transfer.ts'
import { sealTarget } from '../webhooks/webhook.ts'
import { transferFrom } from './check.ts'
import { conflictOf } from './conflict.ts'
import { cellOf } from './export.ts'
import { open } from './file.ts'
import { refuse } from './refusals.ts'
import { type Cell, type CellConfig, countsOf, type Transfer } from './transfer.ts'

type App = { db: Pick<Database, 'transaction'>; seal: Seal; config: CellConfig & WebhookSettings }

/** All of it in one transaction, or nothing. Ids stay as they are, so that callers notice nothing. */
export async function importFrom(
  app: App,
  actor: Actor,
  file: Buffer,
  passphrase: string,
): Promise<{ transfer: Transfer; differences: string[] }> {
  requirePermission(actor, 'manage-installation', null)
  return importContent(app, actor, await open(file, passphrase))
}

/** The content of a file. Nothing about it is known yet. */
export async function importContent(
  app: App,
  actor: Actor,
  content: unknown,
): Promise<{ transfer: Transfer; differences: string[] }> {
  requirePermission(actor, 'manage-installation', null)
  const transfer = transferFrom(content, app.config)
  const { keyPrefix } = transfer.cell
  const { own, accepted } = app.config.keyPrefix
  if (transfer.keys.length > 0 && !accepted.includes(keyPrefix))
    throw refuse.otherPrefix(keyPrefix, own, own, keyPrefix)
  try {
    await app.db.transaction(sql => store({ ...app, sql }, actor, transfer))
  } catch (error) {
    const conflict = conflictOf(error)
    throw conflict === null ? error : refuse.conflict(conflict)
  }
  return { transfer, differences: differencesOf(transfer.cell, cellOf(app.config)) }
}

async function store(app: { sql: Sql; seal: Seal }, actor: Actor, transfer: Transfer): Promise<void> {
  const { sql } = app
  const { id, name } = transfer.service
  const found = await shownService(sql, id)
  if (found) throw refuse.serviceExists(id, found.name, found.state)
  if (transfer.service.state !== 'archived' && (await isNameTaken(sql, name, id)))
    throw refuseService.serviceNameTaken(name)
  const categories = new Set((await exportCategories(sql)).map(category => category.id))
  const unknown = transfer.versions.find(version => !categories.has(version.category_id as Id))
  if (unknown) throw refuse.otherCategory(String(unknown.category_id))
  const people = await importService(sql, transfer)
  if (!people) throw refuse.serviceExists(id, name, 'imported at this moment')
  await importKeys(
    sql,
    id,
    transfer.keys.map(key => sealedKey(app.seal, key)),
  )
  await importTemplates(sql, id, transfer)
  await importSamples(
    sql,
    id,
    transfer.samples.map(({ values, ...sample }) => ({
      ...sample,
      sealed: bytea(app.seal.seal('template samples', JSON.stringify(values))),
    })),
  )
  for (const { target, ...webhook } of transfer.webhooks) {
    const position = await endOfLog(sql, { service_id: id, key_type: webhook.key_type })
    await importWebhook(sql, id, { ...webhook, sealed: bytea(sealTarget(app.seal, target)) }, position)
  }
  const personHere = personIn(transfer, people)
  await importRequests(
    sql,
    id,
    transfer.live_requests.map(request => ({
      ...request,
      asked_by: personHere(request.asked_by),
      decided_by: personHere(request.decided_by),
    })),
  )
  await record(sql, 'service imported', actor, id, id, countsOf(transfer))
}

/** A key that had no secret there gets another unknown one: that in the file has been seen. */
function sealedKey(seal: Seal, { secret, ...key }: Row & { secret: string }): Row {
  const stored = isUnknown(secret) ? unknownSecret() : secret
  return {
    ...key,
    secret_digest: bytea(seal.digest('key secret', stored)),
    secret_sealed: bytea(seal.seal('key secret', stored)),
  }
}

/** As PostgreSQL reads it in JSON. */
const bytea = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

/** A person of the other database as one of this database, by the e-mail address; null: not a member of the team. */
function personIn({ users }: Transfer, people: ReadonlyMap<string, Id>) {
  const addresses = new Map(users.map(user => [user.person_id, user.email_address.toLowerCase()]))
  return (person: Id | null): Id | null => (person && people.get(addresses.get(person) ?? '')) || null
}

/** What recipients may notice. */
function differencesOf(theirs: Cell, ours: Cell): string[] {
  const differences: string[] = []
  if (theirs.sendingDomain !== ours.sendingDomain)
    differences.push(`E-mails were sent from ${theirs.sendingDomain}, and are sent from ${ours.sendingDomain} here.`)
  if (theirs.homeCountry !== ours.homeCountry)
    differences.push(`The home country was ${theirs.homeCountry}, and is ${ours.homeCountry} here.`)
  return differences
}
