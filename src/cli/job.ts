// Commands for bulk jobs that exist. job-file.ts has those that read a CSV file.
import { cancel } from '../bulk/cancel.ts'
import { presentCancelled, presentJob } from '../bulk/present.ts'
import { refuse } from '../bulk/refusals.ts'
import { between, find as findJob, page, type ShownJob } from '../bulk/sql/read.ts'
import { fromMicros } from '../core/clock.ts'
import { type Id, microsOf, readId } from '../core/id.ts'
import { NO_HINTS } from '../events/hints.ts'
import type { Store } from '../parts.ts'
import { find, idStart } from '../services/find.ts'
import { createServices } from '../services/load.ts'
import type { LoadedService } from '../services/sql.ts'
import { type Argument, type Command, type CommandOutput, SERVICE, UsageError, withStore } from './command.ts'
import { finalOf, watchJob } from './job-watch.ts'
import { facts, firstLine, listing, minute, SHORT_IDS } from './print.ts'

const JOB: Argument = { name: 'JOB', sentence: 'Id of the job, or its first characters (at least 8).' }

export const commands: readonly Command[] = [
  {
    noun: 'job',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the bulk jobs of a service, newest first.',
    more: 'Shows the newest 250.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const jobs = await page(store.db.sql, service.id, null, 250)
      const rows = jobs.map(job => [
        job.id,
        job.name,
        job.channel,
        job.status,
        job.notification_count,
        finalOf(job),
        minute(createdAt(job)),
        minute(job.scheduled_for),
      ])
      return {
        text: listing(
          ['ID', 'NAME', 'TYPE', 'STATUS', 'MESSAGES', 'FINAL', 'CREATED', 'SCHEDULED FOR'],
          rows,
          `"${service.name}" has no job yet.`,
          SHORT_IDS,
        ),
        data: { jobs: jobs.map(job => presentJob(job, service, store.clock.now())) },
      }
    }),
  },
  {
    noun: 'job',
    verb: 'show',
    args: [JOB],
    sentence: 'Show a job and the number of its messages in each status.',
    run: withStore(async (store, input) => {
      const { job, service } = await findByText(store, input.text('JOB'))
      return describeJob(job, service, store.clock.now())
    }),
  },
  {
    noun: 'job',
    verb: 'watch',
    args: [JOB],
    sentence: 'Show the progress of a job until all its messages are final.',
    more: 'A job that is scheduled is watched from its start. Interrupting the command does not change the job.',
    async run(io, input) {
      const { openStore } = await import('../store.ts')
      io.progress.show('Opening the database')
      const store = await openStore(io.config())
      try {
        const { job, service } = await findByText(store, input.text('JOB'))
        const look = () => jobById(store, service.id, job.id)
        await watchJob(io, look)
        return describeJob(await look(), service, store.clock.now())
      } finally {
        await store.stop()
      }
    },
  },
  {
    noun: 'job',
    verb: 'cancel',
    args: [JOB],
    sentence: 'Cancel a scheduled job that has not started.',
    run: withStore(async (store, input, operator) => {
      const { job } = await findByText(store, input.text('JOB'))
      const cancelled = await cancel({ sql: store.db.sql, hints: NO_HINTS }, operator, job.service_id, job.id)
      return {
        text: `The job "${firstLine(job.name)}" (${job.id}) is cancelled; its ${job.notification_count} messages will not be sent.`,
        data: presentCancelled(cancelled),
      }
    }),
  },
]

export async function jobById(store: Store, service: Id, id: Id): Promise<ShownJob> {
  const job = await findJob(store.db.sql, service, id)
  if (!job) throw refuse.notFound()
  return job
}

async function findByText(store: Store, text: string): Promise<{ job: ShownJob; service: LoadedService }> {
  const start = idStart(text)
  if (start === null) throw new UsageError(`JOB is an id or the first characters of one (at least 8), not "${text}".`)
  const bound = (fill: string) => readId(start.padEnd(32, fill)) as Id
  const [found, ...others] = await between(store.db.sql, bound('0'), bound('f'))
  if (!found) throw refuse.notFound()
  if (others.length > 0)
    throw new UsageError(
      `Several ids begin with ${text}: ${[found, ...others].map(one => `${one.id} (${firstLine(one.name)})`).join(', ')}.`,
    )
  const service = await createServices(store.db.sql, store.clock, store.config).get(found.service_id)
  if (!service) throw refuse.notFound()
  return { job: await jobById(store, found.service_id, found.id), service }
}

const createdAt = ({ id }: ShownJob) => fromMicros(microsOf(id))

export function describeJob(job: ShownJob, service: LoadedService, now: number): CommandOutput {
  const data = presentJob(job, service, now)
  const text = facts([
    ['id', job.id],
    ['name', firstLine(job.name)],
    ['service', service.name],
    ['template', `${job.template_id}, version ${job.template_version}`],
    ['type', job.channel],
    ['status', job.status],
    ['messages', job.notification_count],
    ...data.statistics.map(({ status, count }) => [`  ${status}`, count] as const),
    ['created', minute(createdAt(job))],
    ['scheduled for', minute(job.scheduled_for)],
    ['started', minute(job.processing_started)],
    ['finished', minute(job.processing_finished)],
    ['archived', data.archived],
  ])
  return { text, data }
}
