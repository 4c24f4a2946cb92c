// Bulk jobs by hand: the same verbs that the interface calls, for an operator who has a file and a template.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { accept, type BulkApp, type BulkCaller, rulesFor } from '../bulk/accept.ts'
import { cancel } from '../bulk/cancel.ts'
import { checkRows } from '../bulk/check.ts'
import { matchColumns } from '../bulk/columns.ts'
import { asCsv, errorsOf } from '../bulk/errors.ts'
import { presentCancelled, presentJob } from '../bulk/present.ts'
import { refuse } from '../bulk/refusals.ts'
import { sheetOfCsv } from '../bulk/rows.ts'
import { between, find as findJob, type NewJob, page, type ShownJob, wakeSpread } from '../bulk/sql.ts'
import { createBulkThread } from '../bulk/thread.ts'
import { CHANNELS } from '../channels/index.ts'
import { providersInUse } from '../config/in-use.ts'
import { fromMicros } from '../core/clock.ts'
import { type Id, microsOf, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { isFinal, type Status } from '../notifications/status.ts'
import { currentOperator } from '../operator.ts'
import type { Store } from '../parts.ts'
import { homePlan } from '../recipients/plans.ts'
import { find, idStart } from '../services/find.ts'
import { createServices } from '../services/load.ts'
import { createSimulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import { openStore } from '../store.ts'
import { createTemplates } from '../templates/cache.ts'
import { find as findTemplate, serviceOfTemplate } from '../templates/sql.ts'
import { agrees, isAtTerminal } from './ask.ts'
import {
  type Argument,
  type Command,
  type CommandInput,
  type CommandOutput,
  type Io,
  SERVICE,
  UsageError,
  withStore,
} from './command.ts'
import { facts, firstLine, listing, minute, printable } from './print.ts'

const JOB: Argument = { name: 'JOB', sentence: 'Id of the job, or its first characters (at least 8).' }

const TEMPLATE = { name: 'template', value: 'ID', required: true, sentence: 'Id of the template to send.' } as const
const CSV = {
  name: 'csv',
  value: 'FILE',
  required: true,
  sentence: 'The recipients: a CSV file, header first; - reads standard input.',
} as const
const KEY_TYPE = {
  name: 'key-type',
  value: 'TYPE',
  choices: ['live', 'team', 'test'],
  sentence: 'As which kind of key: live (default), team, or test, which sends nothing.',
} as const

export const jobCommands: readonly Command[] = [
  {
    noun: 'job',
    verb: 'send',
    options: [
      TEMPLATE,
      CSV,
      { name: 'name', value: 'NAME', sentence: 'What the job is called. Without it, like the file.' },
      { name: 'scheduled-for', value: 'WHEN', sentence: 'When to send, up to 96 hours ahead: 2027-01-31T18:00Z.' },
      { name: 'reply-to', value: 'ID', sentence: 'Id of the reply-to address, or of the text sender.' },
      KEY_TYPE,
      { name: 'yes', sentence: 'Send without the question. Needed where no terminal can be asked.' },
      { name: 'no-wait', sentence: 'Do not wait for the messages; scheduled jobs are never waited for.' },
    ],
    sentence: 'Send a template to everyone in a file, and watch until the last message is final.',
    more: 'It acts for the service of the template, within its limits. On a terminal it shows how many messages of which template it would send, with the first of them, and asks; elsewhere it needs --yes, unless --key-type is test. Once accepted, the job goes on whether it is watched or not.',
    examples: [
      'herald job send --template 0190a1b2-… --csv people.csv --name "Spring letter"',
      'herald job send --template 0190a1b2-… --csv people.csv --yes',
    ],
    run: (io, input) => send(io, input),
  },
  {
    noun: 'job',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the bulk jobs of a service, newest first.',
    more: 'The 250 newest.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const jobs = await page(store.db.sql, service.id, null, 250)
      const rows = jobs.map(job => [
        job.id,
        firstLine(job.name),
        job.channel,
        job.status,
        job.notification_count,
        finalOf(job),
        minute(madeAt(job)),
        minute(job.scheduled_for),
      ])
      return {
        text: listing(
          ['ID', 'NAME', 'TYPE', 'STATUS', 'MESSAGES', 'FINAL', 'MADE', 'SCHEDULED FOR'],
          rows,
          `"${service.name}" has no job yet.`,
        ),
        data: { jobs: jobs.map(job => presentJob(job, service, store.clock.now())) },
      }
    }),
  },
  {
    noun: 'job',
    verb: 'show',
    args: [JOB],
    sentence: 'Show a job, and how many of its messages have which status.',
    run: withStore(async (store, input) => {
      const { job, service } = await jobNamed(store, input.text('JOB'))
      return shown(job, service, store.clock.now())
    }),
  },
  {
    noun: 'job',
    verb: 'cancel',
    args: [JOB],
    sentence: 'Cancel a job that is scheduled and has not begun.',
    run: withStore(async (store, input, operator) => {
      const { job } = await jobNamed(store, input.text('JOB'))
      const cancelled = await cancel(store.db.sql, operator, job.service_id, job.id)
      return {
        text: `The job "${firstLine(job.name)}" (${job.id}) is cancelled; its ${job.notification_count} messages are not sent.`,
        data: presentCancelled(cancelled),
      }
    }),
  },
  {
    noun: 'job',
    verb: 'errors',
    options: [TEMPLATE, CSV, KEY_TYPE],
    sentence: 'Tell everything that is wrong with a file, as CSV; nothing is sent.',
    more: 'Row 1 is the first row after the header. With --json the same as JSON. Exit code 1 when something is wrong.',
    examples: ['herald job errors --template 0190a1b2-… --csv people.csv > wrong.csv'],
    run: withStore(async (store, input) => {
      const file = readCsv(input.text('csv'))
      const { app, caller, template } = await callerFor(store, input)
      const head = await app.templates.head(caller.service.id, template)
      if (!head) throw refuseSend.templateNotFound()
      const errors = errorsOf(file, await rulesFor(app, caller, head, store.clock.micros()))
      return { text: asCsv(errors), data: { errors }, ...(errors.length > 0 && { failed: true as const }) }
    }),
  },
]

async function send(io: Io, input: CommandInput): Promise<CommandOutput> {
  const mustAsk = !input.has('yes') && input.maybe('key-type') !== 'test'
  if (mustAsk && (!isAtTerminal() || input.text('csv') === '-'))
    throw new UsageError('This would send to real people, and there is no terminal to ask. Say --yes to send.')
  const csv = readCsv(input.text('csv'))
  const store = await openStore(io.config())
  const thread = createBulkThread()
  try {
    const { app, caller, template } = await callerFor(store, input)
    const scheduledFor = input.maybe('scheduled-for')
    const replyTo = input.maybe('reply-to')
    const body = {
      name: input.maybe('name') ?? (input.text('csv') === '-' ? 'standard input' : basename(input.text('csv'))),
      template_id: template,
      csv,
      ...(scheduledFor !== undefined && { scheduled_for: scheduledFor }),
      ...(replyTo !== undefined && { reply_to_id: replyTo }),
    }
    const bytes = Buffer.from(JSON.stringify(body))
    const confirm = mustAsk
      ? async (job: NewJob) => {
          const preview = await previewOf(store, app, caller.service, job, csv)
          if (!(await agrees(`${preview}\n\nSend? Type yes: `))) throw new Error('Nothing was sent.')
        }
      : undefined
    const { id } = await accept({ ...app, bulkThread: thread }, caller, bytes, null, confirm).catch(error => {
      throw withHint(error)
    })
    await wakeSpread(store.db.sql)
    const look = () => known(store, caller.service.id, id)
    const job = await look()
    if (job.scheduled_for === null && !input.has('no-wait')) await watch(io, look)
    return shown(await look(), caller.service, store.clock.now())
  } finally {
    await thread.stop()
    await store.stop()
  }
}

/** What is about to happen: how many, of which template, for whom, and the first message as it would arrive. */
async function previewOf(
  { config, db: { sql } }: Store,
  { templates }: Pick<BulkApp, 'templates'>,
  service: LoadedService,
  job: NewJob,
  csv: string,
): Promise<string> {
  const { template_id, template_version, channel, notification_count: count } = job
  const template = await findTemplate(sql, service.id, template_id)
  const version = await templates.version(template_id, template_version)
  const sheet = sheetOfCsv(csv)
  const [first] = checkRows(sheet, matchColumns(sheet.header, channel, version.compiled.names), { type: channel })
  const values = first?.personalisation ?? {}
  const { subject, body } = version.received(values, service.sms_prefix ? service.name : null)
  const { one, many } = CHANNELS[channel].words
  return [
    `${count} ${count === 1 ? one : many} of the template "${firstLine(template?.name ?? '')}" (version ${template_version}) for "${firstLine(service.name)}"${job.scheduled_for === null ? '' : `, due ${minute(job.scheduled_for)}`}.`,
    ...providersInUse(config).flatMap(one => (one.channel === channel ? one.sentence : [])),
    '',
    'The first:',
    '',
    facts([
      ['  to', firstLine(first?.recipient ?? '')],
      ...(subject === null ? [] : [['  subject', firstLine(subject)] as const]),
    ]),
    '',
    ...printable(body)
      .trimEnd()
      .split('\n')
      .slice(0, PREVIEW_LINES)
      .map(line => `  ${line}`),
  ].join('\n')
}

const PREVIEW_LINES = 20

function readCsv(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = { ENOENT: 'is not there', EISDIR: 'is a folder', EACCES: 'may not be read by this user' }[code]
    throw new UsageError(`The file ${file} ${why ?? `cannot be read (${code})`}.`)
  }
}

const STORED = { live: 'normal', team: 'team', test: 'test' } as const

async function callerFor(store: Store, input: CommandInput) {
  const sql = store.db.sql
  const template = readId(input.text('template'))
  if (!template) throw new UsageError(`--template takes the id of a template, not "${input.text('template')}".`)
  const owner = await serviceOfTemplate(sql, template)
  const service = owner && (await createServices(sql, store.clock, store.config).get(owner))
  if (!service) throw refuseSend.templateNotFound()
  const type = input.maybe('key-type') as keyof typeof STORED | undefined
  const caller: BulkCaller = { service, actor: currentOperator(), key_type: STORED[type ?? 'live'] }
  const app: Omit<BulkApp, 'bulkThread'> = {
    ...store,
    templates: createTemplates(sql, store.clock),
    simulated: createSimulated(
      store.config.sendingDomain,
      store.config.simulatedRecipients,
      homePlan(store.config.homeCountry),
    ),
    // Nothing is sent from here; whoever does is told once the job is on disk.
    dispatcher: { initialLease: () => null, hand() {} },
  }
  return { app, caller, template }
}

/** The interface tells the first twenty rows; a person with the file at hand can have them all. */
function withHint(error: unknown): unknown {
  if (!(error instanceof Refusal) || !error.message.startsWith('Some rows have errors.')) return error
  return new Refusal(error.kind, [
    ...error.messages,
    'All of them: herald job errors with the same --template and --csv',
  ])
}

async function known(store: Store, service: Id, id: Id): Promise<ShownJob> {
  const job = await findJob(store.db.sql, service, id)
  if (!job) throw refuse.notFound()
  return job
}

async function jobNamed(store: Store, text: string): Promise<{ job: ShownJob; service: LoadedService }> {
  const start = idStart(text)
  if (start === null) throw new UsageError(`A job is named by its id or its first 8 characters, not "${text}".`)
  const bound = (fill: string) => readId(start.padEnd(32, fill)) as Id
  const [found, ...others] = await between(store.db.sql, bound('0'), bound('f'))
  if (!found) throw refuse.notFound()
  if (others.length > 0)
    throw new UsageError(
      `Several jobs begin with ${text}: ${[found, ...others].map(one => `${one.id} (${firstLine(one.name)})`).join(', ')}.`,
    )
  const service = await createServices(store.db.sql, store.clock, store.config).get(found.service_id)
  if (!service) throw refuse.notFound()
  return { job: await known(store, found.service_id, found.id), service }
}

const LOOK_MS = 250
const PLAIN_MS = 5_000
const PATIENCE_MS = 10_000

/** A bar on a terminal, a line now and then elsewhere. */
async function watch(io: Io, look: () => Promise<ShownJob>): Promise<void> {
  const bar = process.stderr.isTTY ? (text: string) => process.stderr.write(`\r${text}\u001b[K`) : null
  const began = performance.now()
  let told = began
  let isWarned = false
  for (;;) {
    const job = await look()
    const final = finalOf(job)
    bar?.(barOf(final, job))
    if (job.status === 'cancelled' || final >= job.notification_count) break
    const now = performance.now()
    if (!bar && now - told > PLAIN_MS) {
      io.say(`${final} of ${job.notification_count} messages are final (${job.status})`)
      told = now
    }
    if (!isWarned && job.status === 'pending' && now - began > PATIENCE_MS) {
      isWarned = true
      io.say('Nothing has begun yet. Does Herald run? The job waits for it: herald start')
    }
    await sleep(LOOK_MS)
  }
  bar?.('')
}

const WIDTH = 30

function barOf(final: number, { notification_count: all, status }: ShownJob): string {
  const full = Math.floor((WIDTH * final) / all)
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${Math.floor((100 * final) / all)}%  ${final}/${all}  ${status}`
}

const finalOf = ({ counts }: ShownJob) =>
  counts.reduce((sum, { status, count }) => sum + (isFinal(status as Status) ? count : 0), 0)

const madeAt = ({ id }: ShownJob) => fromMicros(microsOf(id))

function shown(job: ShownJob, service: LoadedService, now: number): CommandOutput {
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
    ['made', minute(madeAt(job))],
    ['scheduled for', minute(job.scheduled_for)],
    ['begun', minute(job.processing_started)],
    ['finished', minute(job.processing_finished)],
    ['archived', data.archived],
  ])
  return { text, data }
}
