// People look through the jobs of their service, and at one of them: how far it is, who made it, and why messages failed.
import type { Actor, PersonActor } from '../audit/actor.ts'
import { requirePermission } from '../audit/actor.ts'
import { whoDidEach } from '../audit/sql.ts'
import { scopeOf } from '../bulk/job-rows.ts'
import { type Progress, progressOf } from '../bulk/progress.ts'
import { refuse } from '../bulk/refusals.ts'
import { repeatable } from '../bulk/send-again.ts'
import { type Browsing, browse, examinedTo, type ShownStatus } from '../bulk/sql/browse.ts'
import { find, type ShownJob } from '../bulk/sql/read.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import {
  type FailureGroup,
  failuresOfJob,
  handedOverLately,
  providerOfJob,
  statesOfRows,
} from '../notifications/sql/of-job.ts'
import { namesOf as personNames } from '../people/sql/people.ts'
import type { Service } from '../services/service.ts'
import type { Templates } from '../templates/cache.ts'
import { namesOf as templateNames } from '../templates/sql.ts'
import { type Meaning, meaningOf } from './reply.ts'

export type JobsApp = { db: { sql: Sql }; clock: Clock; seal: Seal; templates: Templates }

/** Who made it. `name` null: it is not known any more. */
export type Maker = { kind: Actor['kind']; name: string | null }

export type ListedJob = ShownJob & {
  created_at: Timestamp
  template_name: string
  maker: Maker
  progress: Progress
}

export type JobFilters = { status: ShownStatus | null; template: Id | null; since: number | null }
export type JobsPage = { jobs: ListedJob[]; older: Id | null; newer: Id | null; isPartial: boolean }

export const PAGE = 50

/** Newest first. `since`: microseconds since 1970. */
export async function browseJobs(
  app: JobsApp,
  actor: PersonActor,
  service: Service,
  { status, template, since }: JobFilters,
  from: Browsing['from'],
): Promise<JobsPage> {
  requirePermission(actor, 'see-messages', service.id)
  const { sql } = app.db
  const browsing: Browsing = {
    ...{ service: service.id, status, template, since: since === null ? null : floorOf(since), from, size: PAGE + 1 },
  }
  const found = await browse(sql, browsing)
  const isNewer = from !== null && 'newer' in from
  const isFull = found.length > PAGE
  const jobs = !isFull ? found : isNewer ? found.slice(1) : found.slice(0, -1)
  const reached = isFull ? null : await examinedTo(sql, browsing)
  const [first, last] = [jobs.at(0)?.id ?? null, jobs.at(-1)?.id ?? null]
  return {
    jobs: await named(app, jobs),
    older: isNewer ? (last ?? from.newer) : isFull ? last : reached,
    newer: isNewer ? (isFull ? first : reached) : from === null ? null : (first ?? from.older),
    isPartial: reached !== null,
  }
}

async function named({ db: { sql }, clock }: JobsApp, jobs: readonly ShownJob[]): Promise<ListedJob[]> {
  if (jobs.length === 0) return []
  const byHand = jobs.filter(job => job.key_id === null).map(job => job.id)
  const [templates, actors] = await Promise.all([
    templateNames(sql, jobs),
    byHand.length === 0 ? [] : whoDidEach(sql, ['job sent', 'job sent again'], byHand),
  ])
  const people = actors.flatMap(one => (one.actor_kind === 'person' && one.actor_id ? [one.actor_id] : []))
  const names = people.length === 0 ? new Map<Id, string>() : await personNames(sql, [...new Set(people)])
  const makerOf = ({ id, key_id, key_name }: ShownJob): Maker => {
    if (key_id !== null) return { kind: 'key', name: key_name }
    const actor = actors.find(one => one.subject_id === id)
    return { kind: actor?.actor_kind ?? 'operator', name: (actor?.actor_id && names.get(actor.actor_id)) ?? null }
  }
  return jobs.map(job => ({
    ...job,
    created_at: fromMicros(microsOf(job.id)),
    template_name: templates.get(`${job.template_id}/${job.template_version}`) ?? '',
    maker: makerOf(job),
    progress: progressOf(job, clock.now()),
  }))
}

/** Failed messages with the same status and meaning; `meaning` null: nobody said why. */
export type Failures = { status: FailureGroup['status']; meaning: Meaning | null; messages: number }

export type WholeJob = ListedJob & {
  /** Handed over in the last minute. */
  aMinute: number
  /** Who handed over its messages; null: nobody yet, or nobody knows any more. */
  provider: string | null
  failures: Failures[]
  /** Rows that failed for a time and can be sent again, and the jobs that repeat others. */
  again: Awaited<ReturnType<typeof repeatable>>
  original: { id: Id; name: string } | null
  /** Whether its messages are still kept. */
  isKept: boolean
  /** The version of the template that is current; null: the template is archived. */
  currentVersion: number | null
}

/** More reasons than these are not told apart. */
const MOST_REASONS = 200

export async function wholeJob(app: JobsApp, actor: PersonActor, service: Service, id: Id): Promise<WholeJob> {
  const found = await jobFor(app, actor, service, id)
  const { sql } = app.db
  const [job] = await named(app, [found])
  if (!job) throw refuse.notFound()
  const scope = scopeOf(app, service, job)
  const isKept = scope.after < scope.below && job.status !== 'cancelled'
  const [groups, aMinute, provider, again, original, head] = await Promise.all([
    job.progress.failed > 0 && isKept ? failuresOfJob(sql, scope, MOST_REASONS) : [],
    job.progress.status === 'sending' ? handedOverLately(sql, scope, 60) : 0,
    job.progress.delivered > 0 && isKept ? providerOfJob(sql, scope) : null,
    repeatable(app, actor, service, job),
    job.again_of && find(sql, service.id, job.again_of),
    app.templates.head(service.id, job.template_id),
  ])
  return {
    ...job,
    aMinute,
    provider,
    failures: await failuresBy(app, job, groups),
    again,
    original: original ? { id: original.id, name: original.name } : null,
    isKept,
    currentVersion: head === null || head.archived ? null : head.version,
  }
}

/** One job of the service, for people. */
export async function jobFor(
  { db }: Pick<JobsApp, 'db'>,
  actor: PersonActor,
  service: Service,
  id: Id,
): Promise<ShownJob> {
  requirePermission(actor, 'see-messages', service.id)
  const job = await find(db.sql, service.id, id)
  if (!job) throw refuse.notFound()
  return job
}

/** How far it is at this moment. `lately`: also what takes longer, how many were handed over in the last minute and by whom. */
export async function progressNow(
  app: JobsApp,
  actor: PersonActor,
  service: Service,
  id: Id,
  { lately }: { lately: boolean },
): Promise<{ progress: Progress; job: ShownJob; aMinute: number; provider: string | null }> {
  const job = await jobFor(app, actor, service, id)
  const scope = scopeOf(app, service, job)
  const [aMinute, provider] = lately
    ? await Promise.all([handedOverLately(app.db.sql, scope, 60), providerOfJob(app.db.sql, scope)])
    : [0, null]
  return { job, progress: progressOf(job, app.clock.now()), aMinute, provider }
}

async function failuresBy(
  { db: { sql }, seal }: JobsApp,
  { channel }: ShownJob,
  groups: readonly FailureGroup[],
): Promise<Failures[]> {
  const ids = groups.flatMap(({ example }) => example ?? [])
  const examples = ids.length === 0 ? [] : await statesOfRows(sql, ids)
  const replies = new Map(examples.map(({ id, diagnosis }) => [id, diagnosis]))
  const found = new Map<string, Failures>()
  for (const { status, failure_detail, provider_response, example, messages } of groups) {
    const sealed = example && replies.get(example)
    const reply = sealed ? seal.open('provider reply', sealed).toString('utf8') : null
    const meaning = meaningOf(channel, failure_detail, reply, provider_response)
    const key = `${status} ${meaning?.is ?? ''}`
    const before = found.get(key)
    if (before) before.messages += messages
    else found.set(key, { status, meaning, messages })
  }
  return [...found.values()].sort((a, b) => b.messages - a.messages)
}
