// Checks a bulk file before it is sent: everything that a send would refuse, every row error, and what the job would send and use. The
// checks are those of a send (checks.ts). Nothing is stored, sent or reserved; the request counts against the rate limit.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Channel, Compiled } from '../channels/index.ts'
import { floorOf, type Id } from '../core/id.ts'
import { type Problem, problemsOf, type Refusal } from '../core/refusal.ts'
import type { KeyType } from '../keys/key.ts'
import type { RateAnswer } from '../limits/rate.ts'
import { countCheck, readDaily } from '../notifications/check.ts'
import { versionOf } from '../notifications/message.ts'
import { paceOfJobs } from '../notifications/sql/pace.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head } from '../templates/cache.ts'
import type { RowValues } from './check.ts'
import { type ChecksApp, createKnown, fileProblems, type Known, requestProblems } from './checks.ts'
import { type ErrorTable, rowErrors } from './error-table.ts'
import { type BulkReport, MOST_ERRORS, type RowError, type RowExample } from './report.ts'
import type { BulkThread, FoundInRows } from './thread.ts'

export type CheckBulkApp = ChecksApp & { bulkThread: Pick<BulkThread, 'examine'> }

/** Who checks, and the key type whose rules apply: a person has no key, and checks with the rules of a live one. */
export type BulkChecker = { service: LoadedService; actor: Actor; key_type: KeyType }

export type CheckedBulk = {
  report: BulkReport
  /** Problems that are not those of single rows. */
  ofFile: readonly Problem[]
  /** Every row error, for lists that are longer than the report's. */
  errors: () => Generator<RowError, void>
  rate: RateAnswer
}

/** `bytes`: the body of a bulk send. */
export async function checkBulk(app: CheckBulkApp, caller: BulkChecker, bytes: Buffer): Promise<CheckedBulk> {
  const { service, actor } = caller
  if (actor.kind === 'person') requirePermission(actor, 'send-messages', service.id)
  const rate = await countCheck(app, caller)
  const known = createKnown()
  const refusals: Refusal[] = []
  await app.bulkThread.examine(service.id, bytes, async thread => {
    for await (const refusal of requestProblems(app, caller, thread, known)) refusals.push(refusal)
    for await (const refusal of fileProblems(app, caller, thread, known, { isReport: true })) refusals.push(refusal)
  })
  const table = known.file?.checked.found?.rows?.errors ?? null
  return {
    report: await reported(app, caller, refusals, known),
    ofFile: refusals.filter(refusal => !known.ofRows.includes(refusal)).flatMap(problemsOf),
    errors: () => rowErrors(table ?? NO_ERRORS),
    rate,
  }
}

const NO_ERRORS: ErrorTable = {
  headers: [],
  recipientAt: -1,
  referenceHeader: '',
  recipientMessages: [],
  largeMessage: '',
  packed: new Uint8Array(),
  rows: 0,
  errors: 0,
}

async function reported(
  app: CheckBulkApp,
  { service, key_type }: BulkChecker,
  refusals: readonly Refusal[],
  { template, file, skipped }: Known,
): Promise<BulkReport> {
  const found = file?.checked.found ?? null
  const rows = found?.rows ?? null
  const isTest = key_type === 'test'
  const daily =
    template && file && !isTest ? await readDaily(app, service, template.type, file.due.micros / 1000) : null
  return {
    ok: refusals.length === 0,
    problems: refusals.flatMap(problemsOf),
    skipped,
    template: template && { id: template.id, version: template.version, type: template.type },
    rows: rows?.counts ?? null,
    error_count: rows?.errors.errors ?? 0,
    errors: rows ? firstOf(rows.errors) : [],
    duplicates: rows?.duplicates ?? null,
    columns: found?.columns ?? null,
    parts: rows?.parts ?? null,
    alphabets: rows?.alphabets ?? null,
    lane: rows && file ? file.lane : null,
    daily: daily && file && rows ? { ...daily, needed: file.counted } : null,
    examples: rows && template ? await examplesOf(app, service, template, rows) : [],
    estimated_seconds:
      rows && template && !isTest ? await secondsFor(app, service.id, template.type, rows.counts.total) : null,
  }
}

function firstOf(table: ErrorTable): RowError[] {
  const errors: RowError[] = []
  for (const error of rowErrors(table)) if (errors.push(error) === MOST_ERRORS) break
  return errors
}

/** Rows that are too long are shown without their text. */
async function examplesOf(
  app: CheckBulkApp,
  service: LoadedService,
  template: Head,
  { first }: FoundInRows,
): Promise<RowExample[]> {
  const version = await app.templates.version(template.id, template.version)
  const prefix = service.sms_prefix ? service.name : null
  return first.map(({ row, to, values }) => {
    if (version.excess(values, prefix)) return { row, to, subject: null, body: '', parts: null }
    return { row, to, ...version.received(values, prefix), parts: PARTS[version.type](version, values, prefix) }
  })
}

type PartsOf = (version: Compiled, values: RowValues, prefix: string | null) => number | null

const PARTS: Readonly<Record<Channel, PartsOf>> = {
  email: () => null,
  sms: (version, values, prefix) => versionOf(version, 'sms').compiled.render(values, prefix).fragments,
}

const DAY_MICROS = 86_400_000_000
const PACE = { days: 7, most: 1_000, fewest: 20 }

/** How long sending takes at the pace of the last jobs; null when the service has sent none in the last week. */
async function secondsFor(app: CheckBulkApp, service: Id, channel: Channel, messages: number): Promise<number | null> {
  const since = floorOf(app.clock.micros() - PACE.days * DAY_MICROS)
  const pace = await paceOfJobs(app.db.sql, service, channel, since, PACE)
  return pace === null ? null : Math.max(1, Math.round(messages / pace))
}
