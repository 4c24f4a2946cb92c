// An event as the feed and webhooks show it.
import { zulu } from '../core/clock.ts'
import type { Cause, EventType } from '../events/event.ts'
import { describe, type Status } from '../notifications/status.ts'
import type { LoggedEvent } from './read.ts'

/** The status of a message after an event; null: the event does not tell. */
export function statusOf({ type, cause }: { type: EventType; cause: Cause }): Status | null {
  if (type === 'notification.deferred' || type === 'notification.uncertain')
    return cause === 'scan' ? 'pending-virus-check' : 'created'
  if (type === 'notification.receipt' || type.startsWith('job.')) return null
  return type.slice('notification.'.length) as Status
}

const JOB_STATUS: Readonly<Record<string, string>> = {
  'job.accepted': 'pending',
  'job.started': 'in progress',
  'job.finished': 'finished',
  'job.cancelled': 'cancelled',
  'job.failed': 'error',
}

/** `to`: the recipient, where the reader asked for it. Texts of providers are not shown: they may quote it. */
export function presentEvent(event: LoggedEvent, to: string | null = null) {
  return {
    id: event.id,
    type: event.type,
    timestamp: zulu(event.at),
    data: event.channel === null ? jobData(event) : messageData(event, event.channel, to),
  }
}

function messageData(event: LoggedEvent, channel: NonNullable<LoggedEvent['channel']>, to: string | null) {
  const status = statusOf(event)
  const { message } = event
  return {
    notification_id: event.subject,
    reference: message?.reference ?? null,
    notification_type: channel,
    status,
    status_description: status && describe(status, channel, event.detail),
    template: message && { id: message.template_id, version: message.template_version },
    job_id: message?.job_id ?? null,
    cause: event.cause,
    provider: event.provider,
    reason: event.detail,
    uncertain: event.uncertain,
    next_attempt_at: event.nextAt && zulu(event.nextAt),
    ...(to !== null && { to }),
  }
}

function jobData({ type, subject, job }: LoggedEvent) {
  return {
    job_id: subject,
    status: JOB_STATUS[type] ?? null,
    original_file_name: job?.name ?? null,
    notification_type: job?.channel ?? null,
    notification_count: job?.notification_count ?? null,
    template: job && { id: job.template_id, version: job.template_version },
    scheduled_for: job?.scheduled_for ? zulu(job.scheduled_for) : null,
  }
}
