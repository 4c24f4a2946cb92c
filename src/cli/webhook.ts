import { EVENT_TYPES, type EventType } from '../events/event.ts'
import type { Store } from '../parts.ts'
import { find as findService } from '../services/find.ts'
import { attempts } from '../webhooks/attempts.ts'
import { change, type WebhookChange } from '../webhooks/change.ts'
import { create } from '../webhooks/create.ts'
import { find } from '../webhooks/find.ts'
import { presentAttempt, presentReplay, presentTest, presentWebhook } from '../webhooks/present.ts'
import { list, read, type ShownWebhook } from '../webhooks/read.ts'
import { remove } from '../webhooks/remove.ts'
import { replay } from '../webhooks/replay.ts'
import { rotateSecret } from '../webhooks/rotate.ts'
import { createTest } from '../webhooks/test.ts'
import { FORMATS, type Format } from '../webhooks/webhook.ts'
import {
  type Argument,
  type Command,
  type CommandInput,
  KEY_TYPE_CHOICES,
  limitOption,
  type Option,
  SERVICE,
  UsageError,
  withStore,
} from './command.ts'
import { readGiven } from './given-file.ts'
import { publicName, typeFrom } from './key.ts'
import { facts, firstLine, listing, minute, moment, SHORT_IDS } from './print.ts'

const WEBHOOK: Argument = { name: 'WEBHOOK', sentence: 'Id of the webhook, or its first characters (at least 8).' }
const TYPES: Option = {
  name: 'types',
  value: 'LIST',
  many: true,
  sentence: 'Types of events, separated by commas: notification.delivered,job.finished. Default: all types.',
}
const BATCH: Option = {
  name: 'batch',
  value: 'N',
  number: true,
  sentence: 'How many events one request has at most, 1 to 100.',
}
const TOKEN_FILE: Option = {
  name: 'token-file',
  value: 'FILE',
  sentence: 'For the format callback: a file with the bearer token; - reads standard input.',
}
const FROM = 'for example 2026-06-15T12:30:00Z'

export const commands: readonly Command[] = [
  {
    noun: 'webhook',
    verb: 'add',
    args: [SERVICE, { name: 'URL', sentence: 'Address that events are posted to.' }],
    options: [
      TYPES,
      {
        name: 'key-type',
        value: 'TYPE',
        ...KEY_TYPE_CHOICES,
        sentence: 'It gets events of messages that keys of this type have sent. Default: live.',
      },
      BATCH,
      { name: 'include-recipient', sentence: 'Add the recipient to events of messages.' },
      {
        name: 'format',
        value: 'FORMAT',
        choices: FORMATS,
        sentence:
          'standard (default): Standard Webhooks 1.0, signed; callback: one message a request, with a bearer token.',
      },
      TOKEN_FILE,
    ],
    sentence: 'Add a webhook to a service and show its secret once.',
    more: 'It gets events from now on; herald webhook replay sends earlier ones.',
    examples: [
      'herald webhook add "Parking permits" https://permits.example.org/events --batch 100',
      'herald webhook add 0190a1b2 https://permits.example.org/callback --format callback --token-file token.txt',
    ],
    run: withStore(async (store, input, operator) => {
      const service = await findService(store, input.text('SERVICE'))
      const key_type = typeFrom(input.maybe('key-type') ?? 'live')
      const token = tokenFrom(input)
      const batch = input.number('batch')
      const { webhook, secret } = await create(
        store,
        operator,
        { service_id: service.id, key_type },
        {
          url: input.text('URL'),
          format: (input.maybe('format') ?? 'standard') as Format,
          ...typesFrom(input),
          ...(typeof batch === 'number' && { batch }),
          ...(input.has('include-recipient') && { include_recipient: true }),
          ...(token !== undefined && { token }),
        },
      )
      const next = `Test it: herald webhook test ${webhook.id}`
      const text = secret
        ? [
            `Added a webhook to "${service.name}". Its secret cannot be shown again:`,
            '',
            `  ${secret}`,
            '',
            described(webhook),
            '',
            next,
          ]
        : [`Added a webhook to "${service.name}".`, '', described(webhook), '', next]
      return { text, data: { ...presented(webhook), secret } }
    }),
  },
  {
    noun: 'webhook',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the webhooks of a service.',
    run: withStore(async (store, input) => {
      const service = await findService(store, input.text('SERVICE'))
      const all = await list(store, { service_id: service.id, key_type: null })
      const rows = all.map(one => [one.id, one.url, one.format, publicName(one.key_type), stateOf(one), behindOf(one)])
      return {
        text: listing(
          ['ID', 'URL', 'FORMAT', 'KEYS', 'STATE', 'NOT SENT'],
          rows,
          `"${service.name}" has no webhook yet. Add one: herald webhook add ${service.id} URL`,
          SHORT_IDS,
        ),
        data: { webhooks: all.map(presented) },
      }
    }),
  },
  {
    noun: 'webhook',
    verb: 'show',
    args: [WEBHOOK],
    sentence: 'Show a webhook, without its secret.',
    run: onWebhook(async (store, owner, id) => {
      const webhook = await read(store, owner, id)
      return { text: described(webhook), data: presented(webhook) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'set',
    args: [WEBHOOK],
    options: [
      { name: 'url', value: 'URL', sentence: 'Another address.' },
      TYPES,
      { name: 'all-types', sentence: 'All types of events.' },
      BATCH,
      {
        name: 'recipient',
        value: 'HOW',
        choices: ['include', 'omit'],
        sentence: 'Whether events contain the recipient.',
      },
      TOKEN_FILE,
    ],
    sentence: 'Change a webhook.',
    examples: ['herald webhook set 0190a1b2 --url https://permits.example.org/v2/events'],
    run: onWebhook(async (store, owner, id, input, operator) => {
      const wanted = changesFrom(input)
      if (Object.keys(wanted).length === 0) throw new UsageError('Give at least one option to change.')
      const webhook = await change(store, operator, owner, id, wanted)
      return { text: described(webhook), data: presented(webhook) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'pause',
    args: [WEBHOOK],
    sentence: 'Send nothing to a webhook until herald webhook resume.',
    more: 'Nothing is lost: its events stay in the log, as long as messages are kept.',
    run: onWebhook(async (store, owner, id, _input, operator) => {
      const webhook = await change(store, operator, owner, id, { state: 'paused' })
      return { text: `The webhook is paused. To resume: herald webhook resume ${id}`, data: presented(webhook) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'resume',
    args: [WEBHOOK],
    options: [
      {
        name: 'from',
        value: 'TIME',
        sentence: `Send everything from this time on again, ${FROM}. Default: what was not sent.`,
      },
    ],
    sentence: 'Resume a webhook that was paused, or that Herald has disabled.',
    run: onWebhook(async (store, owner, id, input, operator) => {
      const from = input.maybe('from')
      const webhook = await change(store, operator, owner, id, { state: 'active', ...(from !== undefined && { from }) })
      const text = `The webhook is active. Events to send: ${behindOf(webhook)}. What it answers: herald webhook attempts ${id}`
      return { text, data: presented(webhook) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'remove',
    args: [WEBHOOK],
    sentence: 'Remove a webhook for good.',
    run: onWebhook(async (store, owner, id, _input, operator) => {
      await remove(store, operator, owner, id)
      return { text: `The webhook ${id} is removed.`, data: { id, result: 'success' } }
    }),
  },
  {
    noun: 'webhook',
    verb: 'rotate-secret',
    args: [WEBHOOK],
    options: [
      {
        name: 'overlap-hours',
        value: 'N',
        number: true,
        sentence: 'How long requests are signed with the previous secret too, 0 to 168. Default: 24.',
      },
    ],
    sentence: 'Replace the secret of a webhook and show the new one once.',
    run: onWebhook(async (store, owner, id, input, operator) => {
      const { secret, previousUntil } = await rotateSecret(
        store,
        operator,
        owner,
        id,
        input.number('overlap-hours') ?? undefined,
      )
      const text = [
        'The secret is replaced. The new one cannot be shown again:',
        '',
        `  ${secret}`,
        '',
        `Requests have a signature of the previous secret too, until ${minute(previousUntil)}.`,
      ].join('\n')
      return { text, data: { id, secret, previous_valid_until: moment(previousUntil) } }
    }),
  },
  {
    noun: 'webhook',
    verb: 'test',
    args: [WEBHOOK],
    sentence: 'Send a webhook a test event now and show the answer.',
    more: 'The type of the event is webhook.test. Exit code 1 unless the answer is 200 to 299 within 10 seconds.',
    run: onWebhook(async (store, owner, id, _input, operator) => {
      const shown = presentTest(await createTest(store)(operator, owner, id))
      const outcome = shown.status_code === null ? `No answer: ${shown.error}` : `It answered ${shown.status_code}`
      const text = [
        `${outcome}, after ${shown.took_ms} ms.`,
        ...(shown.answer ? [firstLine(shown.answer)] : []),
        ...(shown.success ? [] : ['The answer must be 200 to 299 within 10 seconds.']),
      ].join('\n')
      return { text, data: shown, ...(!shown.success && { failed: true as const }) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'replay',
    args: [WEBHOOK],
    options: [
      { name: 'from', value: 'TIME', sentence: `Send the events from this time on again, ${FROM}.` },
      { name: 'to', value: 'TIME', sentence: 'End of the time. Default: now.' },
      { ...TYPES, sentence: 'Only these types of events, separated by commas. Default: the types of the webhook.' },
      { name: 'event', value: 'ID', sentence: 'Send this event again.' },
      { name: 'failed', sentence: 'Send every event again that the webhook has refused.' },
    ],
    sentence: 'Send events to a webhook again: of a time, one event, or those that it refused.',
    examples: [
      'herald webhook replay 0190a1b2 --from 2026-06-15T12:30:00Z --to 2026-06-15T14:00:00Z',
      'herald webhook replay 0190a1b2 --failed',
    ],
    run: onWebhook(async (store, owner, id, input, operator) => {
      const [from, to, event] = [input.maybe('from'), input.maybe('to'), input.maybe('event')]
      const wanted = {
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        ...typesFrom(input),
        ...(event !== undefined && { event }),
        ...(input.has('failed') && { failed: true }),
      }
      if (Object.keys(wanted).length === 0) throw new UsageError('Give --from, --event or --failed.')
      const done = await replay(store, operator, owner, id, wanted)
      const what = done.from ? `Events from ${minute(done.from)} to ${minute(done.to)}` : `Events: ${done.events}.`
      const text = `${what} will be sent again. What it answers: herald webhook attempts ${id}`
      return { text, data: presentReplay(done) }
    }),
  },
  {
    noun: 'webhook',
    verb: 'attempts',
    args: [WEBHOOK],
    options: [
      { name: 'failed', sentence: 'Only attempts without a success.' },
      limitOption('How many, newest first. Default: 20.'),
    ],
    sentence: 'List what was sent to a webhook in the last 7 days, and what it answered.',
    run: onWebhook(async (store, owner, id, input) => {
      const most = Math.min(input.number('limit') ?? 20, 1_000)
      const found = await attempts(store, owner, id, { olderThan: null, most, isFailed: input.has('failed') })
      const shown = found.map(one => presentAttempt(store.seal, one))
      const rows = shown.map(one => [
        one.at.slice(0, 19).replace('T', ' '),
        one.status_code ?? one.error ?? '-',
        Math.max(0, ...one.took_ms),
        one.events.length,
        firstLine(one.answer ?? ''),
      ])
      return {
        text: listing(['TIME (UTC)', 'ANSWER', 'MS', 'EVENTS', 'BODY'], rows, 'Nothing was sent in the last 7 days.'),
        data: { attempts: shown },
      }
    }),
  },
]

type Owner = { service_id: ShownWebhook['service_id']; key_type: null }
type Work = (
  store: Store,
  owner: Owner,
  id: ShownWebhook['id'],
  input: CommandInput,
  operator: Parameters<Parameters<typeof withStore>[0]>[2],
) => ReturnType<Parameters<typeof withStore>[0]>

/** Finds the webhook that the command names, in any service. */
function onWebhook(work: Work): Command['run'] {
  return withStore(async (store, input, operator) => {
    const { id, service_id } = await find(store, input.text('WEBHOOK'))
    return work(store, { service_id, key_type: null }, id, input, operator)
  })
}

function typesFrom(input: CommandInput): { types?: EventType[] } {
  const given = input
    .list('types')
    .flatMap(text => text.split(','))
    .map(text => text.trim())
  const unknown = given.find(type => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown !== undefined)
    throw new UsageError(`There is no type of event "${unknown}". Types: ${EVENT_TYPES.join(', ')}.`)
  return given.length === 0 ? {} : { types: given as EventType[] }
}

function changesFrom(input: CommandInput): WebhookChange {
  const [url, batch, recipient, token] = [
    input.maybe('url'),
    input.number('batch'),
    input.maybe('recipient'),
    tokenFrom(input),
  ]
  const types = typesFrom(input)
  if (input.has('all-types') && types.types) throw new UsageError('Give --types or --all-types, not both.')
  return {
    ...(url !== undefined && { url }),
    ...types,
    ...(input.has('all-types') && { types: null }),
    ...(typeof batch === 'number' && { batch }),
    ...(recipient !== undefined && { include_recipient: recipient === 'include' }),
    ...(token !== undefined && { token }),
  }
}

/** A file, because arguments of a process are visible to all users of the machine. */
function tokenFrom(input: CommandInput): string | undefined {
  const file = input.maybe('token-file')
  return file === undefined ? undefined : readGiven(file).trim()
}

const presented = (webhook: ShownWebhook) => ({
  ...presentWebhook(webhook),
  service_id: webhook.service_id,
  key_type: publicName(webhook.key_type),
})

const stateOf = ({ state, reason, failing_since }: ShownWebhook) =>
  reason
    ? `${state}: ${reason}`
    : state === 'active' && failing_since
      ? `failing since ${minute(failing_since)}`
      : state

const behindOf = ({ behind }: ShownWebhook) => (behind.more ? `${behind.events} or more` : String(behind.events))

const described = (webhook: ShownWebhook) =>
  facts([
    ['id', webhook.id],
    ['service', webhook.service_id],
    ['url', webhook.url],
    ['format', webhook.format],
    ['key type', publicName(webhook.key_type)],
    ['types', webhook.types?.join(', ') ?? 'all'],
    ['includes the recipient', webhook.with_recipient],
    ['batch', webhook.batch],
    ['state', stateOf(webhook)],
    ['failures', webhook.failures],
    ['events not sent', behindOf(webhook)],
    ['oldest of them', minute(webhook.behind.since)],
    ['last success', minute(webhook.succeeded_at) ?? 'never'],
    ['created', minute(webhook.created_at)],
  ])
