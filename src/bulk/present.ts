import { fromMicros, offset } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import { shownProblems } from '../http/errors.ts'
import { retentionDays, type Service } from '../services/service.ts'
import type { Job } from './job.ts'
import type { BulkReport } from './report.ts'
import type { ShownJob } from './sql/read.ts'

/** Jobs created through the API have no named creator. */
const API_USER = { id: '4e1a1b2c-0000-4000-8000-000000000001' as Id, name: 'API service user' }

const ORDER = [
  'created',
  'pending-virus-check',
  'sending',
  'pending',
  'sent',
  'delivered',
  'temporary-failure',
  'permanent-failure',
  'technical-failure',
  'virus-scan-failed',
]

export const presentJob = (job: ShownJob, service: Service, now: number) => ({
  id: job.id,
  original_file_name: job.name,
  notification_count: job.notification_count,
  template: job.template_id,
  template_version: job.template_version,
  template_type: job.channel,
  service: job.service_id,
  service_name: { name: service.name },
  created_by: API_USER,
  api_key: job.key_id && { id: job.key_id, name: job.key_name, key_type: job.key_type },
  job_status: job.status,
  scheduled_for: job.scheduled_for && offset(job.scheduled_for),
  processing_started: job.processing_started && offset(job.processing_started),
  processing_finished: job.processing_finished && offset(job.processing_finished),
  created_at: offset(fromMicros(microsOf(job.id))),
  updated_at: job.updated_at && offset(job.updated_at),
  archived: isArchived(job, service, now),
  sender_id: job.sender_id,
  statistics: statistics(job),
})

/** The fields of a job that was just cancelled. */
export const presentCancelled = (job: ShownJob) => ({
  id: job.id,
  original_file_name: job.name,
  notification_count: job.notification_count,
  template: job.template_id,
  template_version: job.template_version,
  template_type: job.channel,
  job_status: job.status,
  scheduled_for: job.scheduled_for && offset(job.scheduled_for),
  created_at: offset(fromMicros(microsOf(job.id))),
  updated_at: job.updated_at && offset(job.updated_at),
  statistics: statistics(job),
})

const statistics = ({ counts }: ShownJob) =>
  ORDER.flatMap(status => {
    const found = counts.find(count => count.status === status)
    return found ? [{ status, count: found.count }] : []
  })

const DAY_MS = 86_400_000

function isArchived(job: Job, service: Service, now: number): boolean {
  return microsOf(job.id) / 1000 < now - retentionDays(service, job.channel) * DAY_MS
}

/** A check as the interface answers it. */
export const presentReport = (report: BulkReport) => ({ ...report, problems: shownProblems(report.problems) })
