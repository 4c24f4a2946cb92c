// 50,000 messages in one request: the contract's order of checks, read top to bottom. When it answers, every row is on disk.
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import { type Database, isUniqueViolation } from '../db/connect.ts'
import type { Caller } from '../keys/key.ts'
import { dayOf } from '../limits/daily.ts'
import { type RateAnswer, tooFast } from '../limits/rate.ts'
import { countRequest, usedOf } from '../limits/sql.ts'
import type { Outlet } from '../notifications/accept.ts'
import { laneOf } from '../notifications/lane.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { readMoment } from '../notifications/schedule.ts'
import { KeyTaken, type Replay } from '../replays/replay.ts'
import { friendsFor } from '../services/allowed.ts'
import { chooseReplyTo, chooseSender } from '../services/senders.ts'
import { type Channel, dailyLimit, maySend, rateLimit } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head, Templates } from '../templates/cache.ts'
import { paceOf } from './job.ts'
import { presentJob } from './present.ts'
import { refuse } from './refusals.ts'
import { add, addChunks, type NewJob } from './sql.ts'
import type { BulkThread, Checked, Problem } from './thread.ts'

export type BulkApp = {
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  templates: Templates
  simulated: Simulated
  outlet: Outlet
  bulkThread: BulkThread
}

export type AcceptedJob = { body: string; rate: RateAnswer }

export async function accept(app: BulkApp, caller: Caller, bytes: Buffer, replay: Replay | null): Promise<AcceptedJob> {
  const { service, key } = caller
  const sql = app.db.sql
  return app.bulkThread.alone(async thread => {
    const head = await thread.read(bytes, app.clock.now())
    if (!head.ok && head.kind !== 'ValidationError') throw new Refusal(head.kind, head.messages)
    if (service.state === 'suspended') throw refuseSend.suspended()
    if (!head.ok) throw new Refusal(head.kind, head.messages)
    const { fields } = head
    if (head.hasRows === head.hasCsv) throw refuse.rowsOrCsv()

    const template = await app.templates.head(service.id, readId(fields.template_id) as Id)
    if (!template) throw refuseSend.templateNotFound()
    if (template.archived) throw refuseSend.templateDeleted()
    const channel = template.type
    if (!maySend(service, channel)) throw channel === 'email' ? refuseSend.noEmails() : refuseSend.noTexts()
    const rate = await countRequest(sql, service.id, key.key_type, rateLimit(service))
    if (!rate.passed) throw tooFast(key.key_type, rate)
    const sender = senderOf(service, channel, fields.reply_to_id ?? undefined)

    const checked = await thread.check(await rulesFor(app, caller, template))
    if (checked.problem && isFileProblem(checked.problem)) throw refusalOf(checked.problem, service)
    const due = fields.scheduled_for ? readMoment(fields.scheduled_for) : null
    const day = dayOf(due ?? app.clock.now())
    const limit = dailyLimit(service, channel)
    const counted = key.key_type === 'test' ? 0 : checked.counted
    if (checked.problem) {
      await checkRemaining(app, service, channel, day, limit, counted)
      throw refusalOf(checked.problem, service)
    }

    const job: NewJob = {
      id: app.ids.next(),
      service_id: service.id,
      key_id: key.id,
      key_name: key.name,
      key_type: key.key_type,
      name: fields.name,
      channel,
      template_id: template.id,
      template_version: template.version,
      sender_id: sender,
      notification_count: checked.rowCount,
      counted,
      day,
      daily_limit: limit,
      lane: checked.isSimulated ? 'simulation' : laneOf(channel, paceOf(checked.rowCount, template.pace), key.key_type),
      status: 'pending',
      chunks: checked.chunks.length,
      scheduled_for: due === null ? null : fromMicros(Math.round(due * 1000)),
      processing_started: null,
      processing_finished: null,
      updated_at: null,
    }
    const body = JSON.stringify({ data: presentJob({ ...job, counts: [] }, service, app.clock.now()) })
    await store(app, service, job, checked, body, replay)
    return { body, rate }
  })
}

function senderOf(service: LoadedService, channel: Channel, given: string | undefined): Id | null {
  const chosen = channel === 'email' ? chooseReplyTo(service, given) : chooseSender(service, given)
  if (chosen.ok) return chosen.origin?.id ?? null
  throw (channel === 'email' ? refuseSend.unknownReplyTo : refuseSend.unknownSender)(readId(given) ?? '', service.id)
}

async function rulesFor(app: BulkApp, { service, key }: Caller, template: Head) {
  const version = await app.templates.version(template.id, template.version)
  return {
    channel: template.type,
    names: version.compiled.names,
    smsContent: version.type === 'sms' ? version.content : null,
    prefix: service.sms_prefix ? service.name : null,
    international: service.may_send_international,
    friends: friendsFor(service, key.key_type),
    isTest: key.key_type === 'test',
    simulated: app.simulated.all,
    mostErrors: 20,
    nowMicros: app.clock.micros(),
  }
}

const ROW_ERRORS = 'Some rows have errors. '

const isFileProblem = ({ step }: Problem) => ['convert', 'missing', 'duplicate', 'many', 'few'].includes(step)

function refusalOf({ step, detail }: Problem, service: LoadedService): Refusal {
  switch (step) {
    case 'convert':
      return refuse.notRows(detail)
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
    case 'rows':
      return refuse.rowErrors(detail.slice(ROW_ERRORS.length))
    case 'mixed':
      return refuse.mixed()
  }
}

async function checkRemaining(
  app: BulkApp,
  service: LoadedService,
  channel: Channel,
  day: string,
  limit: number,
  counted: number,
) {
  if (counted === 0) return
  const used = await usedOf(app.db.sql, service.id, channel, day)
  if (used + counted > limit) throw refuse.remaining(Math.max(0, limit - used), counted)
}

async function store(
  app: BulkApp,
  service: LoadedService,
  job: NewJob,
  checked: Checked,
  body: string,
  replay: Replay | null,
) {
  const answer = replay && { key: replay.keyDigest, request: replay.requestDigest, answer: app.seal.seal(body) }
  const chunks = checked.chunks.map(chunk =>
    app.seal.seal(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
  )
  const added = await app.db
    .transaction(async sql => {
      if (!(await add(sql, job, answer))) return false
      await addChunks(
        sql,
        job,
        chunks.map(() => app.ids.next()),
        chunks,
      )
      return true
    })
    .catch(error => {
      throw isUniqueViolation(error) ? new KeyTaken() : error
    })
  if (!added) {
    await checkRemaining(app, service, job.channel, job.day, job.daily_limit, job.counted)
    throw refuse.remaining(0, job.counted) // somebody gave back a moment too late
  }
  if (job.scheduled_for === null)
    app.outlet.hand(
      [{ id: job.id, lane: 'spread', service_id: job.service_id, subjects: [], attempts: 0, takes: 0 }],
      null,
    )
}
