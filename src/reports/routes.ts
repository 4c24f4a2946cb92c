import { fromMicros, zulu } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import { asTable, streamed } from '../http/large.ts'
import { queryOf, type Route } from '../http/route.ts'
import { text } from '../http/shapes.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import type { Reads } from '../limits/reads.ts'
import { reportJobs } from './jobs.ts'
import { type MessagesApp, reportMessages } from './messages.ts'
import { readPeriod } from './period.ts'
import * as shape from './schemas.ts'
import { MOST_DAYS, statistics, statisticsCsv } from './statistics.ts'

type App = MessagesApp & { reads: Pick<Reads, 'stream'> }

export function reportRoutes(app: App) {
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
      const caller = callerOf(request)
      const rows = reportMessages(app, caller, { period, status, template, format })
      asTable(reply, 'messages', format)
      return streamed(app.reads.stream(caller.service.id, rows))
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
      const { service } = callerOf(request)
      const rows = reportJobs(app, service, period, format)
      asTable(reply, 'jobs', format)
      return streamed(app.reads.stream(service.id, rows))
    },
  }

  const getStatistics: Route = {
    summary: 'Count messages by day, month, template, status, channel, key type or key',
    tag: 'Reports',
    example: shape.examples.statistics,
    query: shape.statisticsQuery,
    reply: shape.statisticsReply,
    others: { 'text/csv': { schema: text, example: statisticsCsv(shape.examples.statistics.reply.groups, 'month') } },
    async handler(request, reply) {
      const { from, to, by = 'day', format = 'json' } = readStatistics(queryOf(request))
      const period = readPeriod(app, givenIn(from, to), MOST_DAYS)
      const groups = await statistics(app, callerOf(request), period, by)
      if (format === 'json')
        return { from: zulu(fromMicros(period.since)), to: zulu(fromMicros(period.until)), by, groups }
      return asTable(reply, 'statistics', 'csv').send(statisticsCsv(groups, by))
    },
  }

  return { getMessages, getJobs, getStatistics }
}

const givenIn = (from: string | undefined, to: string | undefined) => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
})

const readMessages = reader<shape.MessagesQuery>(shape.messagesQuery)
const readJobs = reader<shape.JobsQuery>(shape.jobsQuery)
const readStatistics = reader<shape.StatisticsQuery>(shape.statisticsQuery)
