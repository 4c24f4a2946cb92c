import type { FastifyReply, FastifyRequest } from 'fastify'
import { CHANNELS, type Channel } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { takeContents } from '../files/decode.ts'
import { type Contents, isFile, shapeProblems } from '../files/file.ts'
import type { FileThread } from '../files/thread.ts'
import { BODY } from '../http/bodies.ts'
import { fromPortable, readJson } from '../http/json.ts'
import { sendJson } from '../http/large.ts'
import { address, type Links } from '../http/links.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { invalid, plain, reader, show } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import { rateHeaders } from '../limits/rate.ts'
import type { Reads } from '../limits/reads.ts'
import { readEmail } from '../recipients/email.ts'
import { readPhone } from '../recipients/phone.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import { itemProblem } from '../rendering/values.ts'
import { answerOnce } from '../replays/hook.ts'
import type { Replays } from '../replays/replay.ts'
import type { Templates } from '../templates/cache.ts'
import { cancel } from './cancel.ts'
import { personalisationProblems } from './personalisation.ts'
import { list, read } from './read.ts'
import { scheduleProblem } from './schedule.ts'
import * as shape from './schemas.ts'
import { type SendApp, send } from './send.ts'

type App = SendApp & {
  db: Database
  clock: Clock
  seal: Seal
  templates: Templates
  links: Links
  replays: Replays
  reads: Reads
  files: { thread: FileThread }
  hints: Pick<EventHints, 'announce'>
}

/** Larger bodies are parsed in a thread: a 6 MB file would block the event loop for some 45 ms. */
const LARGE = 256 * 1024

export function notificationRoutes(app: App) {
  const sql = app.db.sql
  const readers = readersOf(app.clock)

  function parse(bytes: Buffer, channel: Channel): { value: unknown; contents: Contents } {
    const value = readJson(bytes)
    return { value, contents: CHANNELS[channel].takesFiles ? takeContents(value) : new Map() }
  }

  async function parseLarge(bytes: Buffer, channel: Channel): Promise<{ value: unknown; contents: Contents }> {
    const { value, contents } = await app.files.thread.read(bytes, CHANNELS[channel].takesFiles)
    return { value: fromPortable(value), contents }
  }

  const sendOne = (channel: Channel) => (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callerOf(request)
    return answerOnce(app.replays, request, reply, async (bytes, replay) => {
      const isLarge = bytes.length > LARGE
      const { value, contents } = isLarge ? await parseLarge(bytes, channel) : parse(bytes, channel)
      const input = readers[channel](caller.service.home_country)(value, contents)
      const { body, rate } = await send(app, caller, channel, input, { base: app.links.base(request), replay })
      reply.headers(rateHeaders(rate))
      return { status: 201, body }
    })
  }

  const sendEmail: Route = {
    summary: 'Send an e-mail',
    tag: 'Messages',
    example: shape.examples.sendEmail,
    hasIdempotencyKey: true,
    body: shape.emailBody,
    status: 201,
    reply: shape.emailReply,
    bodyLimit: BODY.single,
    config: { rawBody: true },
    handler: sendOne('email'),
  }

  const sendSms: Route = {
    summary: 'Send a text message',
    tag: 'Messages',
    example: shape.examples.sendSms,
    hasIdempotencyKey: true,
    body: shape.smsBody,
    status: 201,
    reply: shape.smsReply,
    bodyLimit: BODY.single,
    config: { rawBody: true },
    handler: sendOne('sms'),
  }

  const getOne: Route = {
    summary: 'Get a message',
    tag: 'Messages',
    example: shape.examples.getOne,
    ids: { notification_id: 'id' },
    reply: shape.notificationReply,
    async handler(request, reply) {
      const found = await read({ ...app, sql }, callerOf(request).service, idParam(request, 'notification_id'))
      return sendJson(reply, JSON.stringify(found))
    },
  }

  const listAll: Route = {
    summary: 'List messages, newest first',
    tag: 'Messages',
    example: shape.examples.listAll,
    query: shape.listQuery,
    reply: shape.listReply,
    async handler(request, reply) {
      const query = readList(queryOf(request, ['status', 'template_type']))
      const { json, last } = await list({ ...app, sql }, callerOf(request), query)
      const links = { current: pageAddress(query, query.older_than), ...(last && { next: pageAddress(query, last) }) }
      return sendJson(reply, `{"notifications":[${json.join(',')}],"links":${JSON.stringify(links)}}`)
    },
  }

  const cancelOne: Route = {
    summary: 'Cancel a scheduled message',
    tag: 'Messages',
    example: shape.examples.cancelOne,
    ids: { notification_id: 'notification_id' },
    reply: shape.cancelReply,
    async handler(request) {
      const { service, key } = callerOf(request)
      await cancel({ ...app, sql }, actorOf(key), service.id, idParam(request, 'notification_id'))
      return { result: 'success' }
    },
  }

  return { sendEmail, sendSms, getOne, listAll, cancelOne }
}

const readList = reader<shape.ListQuery>(shape.listQuery, { called: { older_than: 'id' } })

const pageAddress = (query: shape.ListQuery, olderThan: string | undefined) =>
  address('/v2/notifications', [
    ['older_than', readId(olderThan) ?? undefined],
    ['template_type', query.template_type],
    ['status', query.status],
    ['reference', query.reference],
    ['include_jobs', query.include_jobs],
  ])

function emailReader(clock: Clock): (body: unknown, contents: Contents) => shape.SendInput {
  const read = reader<shape.EmailBody>(shape.emailBody, {
    checks: {
      email_address: (text: string) => (readEmail(text).ok ? [] : ['email_address Not a valid email address']),
      personalisation: (values: Record<string, unknown>) =>
        Object.entries(values).flatMap(([name, value]) =>
          isFile(value) ? shapeProblems({ [name]: value }, show) : itemProblem(show(name), value),
        ),
      scheduled_for: scheduleCheck(clock),
    },
  })
  return (body, contents) => {
    const { email_address, email_reply_to_id, ...rest } = read(body)
    return common('email', email_address, email_reply_to_id, rest, contents)
  }
}

type ReadBody = (body: unknown, contents: Contents) => shape.SendInput

/** How each channel reads the body of a send, by the home country of the service. */
function readersOf(clock: Clock): Readonly<Record<Channel, (country: string) => ReadBody>> {
  const email = emailReader(clock)
  return { email: () => email, sms: smsReaders(clock) }
}

/** One for each home country of phone numbers. */
function smsReaders(clock: Clock) {
  const readers = new Map<string, ReturnType<typeof smsReader>>()
  return (country: string) => {
    const known = readers.get(country) ?? smsReader(clock, homePlan(country))
    readers.set(country, known)
    return known
  }
}

function smsReader(clock: Clock, plan: PhonePlan): (body: unknown, contents: Contents) => shape.SendInput {
  const read = reader<shape.SmsBody>(shape.smsBody, {
    checks: {
      phone_number: (text: string) => {
        const phone = readPhone(text, { international: true, plan })
        return phone.ok ? [] : [`phone_number ${phone.problem}`]
      },
      personalisation: (values: Record<string, unknown>) =>
        Object.entries(values).flatMap(([name, value]) => itemProblem(show(name), value)),
      scheduled_for: scheduleCheck(clock),
    },
  })
  return (body, contents) => {
    const { phone_number, sms_sender_id, ...rest } = read(body)
    return common('sms', phone_number, sms_sender_id, rest, contents)
  }
}

const scheduleCheck = (clock: Clock) => (text: string | null) => {
  const problem = text === null ? null : scheduleProblem(text, clock.now())
  return problem === null ? [] : [`scheduled_for ${problem}`]
}

// Phase B of the checks runs only on a body that its schema has accepted.
function common(
  channel: Channel,
  to: string,
  sender_id: string | undefined,
  rest: Pick<shape.EmailBody, 'reference' | 'template_id' | 'personalisation' | 'scheduled_for'>,
  contents: Contents,
): shape.SendInput {
  const personalisation = rest.personalisation ?? {}
  const problems = personalisationProblems(channel, personalisation, contents, show)
  if (problems.length > 0) throw invalid(problems.map(plain))
  return {
    to,
    template_id: rest.template_id,
    reference: rest.reference ?? null,
    personalisation,
    contents,
    scheduled_for: rest.scheduled_for ?? null,
    sender_id,
  }
}
