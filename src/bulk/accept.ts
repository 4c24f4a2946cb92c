// Accepts a bulk job of up to 50,000 rows: the contract's order of checks, top to bottom. When it returns, every row is on disk.
import type { Actor } from '../audit/actor.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import { canRepeat, type Database, isUniqueViolation, mayHaveCommitted, type Sql } from '../db/connect.ts'
import { answersBefore } from '../db/patience.ts'
import type { ReplicationMode } from '../db/replication.ts'
import type { EventHints } from '../events/hints.ts'
import type { KeyType } from '../keys/key.ts'
import { counted, type RateAnswer, tooFast } from '../limits/rate.ts'
import { countRequest } from '../limits/sql/rates.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import { KeyTaken, type Replay } from '../replays/replay.ts'
import { pollUntil } from '../runtime/poll.ts'
import { rateLimit } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Tracer } from '../telemetry/trace.ts'
import type { Templates } from '../templates/cache.ts'
import { createKnown, fileProblems, type Known, remainingProblem, requestProblems } from './checks.ts'
import { SPREAD_LANE } from './job.ts'
import { presentJob } from './present.ts'
import { add, addChunks, isStored, type NewJob, requireReplication, reserve } from './sql/accept.ts'
import type { BulkThread, Examiner } from './thread.ts'

export type BulkApp = {
  config: { replication: ReplicationMode }
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  templates: Templates
  simulated: Simulated
  dispatcher: Dispatcher
  hints: Pick<EventHints, 'announce'>
  bulkThread: BulkThread
  /** Absent at the command line. */
  trace?: Tracer | null
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
  const from = app.trace?.now() ?? 0
  const { job, chunks, rate } = await app.bulkThread.examine(caller.service.id, bytes, thread =>
    examine(app, caller, thread),
  )
  await confirm?.(job)
  const { service } = caller
  const body = JSON.stringify({ data: presentJob({ ...job, counts: [] }, service, app.clock.now()) })
  await withRate(
    rate,
    app.bulkThread.store(service.id, () => store(app, job, chunks, body, replay, within)),
  )
  app.trace?.accepted(job.id, from, job.key_id !== null, {
    ...{ 'herald.id': job.id, 'herald.service_id': job.service_id, 'herald.messages': job.notification_count },
  })
  return { id: job.id, body, rate }
}

/** Steps 4 to 19 of the contract's order; storing is left to the caller. */
async function examine(app: BulkApp, caller: BulkCaller, thread: Examiner) {
  const { service, key_type } = caller
  const known = createKnown()
  for await (const refusal of requestProblems(app, caller, thread, known)) throw refusal
  const rate = await countRequest(app.db.sql, service.id, key_type, rateLimit(service))
  if (!rate.passed) throw tooFast(key_type, rate)
  return { ...(await withRate(rate, plan(app, caller, thread, known))), rate }
}

async function plan(app: BulkApp, caller: BulkCaller, thread: Examiner, known: Known) {
  for await (const refusal of fileProblems(app, caller, thread, known)) throw refusal
  const { service, actor, key_type } = caller
  const { fields, template, sender, file } = known
  if (!template || !sender || !file || fields.name === undefined)
    throw new Error('a job passed all checks, but not all of it is known')
  const { checked, due } = file
  const job: NewJob = {
    id: app.ids.next(),
    service_id: service.id,
    key_id: actor.kind === 'key' ? actor.id : null,
    key_name: actor.kind === 'key' ? actor.name : null,
    key_type,
    name: fields.name,
    channel: template.type,
    template_id: template.id,
    template_version: template.version,
    sender_id: sender.id,
    notification_count: checked.rowCount,
    counted: file.counted,
    day: file.day,
    daily_limit: file.daily_limit,
    lane: file.lane,
    status: 'pending',
    chunks: checked.chunks.length,
    scheduled_for: due.isLater ? fromMicros(due.micros) : null,
    processing_started: null,
    processing_finished: null,
    updated_at: null,
    rows_from: floorOf(due.micros),
    again_of: null,
    columns: checked.columns,
  }
  return { job, chunks: checked.chunks }
}

/** Adds the state of the rate limit to the refusal of a counted request. */
const withRate = <T>(rate: RateAnswer, work: Promise<T>): Promise<T> =>
  work.catch(error => {
    throw error instanceof Refusal ? counted(error, rate) : error
  })

async function checkRemaining(app: BulkApp, job: NewJob) {
  const refusal = await remainingProblem(app, job)
  if (refusal) throw refusal
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
  const answer = replay && {
    key: replay.keyDigest,
    request: replay.requestDigest,
    answer: app.seal.seal('idempotency answer', body),
  }
  const tryOnce = () =>
    app.db.transaction(async sql => {
      if (app.config.replication === 'required') await requireReplication(sql)
      await add(sql, job)
      await within?.(sql, job)
      for (let at = 0; at < chunks.length; at += TOGETHER) {
        const group = chunks.slice(at, at + TOGETHER)
        const sealed = group.map(chunk =>
          app.seal.seal('bulk rows', Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
        )
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
  let waitsUntil = 0
  const afterAny = (error: unknown) => {
    waitsUntil ||= performance.now() + LOOK_SECONDS * 1000
    return afterFault(app, job, error, waitsUntil)
  }
  // Retried: between the failed statement and the check that finds the reason, another request may have returned its share of the
  // limit.
  while (!(await tryOnce().catch(afterAny))) await checkRemaining(app, job)
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

// When the connection was lost at the commit, the job is looked up by its id until the deadline. When it was lost before, nothing is
// stored, and the job is stored again if a primary answers in time.
async function afterFault(app: BulkApp, job: NewJob, error: unknown, waitsUntil: number): Promise<boolean> {
  if (error instanceof NotEnough) return false
  if (canRepeat(error) && (await answersBefore(app.db, waitsUntil))) return false
  if (isUniqueViolation(error)) throw new KeyTaken()
  const until = performance.now() + LOOK_SECONDS * 1000
  if (!mayHaveCommitted(error) || !(await pollUntil(until, () => isStored(app.db.sql, job)))) throw error
  return true
}
