// Checks a CSV file of recipients, or one message, before it is sent: everything that is wrong with it, and what it would send.
import { basename } from 'node:path'
import { checkBulk } from '../bulk/check-file.ts'
import { presentReport } from '../bulk/present.ts'
import type { BulkReport } from '../bulk/report.ts'
import { createBulkThread } from '../bulk/thread.ts'
import { readId } from '../core/id.ts'
import { checkOne, type OneReport } from '../notifications/check.ts'
import { bodyOf } from '../notifications/send-as.ts'
import type { Store } from '../parts.ts'
import { type Command, type CommandInput, type CommandOutput, UsageError, withStore } from './command.ts'
import { readGiven } from './given-file.ts'
import { callerFor, KEY_TYPE, REPLY_TO, SCHEDULED_FOR, TEMPLATE } from './job-file.ts'
import { facts, firstLine, listing, painted, printable, type Text } from './print.ts'
import { baseOf, TO, VALUES, valuesFrom, withSending } from './sending.ts'

/** Row errors that are shown to a person; `herald job errors` lists all. */
const MOST_SHOWN = 20
const PREVIEW_LINES = 8

export const commands: readonly Command[] = [
  {
    noun: 'check',
    args: [
      {
        name: 'FILE',
        optional: true,
        sentence: 'CSV file with a header row and one row per recipient; - reads standard input. Not with --to.',
      },
    ],
    options: [
      TEMPLATE,
      { ...TO, sentence: 'Check one message to this recipient.' },
      ...VALUES,
      SCHEDULED_FOR,
      REPLY_TO,
      KEY_TYPE,
    ],
    sentence: 'Check a CSV file or one message before it is sent: everything that is wrong. Nothing is sent.',
    more: 'The checks are those of herald job send and herald send, for the service of the template. Row 1 is the first row after the header. Exit code 1 if it would be refused. It counts as one request of the service. herald job errors lists all row errors with their values.',
    examples: [
      'herald check people.csv --template 0190a1b2-…',
      'herald check --template 0190a1b2-… --to ann@example.org --value name=Ann',
    ],
    run: withStore(async (store, input) => {
      if (input.has('to') === (input.maybe('FILE') !== undefined)) throw new UsageError('Give either FILE or --to.')
      if (input.has('to')) return checkMessage(store, input)
      const csv = readGiven(input.text('FILE'))
      const { app, caller, template } = await callerFor(store, input)
      const scheduledFor = input.maybe('scheduled-for')
      const replyTo = input.maybe('reply-to')
      const name = input.text('FILE') === '-' ? 'standard input' : basename(input.text('FILE'))
      const body = {
        name,
        template_id: template,
        csv,
        ...(scheduledFor !== undefined && { scheduled_for: scheduledFor }),
        ...(replyTo !== undefined && { reply_to_id: replyTo }),
      }
      const bulkThread = createBulkThread()
      try {
        const { report } = await checkBulk({ ...app, bulkThread }, caller, Buffer.from(JSON.stringify(body)))
        const text = described(name, report)
        return { text, data: presentReport(report), ...(!report.ok && { failed: true as const }) }
      } finally {
        await bulkThread.stop()
      }
    }),
  },
]

async function checkMessage(store: Store, input: CommandInput): Promise<CommandOutput> {
  const values = valuesFrom(input)
  const { app: known, caller, template } = await callerFor(store, input)
  const head = await known.templates.head(caller.service.id, template)
  if (!head) throw new UsageError(`There is no template ${template}.`)
  const replyTo = input.maybe('reply-to')
  const sender_id = replyTo === undefined ? null : readId(replyTo)
  if (replyTo !== undefined && !sender_id) throw new UsageError(`--reply-to takes an id, not "${replyTo}".`)
  const to = input.text('to')
  const body = bodyOf[head.type]({
    ...{ channel: head.type, to, template_id: template, personalisation: values, sender_id },
    scheduled_for: input.maybe('scheduled-for') ?? null,
  })
  const { report } = await withSending(store, app =>
    checkOne(app, caller, head.type, body, new Map(), { base: baseOf(store) }),
  )
  return { text: messageText(to, report), data: report, ...(!report.ok && { failed: true as const }) }
}

function messageText(to: string, { ok, problems, content, parts, bytes, lane, daily, skipped }: OneReport): Text {
  return [
    painted(
      ok ? 'green' : 'red',
      `To ${firstLine(to)}: ${ok ? 'nothing is wrong' : 'it would be refused'}. Nothing was sent.`,
    ),
    ...(problems.length > 0 ? ['', 'Problems:', ...problems.map(({ message }) => `  ${printable(message)}`)] : []),
    '',
    facts([
      ...(parts === null ? [] : [['text parts', parts] as const]),
      ...(bytes === null ? [] : [['bytes', bytes] as const]),
      ['lane', lane],
      ...(daily ? [['daily limit', `${daily.remaining} of ${daily.limit} left`] as const] : []),
      ...(skipped.length > 0 ? [['not checked', skipped.join(', ')] as const] : []),
    ]),
    ...(content
      ? ['', ...(content.subject === null ? [] : [`  ${firstLine(content.subject)}`, '']), ...indented(content.text)]
      : []),
  ]
}

const indented = (text: string) =>
  printable(text)
    .trimEnd()
    .split('\n')
    .map(line => `  ${line}`)

function described(file: string, report: BulkReport): Text {
  const { ok, problems, errors, error_count, examples } = report
  const shown = errors.slice(0, MOST_SHOWN)
  const [example] = examples
  return [
    painted(
      ok ? 'green' : 'red',
      `${firstLine(file)}: ${ok ? 'nothing is wrong' : 'it would be refused'}. Nothing was sent.`,
    ),
    '',
    facts(summaryOf(report)),
    ...(problems.length > 0 ? ['', 'Problems:', ...problems.map(({ message }) => `  ${printable(message)}`)] : []),
    ...(shown.length > 0
      ? [
          '',
          error_count > shown.length ? `The first ${shown.length} of ${error_count} row errors:` : 'Row errors:',
          listing(
            ['ROW', 'COLUMN', 'PROBLEM'],
            shown.map(({ row, column, message }) => [row, column ?? '-', message]),
            '',
          ),
        ]
      : []),
    ...(example
      ? [
          '',
          `Row ${example.row}, to ${firstLine(example.to ?? '-')}:`,
          ...(example.subject === null ? [] : [`  ${firstLine(example.subject)}`, '']),
          ...printable(example.body)
            .trimEnd()
            .split('\n')
            .slice(0, PREVIEW_LINES)
            .map(line => `  ${line}`),
        ]
      : []),
  ]
}

type Facts = (readonly [string, string | number | null])[]

function summaryOf({ rows, columns, duplicates, parts, lane, daily, estimated_seconds, skipped }: BulkReport): Facts {
  const names = (list: readonly string[] | undefined) => list?.map(firstLine).join(', ') || null
  const facts: Facts = [['rows', rows?.total ?? null]]
  if (rows) facts.push(['  without errors', rows.ok], ['  with errors', rows.bad])
  if (rows && rows.not_allowed > 0) facts.push(['  not in team or safelist', rows.not_allowed])
  if (duplicates && duplicates.rows > 0) {
    const [first] = duplicates.first
    facts.push(['  repeated recipients', `${duplicates.rows}, first in rows ${first?.rows.join(', ')}`])
  }
  facts.push(['columns used', names(columns?.used)])
  if (columns && columns.unused.length > 0) facts.push(['columns not used', names(columns.unused)])
  if (columns && columns.missing.length > 0) facts.push(['columns missing', names(columns.missing)])
  if (parts !== null) facts.push(['text parts', parts])
  facts.push(['lane', lane])
  if (daily) facts.push(['daily limit', `${daily.needed} needed, ${daily.remaining} of ${daily.limit} left`])
  if (estimated_seconds !== null) facts.push(['takes about', `${estimated_seconds} s`])
  if (skipped.length > 0) facts.push(['not checked', skipped.join(', ')])
  return facts
}
