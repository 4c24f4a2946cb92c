// Commands that read a CSV file of recipients: send it as a bulk job, or list its errors.
import { basename } from 'node:path'
import { accept, type BulkApp, type BulkCaller } from '../bulk/accept.ts'
import { checkRows } from '../bulk/check.ts'
import { rulesFor } from '../bulk/checks.ts'
import { matchColumns } from '../bulk/columns.ts'
import { asCsv, errorsOf } from '../bulk/errors.ts'
import { sheetOfCsv } from '../bulk/rows.ts'
import { type NewJob, wakeSpread } from '../bulk/sql/accept.ts'
import { createBulkThread } from '../bulk/thread.ts'
import { PLAIN } from '../channels/plain.ts'
import { providersInUse } from '../config/in-use.ts'
import { Refusal } from '../core/refusal.ts'
import { NO_HINTS } from '../events/hints.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import { currentOperator } from '../operator.ts'
import type { Store } from '../parts.ts'
import { homePlan } from '../recipients/plans.ts'
import { createServices } from '../services/load.ts'
import { createSimulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import { openStore } from '../store.ts'
import { createTemplates } from '../templates/cache.ts'
import { find as findTemplate } from '../templates/sql.ts'
import { agrees, isAtTerminal } from './ask.ts'
import {
  type Command,
  type CommandInput,
  type CommandOutput,
  type Io,
  KEY_TYPE_CHOICES,
  UsageError,
  withStore,
} from './command.ts'
import { readGiven } from './given-file.ts'
import { describeJob, jobById } from './job.ts'
import { watchJob } from './job-watch.ts'
import { facts, firstLine, layOut, minute, printable, type Text } from './print.ts'
import { templateStarting } from './template-start.ts'

export const TEMPLATE = {
  name: 'template',
  value: 'ID',
  required: true,
  sentence: 'Id of the template to send, or its first characters (at least 8).',
} as const
const CSV = {
  name: 'csv',
  value: 'FILE',
  required: true,
  sentence: 'CSV file with a header row and one row per recipient; - reads standard input.',
} as const
export const KEY_TYPE = {
  name: 'key-type',
  value: 'TYPE',
  ...KEY_TYPE_CHOICES,
  sentence: 'Which key type applies: live (default), team, or test, which sends nothing.',
} as const

export const SCHEDULED_FOR = {
  name: 'scheduled-for',
  value: 'WHEN',
  sentence: 'When to send, at most 96 hours from now, for example 2027-01-31T18:00Z.',
} as const
export const REPLY_TO = {
  name: 'reply-to',
  value: 'ID',
  sentence: 'Id of the reply-to address, or of the text sender.',
} as const

const sendCommand: Command = {
  noun: 'job',
  verb: 'send',
  options: [
    TEMPLATE,
    CSV,
    { name: 'name', value: 'NAME', sentence: 'Name of the job. Default: the name of the file.' },
    SCHEDULED_FOR,
    REPLY_TO,
    KEY_TYPE,
    { name: 'yes', sentence: 'Send without asking. Required when there is no terminal.' },
    { name: 'no-wait', sentence: 'Return as soon as the job is accepted. Scheduled jobs always do.' },
  ],
  sentence: 'Send a template to every recipient in a CSV file and wait until all messages are final.',
  more: 'The job belongs to the service of the template and counts towards its limits. On a terminal the command shows the number of messages and the first one, and asks for confirmation. Without a terminal it needs --yes, unless --key-type is test. An accepted job continues when the command is interrupted.',
  examples: [
    'herald job send --template 0190a1b2-… --csv people.csv --name "Spring letter"',
    'herald job send --template 0190a1b2-… --csv people.csv --yes',
  ],
  run: (io, input) => send(io, input),
}

const errorsCommand: Command = {
  noun: 'job',
  verb: 'errors',
  options: [TEMPLATE, CSV, KEY_TYPE],
  sentence: 'List all errors of a CSV file, as CSV. Nothing is sent.',
  more: 'Row 1 is the first row after the header. Exit code 1 if there are errors.',
  examples: ['herald job errors --template 0190a1b2-… --csv people.csv > wrong.csv'],
  run: withStore(async (store, input) => {
    const file = readGiven(input.text('csv'))
    const { app, caller, template } = await callerFor(store, input)
    const head = await app.templates.head(caller.service.id, template)
    if (!head) throw refuseSend.templateNotFound()
    const errors = errorsOf(file, await rulesFor(app, caller, head, store.clock.micros()))
    return { text: asCsv(errors), data: { errors }, ...(errors.length > 0 && { failed: true as const }) }
  }),
}

export const commands: readonly Command[] = [sendCommand, errorsCommand]

async function send(io: Io, input: CommandInput): Promise<CommandOutput> {
  const mustAsk = !input.has('yes') && input.maybe('key-type') !== 'test'
  if (mustAsk && (!isAtTerminal() || input.text('csv') === '-'))
    throw new UsageError('This would send to real people, and there is no terminal to ask on. Add --yes to send.')
  const csv = readGiven(input.text('csv'))
  io.progress.show('Opening the database')
  const store = await openStore(io.config())
  io.progress.show('Checking the file')
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
          io.progress.end()
          const shown = layOut(preview, io.errorScreen)
          if (!(await agrees(`${shown}\n\nSend? Type yes: `))) throw new Error('Nothing was sent.')
          io.progress.show('Storing the job')
        }
      : undefined
    const { id } = await accept({ ...app, bulkThread: thread }, caller, bytes, null, confirm).catch(error => {
      throw withHint(error)
    })
    await wakeSpread(store.db.sql)
    const look = () => jobById(store, caller.service.id, id)
    const job = await look()
    if (job.scheduled_for === null && !input.has('no-wait')) await watchJob(io, look)
    return describeJob(await look(), caller.service, store.clock.now())
  } finally {
    await thread.stop()
    await store.stop()
  }
}

/** The question before sending: number of messages, template, service, and the first message. */
async function previewOf(
  { config, db: { sql } }: Store,
  { templates }: Pick<BulkApp, 'templates'>,
  service: LoadedService,
  job: NewJob,
  csv: string,
): Promise<Text> {
  const { template_id, template_version, channel, notification_count: count } = job
  const template = await findTemplate(sql, service.id, template_id)
  const version = await templates.version(template_id, template_version)
  const sheet = sheetOfCsv(csv)
  const [first] = checkRows(sheet, matchColumns(sheet.header, channel, version.compiled.names), { type: channel })
  const values = first?.personalisation ?? {}
  const { subject, body } = version.received(values, service.sms_prefix ? service.name : null)
  const { one, many } = PLAIN[channel].words
  return [
    `${count} ${count === 1 ? one : many} of the template "${firstLine(template?.name ?? '')}" (version ${template_version}) for "${firstLine(service.name)}"${job.scheduled_for === null ? '' : `, due ${minute(job.scheduled_for)}`}.`,
    ...providersInUse(config).flatMap(one => (one.channel === channel ? one.sentence : [])),
    '',
    'The first message:',
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
  ]
}

const PREVIEW_LINES = 20

/** Key types as they are stored (contract 15.3). */
export const STORED = { live: 'normal', team: 'team', test: 'test' } as const

export async function callerFor(store: Store, input: CommandInput) {
  const sql = store.db.sql
  const { template, owner } = await templateStarting(sql, '--template', input.text('template'))
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
    // This process sends nothing: an engine is notified after the job is stored (wakeSpread).
    dispatcher: { initialLease: () => null, hand() {} },
    hints: NO_HINTS,
  }
  return { app, caller, template }
}

/** The refusal names the first 20 rows; the hint says how to see all of them. */
function withHint(error: unknown): unknown {
  if (!(error instanceof Refusal) || !error.message.startsWith('Some rows have errors.')) return error
  return new Refusal(error.kind, [
    ...error.messages,
    'To see all of them, run herald job errors with the same --template and --csv',
  ])
}
