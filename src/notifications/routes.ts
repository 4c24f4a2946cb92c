import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Channel, PLAIN } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { takeContents } from '../files/decode.ts'
import { type Contents, discard } from '../files/file.ts'
import type { FileThread } from '../files/thread.ts'
import { BODY } from '../http/bodies.ts'
import { shownProblems } from '../http/errors.ts'
import { fromPortable, readJson } from '../http/json.ts'
import { sendJson, sendMessage } from '../http/large.ts'
import { address, type Links } from '../http/links.ts'
import { refuse as refuseAtEdge } from '../http/refusals.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import { rateHeaders } from '../limits/rate.ts'
import type { Reads } from '../limits/reads.ts'
import { answerOnce } from '../replays/hook.ts'
import type { Replays } from '../replays/replay.ts'
import type { Templates } from '../templates/cache.ts'
import { readersOf } from './body.ts'
import { cancel } from './cancel.ts'
import { type CheckApp, checkOne } from './check.ts'
import { list, read } from './read.ts'
import * as shape from './schemas.ts'
import { byKey, type SendApp, send } from './send.ts'

type App = SendApp &
  CheckApp & {
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
    return { value, contents: PLAIN[channel].takesFiles ? takeContents(value) : new Map() }
  }

  async function parseLarge(bytes: Buffer, channel: Channel): Promise<{ value: unknown; contents: Contents }> {
    const { value, contents } = await app.files.thread.read(bytes, PLAIN[channel].takesFiles)
    return { value: fromPortable(value), contents }
  }

  const sendOne = (channel: Channel) => (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callerOf(request)
    return answerOnce(app.replays, request, reply, async (bytes, replay) => {
      const isLarge = bytes.length > LARGE
      const { value, contents } = isLarge ? await parseLarge(bytes, channel) : parse(bytes, channel)
      try {
        const input = readers[channel](caller.service.home_country)(value, contents)
        const { body, rate } = await send(app, byKey(caller), channel, input, { base: app.links.base(request), replay })
        reply.headers(rateHeaders(rate))
        return { status: 201, body }
      } finally {
        discard(contents)
      }
    })
  }

  const checkBody = (channel: Channel) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { service, key } = callerOf(request)
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    if (bytes.length === 0) throw refuseAtEdge.unreadable()
    const { value, contents } = bytes.length > LARGE ? await parseLarge(bytes, channel) : parse(bytes, channel)
    const caller = { service, key_type: key.key_type }
    const checked = checkOne(app, caller, channel, value, contents, { base: app.links.base(request) })
    const { report, rate } = await checked.finally(() => discard(contents))
    reply.headers(rateHeaders(rate))
    return sendJson(reply, JSON.stringify({ ...report, problems: shownProblems(report.problems) }))
  }

  const checkEmail: Route = {
    summary: 'Check an e-mail: everything that is wrong with it, and what would be sent. Nothing is sent',
    tag: 'Check before sending',
    example: shape.examples.checkEmail,
    body: shape.emailBody,
    reply: shape.checkReply,
    bodyLimit: BODY.single,
    config: { rawBody: true },
    handler: checkBody('email'),
  }

  const checkSms: Route = {
    summary: 'Check a text message: everything that is wrong with it, and what would be sent. Nothing is sent',
    tag: 'Check before sending',
    example: shape.examples.checkSms,
    body: shape.smsBody,
    reply: shape.checkReply,
    bodyLimit: BODY.single,
    config: { rawBody: true },
    handler: checkBody('sms'),
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
    admission: 'send',
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
    admission: 'send',
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
      return sendMessage(reply, found)
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

  return { sendEmail, sendSms, checkEmail, checkSms, getOne, listAll, cancelOne }
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
