// What the overview shows, collected from the nouns.
import { openJobs } from '../../bulk/read.ts'
import type { ShownJob } from '../../bulk/sql/read.ts'
import { channelNames } from '../../channels/index.ts'
import { type Timestamp, zulu } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type UsedToday, usedToday } from '../../limits/used.ts'
import { type Group, groupOf, statusesOf } from '../../notifications/status.ts'
import { isAccepted } from '../../statistics/accepted.ts'
import {
  countedSince,
  type DayCounts,
  type FailingTemplate,
  failing,
  hasSent,
  type Overview,
  overview,
  type StatusCount,
} from '../../statistics/overview.ts'
import { namesOfTemplates, newestTemplate } from '../../templates/names.ts'
import type { TemplateName } from '../../templates/sql/names.ts'
import { type Ending, endingSince } from '../../timeline/endings.ts'
import { endingOr } from '../components/captured.tsx'
import type { ServiceVisit } from '../page.ts'

export type Totals = Record<Group | 'scheduled' | 'accepted', number>

export type Counts = {
  overview: Overview
  today: readonly StatusCount[]
  /** Rows of jobs that are scheduled: they are not messages yet. */
  scheduledRows: number
  jobs: readonly ShownJob[]
  /** What became of messages that did not fail, of today and of all days. */
  endings: { today: Ending; days: Ending }
}

export type Shown = Counts & {
  since: Timestamp | null
  limits: readonly UsedToday[]
  failing: readonly FailingTemplate[]
  templates: ReadonlyMap<Id, TemplateName>
}

/** Null: nothing was sent yet. */
export async function readOverview(visit: ServiceVisit): Promise<Shown | null> {
  const { actor, service, formats } = visit
  const app = appOf(visit)
  const [counts, limits, since, worst] = await Promise.all([
    readCounts(visit),
    usedToday(app, actor, service),
    countedSince(app, actor, service),
    failing(app, actor, service.id, formats.timeZone, statusesOf(['failed'])),
  ])
  const isEmpty = counts.jobs.length === 0 && counts.overview.days.every(day => day.counts.length === 0)
  if (isEmpty && !(await hasSent(app, actor, service.id))) return null
  const ids = [...worst.map(one => one.template_id), ...counts.jobs.map(job => job.template_id)]
  return {
    ...counts,
    limits,
    since,
    failing: worst,
    templates: await namesOfTemplates(app.sql, actor, service.id, ids),
  }
}

/** What is refreshed every ten seconds. */
export async function readCounts(visit: ServiceVisit): Promise<Counts> {
  const { actor, service, formats } = visit
  const app = appOf(visit)
  const [counts, jobs] = await Promise.all([
    overview(app, actor, service.id, formats.timeZone),
    // Names of files and jobs are for members.
    visit.may('see-messages') ? openJobs(app, actor, service.id) : [],
  ])
  const since = (day: DayCounts | undefined) =>
    endingSince(app, actor, service.id, day ? Date.parse(zulu(day.start)) * 1_000 : 0)
  const [days, today] = await Promise.all([since(counts.days[0]), since(counts.days.at(-1))])
  return {
    endings: { today: endingOr(visit, today, channelNames), days: endingOr(visit, days, channelNames) },
    overview: counts,
    today: counts.days.at(-1)?.counts ?? [],
    scheduledRows: jobs
      .filter(job => job.status === 'pending' && job.scheduled_for !== null)
      .reduce((sum, job) => sum + job.notification_count, 0),
    jobs,
  }
}

export const readFirstTemplate = (visit: ServiceVisit) =>
  newestTemplate(visit.parts.db.sql, visit.actor, visit.service.id)

const appOf = ({ parts }: ServiceVisit) => ({ sql: parts.db.sql, clock: parts.clock })

/** Messages by how far they have come; `accepted` is all of them without the cancelled ones. */
export function totalsOf(counts: readonly StatusCount[]): Totals {
  const totals: Totals = { accepted: 0, 'in-transit': 0, delivered: 0, failed: 0, cancelled: 0, scheduled: 0 }
  for (const { status, messages } of counts) {
    const group = status === 'scheduled' ? 'scheduled' : groupOf(status)
    if (isAccepted(status)) totals.accepted += messages
    if (group) totals[group] += messages
  }
  return totals
}

/** Failures by status and channel, the most first. */
export const failuresOf = (counts: readonly StatusCount[]): StatusCount[] =>
  counts.filter(({ status }) => groupOf(status) === 'failed').sort((a, b) => b.messages - a.messages)
