import { Readable } from 'node:stream'
import type { Database } from '../db/connect.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { type JobReportApp, jobReport } from './job-report.ts'
import type { ReportFormat } from './lines.ts'
import { presentTimeline } from './present.ts'
import { timeline } from './read.ts'
import * as shape from './schemas.ts'

type App = JobReportApp & { db: Pick<Database, 'sql'> }

export function timelineRoutes(app: App) {
  const getTimeline: Route = {
    summary: 'Get everything that happened to a message',
    tag: 'Messages',
    example: shape.example,
    ids: { notification_id: 'notification_id' },
    reply: shape.timelineReply,
    async handler(request) {
      const { service } = callerOf(request)
      return presentTimeline(await timeline({ ...app, sql: app.db.sql }, service, idParam(request, 'notification_id')))
    },
  }
  const getJobReport: Route = {
    summary: 'Get what happened to each row of a bulk job, in the order of its file',
    tag: 'Bulk jobs',
    example: { reply: shape.reportExample.reply },
    ids: { job_id: 'job_id' },
    query: shape.reportQuery,
    reply: shape.reportRow,
    csv: shape.reportExample.csv,
    async handler(request, reply) {
      const { format = 'csv' } = readReport(queryOf(request))
      const pages = await jobReport(app, callerOf(request).service, idParam(request, 'job_id'), format)
      const isCsv = format === 'csv'
      return reply
        .type(isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
        .header('content-disposition', `attachment; filename="report.${format}"`)
        .send(Readable.from(pages, { objectMode: false }))
    },
  }
  return { getTimeline, getJobReport }
}

const readReport = reader<{ format?: ReportFormat }>(shape.reportQuery)
