// The checks of a bulk send, in the order of the contract. They are lists that are made one by one: a send stops at the first refusal,
// a check before sending goes on to the end. A check that needs what an earlier one could not find is left out, and named in `skipped`.
import { type Channel, PLAIN } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { dayOf } from '../limits/daily.ts'
import { usedOf } from '../limits/sql/usage.ts'
import { laneOf, type MessageLane } from '../notifications/lane.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { readMoment } from '../notifications/schedule.ts'
import { allowedRecipientsFor } from '../services/allowed.ts'
import { chooseOrigin } from '../services/senders.ts'
import { dailyLimit, maySend } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head, Templates } from '../templates/cache.ts'
import { paceOf } from './job.ts'
import { refuse } from './refusals.ts'
import type { BulkSkipped } from './report.ts'
import type { BulkFields, CheckedFile, Examiner, FileProblem, FileRules } from './thread.ts'

export type ChecksApp = { db: { sql: Sql }; clock: Clock; templates: Templates; simulated: Simulated }

/** Whose rules apply. */
type RulesOf = { service: LoadedService; key_type: KeyType }

/** What the checks find out; later checks use it. Null: not known (yet). */
export type Known = {
  fields: Partial<BulkFields>
  /** Fields that are given, but wrong. */
  unread: readonly string[]
  hasFile: boolean
  template: Head | null
  /** The chosen sender or reply-to address; its id is null for none. */
  sender: { id: Id | null } | null
  file: KnownFile | null
  /** Refusals that sum up what is wrong with single rows. */
  ofRows: Refusal[]
  skipped: readonly BulkSkipped[]
}

export type KnownFile = {
  checked: CheckedFile
  /** When the messages are due. */
  due: { micros: number; isLater: boolean }
  day: string
  /** Messages that count against the daily limit. */
  counted: number
  daily_limit: number
  lane: MessageLane
}

export const createKnown = (): Known => ({
  fields: {},
  unread: [],
  hasFile: false,
  template: null,
  sender: null,
  file: null,
  ofRows: [],
  skipped: [],
})

/** Steps 4 to 8, before the request is counted. A body that is not JSON is refused at once: there is nothing to check. */
export async function* requestProblems(
  app: ChecksApp,
  { service }: RulesOf,
  thread: Examiner,
  known: Known,
): AsyncGenerator<Refusal, void> {
  const head = await thread.read(app.clock.now())
  if (!head.ok && !head.sound) throw new Refusal(head.kind, head.messages)
  if (service.state === 'suspended') yield refuseSend.suspended()
  if (!head.ok) yield new Refusal(head.kind, head.messages)
  const { fields, hasRows, hasCsv } = head.ok ? head : (head.sound ?? { fields: {}, hasRows: false, hasCsv: false })
  known.fields = fields
  known.unread = head.ok ? [] : (head.sound?.unread ?? [])
  known.hasFile = hasRows !== hasCsv
  const isFileRead = !known.unread.includes('rows') && !known.unread.includes('csv')
  if (!known.hasFile && isFileRead) yield refuse.rowsOrCsv()

  if (fields.template_id === undefined) known.skipped = ['template']
  else {
    const template = await app.templates.head(service.id, readId(fields.template_id) as Id)
    known.template = template
    if (!template) yield refuseSend.templateNotFound()
    if (template?.archived) yield refuseSend.templateDeleted()
    if (template && !maySend(service, template.type)) yield refuseSend[PLAIN[template.type].refusals.send]()
  }
}

/** Steps 10 to 19. `isReport`: everything is collected, and no chunks are made. */
export async function* fileProblems(
  app: ChecksApp,
  caller: RulesOf,
  thread: Examiner,
  known: Known,
  { isReport = false } = {},
): AsyncGenerator<Refusal, void> {
  const { service, key_type } = caller
  const { template, fields, hasFile } = known
  const skip = (...names: BulkSkipped[]) => {
    known.skipped = [...known.skipped, ...names]
  }

  if (!template || known.unread.includes('reply_to_id')) skip('sender')
  else {
    const found = chooseOrigin(service, template.type, fields.reply_to_id ?? undefined)
    if (found.ok) known.sender = { id: found.origin?.id ?? null }
    else yield unknownOrigin(service, template.type, fields.reply_to_id)
  }
  if (!template || !hasFile) return skip('rows', 'daily limit')
  const due = fields.scheduled_for ? readMoment(fields.scheduled_for) : null
  const micros = due === null ? app.clock.micros() : Math.round(due * 1000)
  const rules = await rulesFor(app, caller, template, micros)
  const checked = await thread.check(isReport ? { ...rules, isReport } : rules)
  known.file = {
    checked,
    due: { micros, isLater: due !== null },
    day: dayOf(micros / 1000),
    counted: key_type === 'test' ? 0 : checked.counted,
    daily_limit: dailyLimit(service, template.type),
    lane: laneIn(checked, template, key_type),
  }
  const isOfFile = ({ step }: FileProblem) => OF_FILE.includes(step)
  for (const problem of checked.problems.filter(isOfFile)) yield refusalOf(problem, service)
  if (isReport && !checked.found?.rows) return skip('rows', 'daily limit')
  if (checked.found?.columns.recipient === null) skip('recipients')
  if (known.unread.includes('scheduled_for')) skip('daily limit')
  else {
    const refusal = await remainingProblem(app, { ...known.file, service_id: service.id, channel: template.type })
    if (refusal) yield refusal
  }
  for (const problem of checked.problems) {
    if (isOfFile(problem)) continue
    const refusal = refusalOf(problem, service)
    if (problem.step !== 'mixed') known.ofRows.push(refusal)
    yield refusal
  }
}

const laneIn = ({ isSimulated, rowCount }: CheckedFile, { type, pace }: Head, keyType: KeyType): MessageLane =>
  isSimulated ? 'simulation' : laneOf(type, paceOf(rowCount, pace), keyType)

const unknownOrigin = (service: LoadedService, channel: Channel, given: string | null | undefined) =>
  refuseSend[PLAIN[channel].refusals.origin](readId(given ?? undefined) ?? '', service.id)

/** The rules that a file must follow, for this caller and template. */
export async function rulesFor(
  app: Pick<ChecksApp, 'templates' | 'simulated'>,
  { service, key_type }: RulesOf,
  template: Head,
  dueMicros: number,
): Promise<FileRules> {
  const version = await app.templates.version(template.id, template.version)
  return {
    channel: template.type,
    names: version.compiled.names,
    content: version.source.content,
    subject: version.source.subject,
    prefix: service.sms_prefix ? service.name : null,
    international: service.may_send_international,
    homeCountry: service.home_country,
    allowedRecipients: allowedRecipientsFor(service, key_type),
    isTest: key_type === 'test',
    simulated: app.simulated.all,
    mostErrors: 20,
    dueMicros,
  }
}

const ROW_ERRORS = 'Some rows have errors. '

/** Steps 11 to 14. */
const OF_FILE: readonly FileProblem['step'][] = ['convert', 'columns', 'missing', 'duplicate', 'many', 'few']

function refusalOf({ step, detail }: FileProblem, service: LoadedService): Refusal {
  switch (step) {
    case 'convert':
      return refuse.notRows(detail)
    case 'columns':
      return refuse.tooManyColumns()
    case 'missing':
      return refuse.missingHeaders(detail)
    case 'duplicate':
      return refuse.duplicateHeaders(detail)
    case 'many':
      return refuse.tooManyRows()
    case 'few':
      return refuse.tooFewRows()
    case 'not-allowed':
      return service.mode === 'trial' ? refuse.trial() : refuse.teamOnly()
    case 'long':
      return refuse.tooLong(detail)
    case 'reference':
      return new Refusal('ValidationError', detail)
    case 'rows':
      return refuse.rowErrors(detail.slice(ROW_ERRORS.length))
    case 'mixed':
      return refuse.mixed()
  }
}

/** Step 15. A job is accepted as a whole or not at all. */
export async function remainingProblem(
  { db }: Pick<ChecksApp, 'db'>,
  job: { service_id: Id; channel: Channel; day: string; counted: number; daily_limit: number },
): Promise<Refusal | null> {
  if (job.counted === 0) return null
  const used = await usedOf(db.sql, job)
  return used + job.counted > job.daily_limit
    ? refuse.remaining(Math.max(0, job.daily_limit - used), job.counted)
    : null
}
