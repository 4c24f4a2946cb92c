import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { fromMicros, zulu } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import { readId } from '../core/id.ts'
import { queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import type { BrowseApp } from '../timeline/browse.ts'
import { reportJobs } from './jobs.ts'
import type { Format } from './lines.ts'
import { reportMessages } from './messages.ts'
import { readPeriod } from './period.ts'
import * as shape from './schemas.ts'
import { statistics } from './statistics.ts'

/** Counts are kept for thirteen months. */
const MOST_DAYS = 403

export function reportRoutes(app: BrowseApp) {
  const getMessages: Route = {
    summary: 'Get all messages of a period, as CSV or as lines of JSON',
    tag: 'Reports',
    example: { reply: shape.examples.messages.reply },
    query: shape.messagesQuery,
    reply: shape.messageRow,
    csv: shape.examples.messages.csv,
    async handler(request, reply) {
      const { from, to, status = null, template_id, format = 'csv' } = readMessages(queryOf(request))
      const period = readPeriod(app, givenIn(from, to), MOST_DAYS)
      const template = template_id === undefined ? null : readId(template_id)
      const rows = reportMessages(app, callerOf(request), { period, status, template, format })
      return streamed(reply, 'messages', format, rows)
    },
  }

  const getJobs: Route = {
    summary: 'Get all bulk jobs of a period, as CSV or as lines of JSON',
    tag: 'Reports',
    example: { reply: shape.examples.jobs.reply },
    query: shape.jobsQuery,
    reply: shape.jobRow,
    csv: shape.examples.jobs.csv,
    async handler(request, reply) {
      const { from, to, format = 'csv' } = readJobs(queryOf(request))
      const period = readPeriod(app, givenIn(from, to), MOST_DAYS)
      return streamed(reply, 'jobs', format, reportJobs(app, callerOf(request).service, period, format))
    },
  }

  const getStatistics: Route = {
    summary: 'Count messages by day, month, template, status, channel or key type',
    tag: 'Reports',
    example: shape.examples.statistics,
    query: shape.statisticsQuery,
    reply: shape.statisticsReply,
    async handler(request, reply) {
      const { from, to, by = 'day', format = 'json' } = readStatistics(queryOf(request))
      const period = readPeriod(app, givenIn(from, to), MOST_DAYS)
      const groups = await statistics(app, callerOf(request), period, by)
      if (format === 'json')
        return { from: zulu(fromMicros(period.since)), to: zulu(fromMicros(period.until)), by, groups }
      const rows = groups.map(({ group, ...counts }) => csvRow([group, ...Object.values(counts)]))
      const names = [by, 'messages', 'delivered', 'failed', 'in_transit', 'cancelled', 'text_parts', 'text_parts_of']
      return asFile(reply, 'statistics', 'csv').send([csvRow(names), ...rows, ''].join('\r\n'))
    },
  }

  return { getMessages, getJobs, getStatistics }
}

const givenIn = (from: string | undefined, to: string | undefined) => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
})

const asFile = (reply: FastifyReply, name: string, format: Format) =>
  reply
    .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
    .header('content-disposition', `attachment; filename="${name}.${format}"`)

const streamed = (reply: FastifyReply, name: string, format: Format, rows: AsyncGenerator<string>) =>
  asFile(reply, name, format).send(Readable.from(rows, { objectMode: false }))

const readMessages = reader<shape.MessagesQuery>(shape.messagesQuery)
const readJobs = reader<shape.JobsQuery>(shape.jobsQuery)
const readStatistics = reader<shape.StatisticsQuery>(shape.statisticsQuery)
