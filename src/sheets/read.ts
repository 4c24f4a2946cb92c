// A sheet as its person sees it.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import type { Templates } from '../templates/cache.ts'
import { columnsOf, currentMatch, type MatchedTemplate, missingOf } from './match.ts'
import type { SheetHead, SheetReading } from './reading.ts'
import { refuse } from './refusals.ts'
import { KEPT_DAYS, type Match, MOST_SHEETS, type Sheet } from './sheet.ts'
import { find, listOf, type SheetRecord } from './sql.ts'

export type SheetApp = {
  db: { sql: Sql }
  seal: Seal
  templates: Templates
  sheets: Pick<SheetReading, 'begin' | 'progressOf'>
}

/** A sheet with everything that other verbs need. */
export type LoadedSheet = {
  record: SheetRecord
  header: readonly string[]
  match: Match
  template: MatchedTemplate
  sheet: Sheet
}

export const read = async (app: SheetApp, actor: PersonActor, service: Id, id: Id): Promise<Sheet> =>
  (await load(app, actor, service, id)).sheet

/** The sheets of this person that are not sent yet, newest first. */
export async function list(app: SheetApp, actor: PersonActor, service: Id): Promise<Sheet[]> {
  requirePermission(actor, 'send-messages', service)
  const records = await listOf(app.db.sql, { service_id: service, person_id: actor.id }, MOST_SHEETS)
  return (await Promise.all(records.map(record => loaded(app, record).catch(() => null)))).flatMap(
    one => one?.sheet ?? [],
  )
}

export async function load(app: SheetApp, actor: PersonActor, service: Id, id: Id): Promise<LoadedSheet> {
  requirePermission(actor, 'send-messages', service)
  const record = await find(app.db.sql, { service_id: service, person_id: actor.id }, id)
  if (!record) throw refuse.notFound()
  if (record.is_abandoned) app.sheets.begin(service, id)
  return loaded(app, record)
}

/** For verbs that need the rows. */
export async function loadReady(app: SheetApp, actor: PersonActor, service: Id, id: Id): Promise<LoadedSheet> {
  const found = await load(app, actor, service, id)
  if (found.record.state === 'sent') throw refuse.alreadySent()
  if (found.record.state !== 'ready') throw refuse.notReady()
  return found
}

const NO_HEAD: SheetHead = { header: [], sheetName: null, otherSheets: [] }
const DAY_MICROS = 86_400_000_000

async function loaded(app: SheetApp, record: SheetRecord): Promise<LoadedSheet> {
  const head = await app.templates.head(record.service_id, record.template_id)
  if (!head) throw refuseSend.templateNotFound()
  const { compiled } = await app.templates.version(head.id, head.version)
  const template: MatchedTemplate = { channel: head.type, names: compiled.names }
  const { header, sheetName, otherSheets } = record.head ? headOf(app.seal, record.head) : NO_HEAD
  const match = currentMatch(record.match, header, template)
  const isReady = record.state === 'ready'
  return {
    record,
    header,
    match,
    template,
    sheet: {
      id: record.id,
      service_id: record.service_id,
      template_id: record.template_id,
      channel: head.type,
      state: record.state,
      name: app.seal.open('sheet name', record.name).toString('utf8'),
      origin: record.origin,
      bytes: record.bytes,
      format: record.format,
      encoding: record.encoding,
      delimiter: record.delimiter,
      sheetName,
      otherSheets,
      columns: columnsOf(header, match, template),
      missing: isReady ? missingOf(match, template) : [],
      rowCount: record.row_count - record.left_out.length,
      blankRows: record.blank_rows,
      leftOut: record.left_out.length,
      progress: app.sheets.progressOf(record.id),
      problem: record.problem,
      job_id: record.job_id,
      created_at: record.created_at,
      expires_at: fromMicros(microsOf(record.id) + KEPT_DAYS * DAY_MICROS),
    },
  }
}

const headOf = (seal: Seal, sealed: Buffer) => JSON.parse(seal.open('sheet head', sealed).toString('utf8')) as SheetHead
