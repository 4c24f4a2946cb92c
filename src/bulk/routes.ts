import { readId } from '../core/id.ts'
import { BODY } from '../http/bodies.ts'
import { sendJson, streamed } from '../http/large.ts'
import { address, type Links } from '../http/links.ts'
import { refuse as refuseAtEdge } from '../http/refusals.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { text } from '../http/shapes.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import { rateHeaders } from '../limits/rate.ts'
import type { Reads } from '../limits/reads.ts'
import { answerOnce } from '../replays/hook.ts'
import type { Replays } from '../replays/replay.ts'
import { accept, type BulkApp } from './accept.ts'
import { cancel } from './cancel.ts'
import { checkBulk } from './check-file.ts'
import { type ErrorFormat, errorLines, FORMATS } from './error-lines.ts'
import { presentCancelled, presentReport } from './present.ts'
import { list, read } from './read.ts'
import * as shape from './schemas.ts'

type App = BulkApp & { links: Links; replays: Replays; reads: Pick<Reads, 'stream'> }

export function bulkRoutes(app: App) {
  const sql = app.db.sql

  const sendBulk: Route = {
    summary: 'Send up to 50,000 messages of one template',
    tag: 'Bulk jobs',
    example: shape.examples.sendBulk,
    hasIdempotencyKey: true,
    body: shape.bulkBody,
    status: 201,
    reply: shape.jobReply,
    bodyLimit: BODY.bulk,
    config: { rawBody: true },
    admission: 'bulk',
    handler(request, reply) {
      const { service, key } = callerOf(request)
      const caller = { service, actor: actorOf(key), key_type: key.key_type }
      return answerOnce(app.replays, request, reply, async (bytes, replay) => {
        const { body, rate } = await accept(app, caller, bytes, replay)
        reply.headers(rateHeaders(rate))
        return { status: 201, body }
      })
    },
  }

  const checkFile: Route = {
    summary: 'Check a bulk file: everything that is wrong with it, and what would be sent. Nothing is sent',
    tag: 'Check before sending',
    example: shape.examples.checkBulk,
    body: shape.bulkBody,
    reply: shape.checkReply,
    others: {
      'application/x-ndjson': { schema: shape.errorLine, example: firstError },
      'text/csv': { schema: text, example: `${FORMATS['text/csv'].head}${FORMATS['text/csv'].line(firstError)}\n` },
    },
    bodyLimit: BODY.bulk,
    config: { rawBody: true },
    admission: 'bulk',
    async handler(request, reply) {
      const { service, key } = callerOf(request)
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      if (bytes.length === 0) throw refuseAtEdge.unreadable()
      const checked = await checkBulk(app, { service, actor: actorOf(key), key_type: key.key_type }, bytes)
      reply.headers(rateHeaders(checked.rate))
      // Up to 64 MiB, not needed any more: a caller may take long to read the list of errors.
      request.body = undefined
      const format = formatOf(request.headers.accept)
      if (format) return reply.type(format).send(streamed(app.reads.stream(service.id, errorLines(checked, format))))
      return sendJson(reply, JSON.stringify(presentReport(checked.report)))
    },
  }

  const listJobs: Route = {
    summary: 'List bulk jobs, newest first',
    tag: 'Bulk jobs',
    example: shape.examples.listJobs,
    query: shape.listQuery,
    reply: shape.listReply,
    async handler(request) {
      const { older_than } = readList(queryOf(request))
      const { jobs, hasMore } = await list({ ...app, sql }, callerOf(request).service, older_than)
      const at = (olderThan: string | undefined) =>
        app.links.base(request) + address('/v2/notifications/bulk', [['older_than', readId(olderThan) ?? undefined]])
      const last = jobs.at(-1)
      return { bulk_jobs: jobs, links: { current: at(older_than), ...(hasMore && last && { next: at(last.id) }) } }
    },
  }

  const getJob: Route = {
    summary: 'Get a bulk job',
    tag: 'Bulk jobs',
    example: shape.examples.getJob,
    ids: { job_id: 'job_id' },
    reply: shape.jobReply,
    handler: async request => ({
      data: await read({ ...app, sql }, callerOf(request).service, idParam(request, 'job_id')),
    }),
  }

  const cancelJob: Route = {
    summary: 'Cancel a scheduled bulk job',
    tag: 'Bulk jobs',
    example: shape.examples.cancelJob,
    ids: { job_id: 'job_id' },
    reply: shape.cancelReply,
    async handler(request) {
      const { service, key } = callerOf(request)
      return {
        data: presentCancelled(await cancel({ ...app, sql }, actorOf(key), service.id, idParam(request, 'job_id'))),
      }
    },
  }

  return { sendBulk, checkFile, listJobs, getJob, cancelJob }
}

const [firstError] = shape.examples.checkBulk.reply.errors

const formatOf = (accept = ''): ErrorFormat | undefined =>
  (Object.keys(FORMATS) as ErrorFormat[]).find(format => accept.includes(format))

const readList = reader<{ older_than?: string }>(shape.listQuery)
