import type { Database } from '../db/connect.ts'
import { asTable, streamed } from '../http/large.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import type { Reads } from '../limits/reads.ts'
import { type JobReportApp, jobReport } from './job-report.ts'
import type { ReportFormat } from './lines.ts'
import { presentTimeline } from './present.ts'
import { timeline } from './read.ts'
import * as shape from './schemas.ts'

type App = JobReportApp & { db: Pick<Database, 'sql'>; reads: Pick<Reads, 'stream'> }

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
      const { service } = callerOf(request)
      const rows = await jobReport(app, service, idParam(request, 'job_id'), format)
      asTable(reply, 'report', format)
      return streamed(app.reads.stream(service.id, rows))
    },
  }
  return { getTimeline, getJobReport }
}

const readReport = reader<{ format?: ReportFormat }>(shape.reportQuery)
