// Accepts a bulk job of up to 50,000 rows: the contract's order of checks, top to bottom. When it returns, every row is on disk.
import type { Actor } from '../audit/actor.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { floorOf, type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import { type Database, isUniqueViolation, mayHaveCommitted, type Sql } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import type { KeyType } from '../keys/key.ts'
import { dayOf } from '../limits/daily.ts'
import { counted, type RateAnswer, tooFast } from '../limits/rate.ts'
import { countRequest } from '../limits/sql/rates.ts'
import { usedOf } from '../limits/sql/usage.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import { laneOf } from '../notifications/lane.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { readMoment } from '../notifications/schedule.ts'
import { KeyTaken, type Replay } from '../replays/replay.ts'
import { pollUntil } from '../runtime/poll.ts'
import { allowedRecipientsFor } from '../services/allowed.ts'
import { chooseOrigin } from '../services/senders.ts'
import { dailyLimit, maySend, rateLimit } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head, Templates } from '../templates/cache.ts'
import { paceOf, SPREAD_LANE } from './job.ts'
import { presentJob } from './present.ts'
import { refuse } from './refusals.ts'
import { add, addChunks, type NewJob, reserve } from './sql/accept.ts'
import { find } from './sql/read.ts'
import type { BulkFields, BulkThread, Examiner, FileProblem, FileRules } from './thread.ts'

export type BulkApp = {
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  templates: Templates
  simulated: Simulated
  dispatcher: Dispatcher
  hints: Pick<EventHints, 'announce'>
  bulkThread: BulkThread
}

/** The service of the job, who requests it, and the key type whose rules apply: an operator has no key but chooses a key type. */
export type BulkCaller = { service: LoadedService; actor: Actor; key_type: KeyType }

export type AcceptedJob = { id: Id; body: string; rate: RateAnswer }

export async function accept(
  app: BulkApp,
  caller: BulkCaller,
  bytes: Buffer,
  replay: Replay | null,
  /** Called when all checks have passed, before anything is stored. If it throws, nothing is stored. */
  confirm?: (job: NewJob) => Promise<void>,
  /** A step of the transaction that stores the job, before its rows. If it throws, nothing is stored. */
  within?: (sql: Sql, job: NewJob) => Promise<void>,
): Promise<AcceptedJob> {
  const { job, chunks, rate } = await app.bulkThread.examine(caller.service.id, bytes, thread =>
    examine(app, caller, thread),
  )
  await confirm?.(job)
  const { service } = caller
  const body = JSON.stringify({ data: presentJob({ ...job, counts: [] }, service, app.clock.now()) })
  await withRate(rate, store(app, job, chunks, body, replay, within))
  return { id: job.id, body, rate }
}

/** Steps 4 to 19 of the contract's order; storing is left to the caller. */
async function examine(app: BulkApp, caller: BulkCaller, thread: Examiner) {
  const { service, key_type } = caller
  const head = await thread.read(app.clock.now())
  if (!head.ok && head.kind !== 'ValidationError') throw new Refusal(head.kind, head.messages)
  if (service.state === 'suspended') throw refuseSend.suspended()
  if (!head.ok) throw new Refusal(head.kind, head.messages)
  const { fields } = head
  if (head.hasRows === head.hasCsv) throw refuse.rowsOrCsv()

  const template = await app.templates.head(service.id, readId(fields.template_id) as Id)
  if (!template) throw refuseSend.templateNotFound()
  if (template.archived) throw refuseSend.templateDeleted()
  if (!maySend(service, template.type)) throw refuseSend[CHANNELS[template.type].refusals.send]()
  const rate = await countRequest(app.db.sql, service.id, key_type, rateLimit(service))
  if (!rate.passed) throw tooFast(key_type, rate)
  return { ...(await withRate(rate, plan(app, caller, template, fields, thread))), rate }
}

async function plan(app: BulkApp, caller: BulkCaller, template: Head, fields: BulkFields, thread: Examiner) {
  const { service, actor, key_type } = caller
  const channel = template.type
  const sender = senderOf(service, channel, fields.reply_to_id ?? undefined)

  const due = fields.scheduled_for ? readMoment(fields.scheduled_for) : null
  const dueMicros = due === null ? app.clock.micros() : Math.round(due * 1000)
  const checked = await thread.check(await rulesFor(app, caller, template, dueMicros))
  if (checked.problem && isFileProblem(checked.problem)) throw refusalOf(checked.problem, service)
  const job: NewJob = {
    id: app.ids.next(),
    service_id: service.id,
    key_id: actor.kind === 'key' ? actor.id : null,
    key_name: actor.kind === 'key' ? actor.name : null,
    key_type,
    name: fields.name,
    channel,
    template_id: template.id,
    template_version: template.version,
    sender_id: sender,
    notification_count: checked.rowCount,
    counted: key_type === 'test' ? 0 : checked.counted,
    day: dayOf(dueMicros / 1000),
    daily_limit: dailyLimit(service, channel),
    lane: checked.isSimulated ? 'simulation' : laneOf(channel, paceOf(checked.rowCount, template.pace), key_type),
    status: 'pending',
    chunks: checked.chunks.length,
    scheduled_for: due === null ? null : fromMicros(dueMicros),
    processing_started: null,
    processing_finished: null,
    updated_at: null,
    rows_from: floorOf(dueMicros),
    again_of: null,
    columns: checked.columns,
  }
  if (checked.problem) {
    await checkRemaining(app, job)
    throw refusalOf(checked.problem, service)
  }
  return { job, chunks: checked.chunks }
}

/** Adds the state of the rate limit to the refusal of a counted request. */
const withRate = <T>(rate: RateAnswer, work: Promise<T>): Promise<T> =>
  work.catch(error => {
    throw error instanceof Refusal ? counted(error, rate) : error
  })

function senderOf(service: LoadedService, channel: Channel, given: string | undefined): Id | null {
  const chosen = chooseOrigin(service, channel, given)
  if (chosen.ok) return chosen.origin?.id ?? null
  throw refuseSend[CHANNELS[channel].refusals.origin](readId(given) ?? '', service.id)
}

/** The rules that a file must follow, for this caller and template. */
export async function rulesFor(
  app: Pick<BulkApp, 'templates' | 'simulated'>,
  { service, key_type }: BulkCaller,
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

const isFileProblem = ({ step }: FileProblem) =>
  ['convert', 'columns', 'missing', 'duplicate', 'many', 'few'].includes(step)

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

async function checkRemaining(app: BulkApp, job: NewJob) {
  if (job.counted === 0) return
  const used = await usedOf(app.db.sql, job)
  if (used + job.counted > job.daily_limit) throw refuse.remaining(Math.max(0, job.daily_limit - used), job.counted)
}

/** Chunks that are stored in one step. Sealing and storing many more at once would block the event loop. */
const TOGETHER = 8

async function store(
  app: BulkApp,
  job: NewJob,
  chunks: readonly Uint8Array[],
  body: string,
  replay: Replay | null,
  within?: (sql: Sql, job: NewJob) => Promise<void>,
) {
  await checkRemaining(app, job)
  const answer = replay && { key: replay.keyDigest, request: replay.requestDigest, answer: app.seal.seal(body) }
  const tryOnce = () =>
    app.db.transaction(async sql => {
      await add(sql, job)
      await within?.(sql, job)
      for (let at = 0; at < chunks.length; at += TOGETHER) {
        const group = chunks.slice(at, at + TOGETHER)
        const sealed = group.map(chunk => app.seal.seal(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
        await addChunks(
          sql,
          job,
          group.map(() => app.ids.next()),
          sealed,
        )
      }
      if (!(await reserve(sql, job, answer))) throw new NotEnough()
      return true
    })
  // Retried: between the failed statement and the check that finds the reason, another request may have returned its share of the
  // limit.
  while (!(await tryOnce().catch(error => afterFault(app, job, error)))) await checkRemaining(app, job)
  app.hints.announce([job.service_id])
  if (job.scheduled_for === null)
    app.dispatcher.hand(
      [{ id: job.id, lane: SPREAD_LANE, service_id: job.service_id, subjects: [], attempts: 0, takes: 0 }],
      null,
    )
}

/** Rolls back the transaction; the caller then finds out how much is missing. */
class NotEnough extends Error {}

const LOOK_SECONDS = 5

// When the connection was lost at the commit, the job is looked up by its id until the deadline.
async function afterFault(app: BulkApp, job: NewJob, error: unknown): Promise<boolean> {
  if (error instanceof NotEnough) return false
  if (isUniqueViolation(error)) throw new KeyTaken()
  const until = performance.now() + LOOK_SECONDS * 1000
  const isStored = async () => (await find(app.db.sql, job.service_id, job.id)) !== null
  if (!mayHaveCommitted(error) || !(await pollUntil(until, isStored))) throw error
  return true
}
