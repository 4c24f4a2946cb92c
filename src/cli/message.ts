import { fromMicros, zulu } from '../core/clock.ts'
import { microsOf, readId } from '../core/id.ts'
import { NO_HINTS } from '../events/hints.ts'
import { cancel } from '../notifications/cancel.ts'
import { historyOf } from '../notifications/history.ts'
import { find } from '../services/find.ts'
import { list as listServices } from '../services/sql.ts'
import { presentTimeline } from '../timeline/present.ts'
import { anyTimeline } from '../timeline/read.ts'
import { type Command, limitOption, UsageError, withStore } from './command.ts'
import { type Block, facts, firstLine, listing, minute, painted, printable, stack, wrapped } from './print.ts'
import { baseOf, mayReach, sentOutput, withSending, YES } from './sending.ts'

const MOST = 50
const MOST_EVER = 1_000

export const commands: readonly Command[] = [
  {
    noun: 'message',
    verb: 'show',
    args: [{ name: 'ID', sentence: 'Id of the message, as the API returned it.' }],
    sentence: 'Show what happened to a message, and why.',
    more: 'A sentence says what happened and what to do; then every step follows: attempts with the reply of the provider, receipts, changes of status, webhooks. The diagnosis and the replies are texts of the provider. They may name the recipient, so they are stored sealed and purged with the message.',
    examples: ['herald message show 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
    run: withStore(async (store, input) => {
      const named = input.text('ID')
      const id = readId(named)
      const found = id && (await historyOf(store, id))
      const timeline = found && (await anyTimeline({ ...store, sql: store.db.sql }, found.id))
      if (!found || !timeline) throw new UsageError(`There is no message ${named}.`)
      const { sentence, entries, omitted } = presentTimeline(timeline)
      const text = [
        facts([
          ['id', found.id],
          ['service', found.service_id],
          ['type', found.channel],
          ['status', `${found.status} (${found.description})`],
          ['statuses so far', found.moves.join(', ')],
          ['sent', minute(found.sent_at)],
          ['completed', minute(found.completed_at)],
          ['provider', found.provider],
          ['attempts', found.attempts],
          ['maybe sent twice', found.uncertain],
          ['provider response', found.provider_response],
          ['detail', found.detail],
          ['diagnosis', found.diagnosis],
        ]),
        '',
        wrapped('', printable(sentence)),
        '',
        painted('bold', 'Timeline (UTC)'),
        ...entries.map(step),
      ]
      return { text, data: { message: found, sentence, entries, omitted } }
    }),
  },
  {
    noun: 'message',
    verb: 'find',
    options: [
      { name: 'to', value: 'ADDRESS', sentence: 'Recipient: an e-mail address or a phone number, in any spelling.' },
      { name: 'reference', value: 'TEXT', sentence: 'Reference that the caller gave, exactly.' },
      { name: 'service', value: 'SERVICE', sentence: 'Only messages of this service. Default: all services.' },
      limitOption(`How many messages to show, at most ${MOST_EVER}. Default: ${MOST}.`),
    ],
    sentence: 'Find messages by recipient or by reference.',
    more: 'Newest first. Recipients are stored sealed; a keyed digest of each makes the exact search possible, and is deleted with the message. Messages of versions before this one have no digest.',
    examples: [
      'herald message find --to jo@example.org',
      'herald message find --reference order-1207 --service "Parking permits"',
    ],
    run: withStore(async (store, input) => {
      const [to, reference] = [input.maybe('to'), input.maybe('reference')]
      if ((to === undefined) === (reference === undefined)) throw new UsageError('Give either --to or --reference.')
      const most = input.number('limit') ?? MOST
      if (most < 1 || most > MOST_EVER) throw new UsageError(`--limit must be from 1 to ${MOST_EVER}.`)
      const named = input.maybe('service')
      const services = named === undefined ? await listServices(store.db.sql) : [await find(store, named)]
      const { messagesReferring, messagesTo } = await import('../timeline/find.ts')
      const found =
        to !== undefined
          ? await messagesTo(store, services, to, most)
          : await messagesReferring(
              store,
              services.map(service => service.id),
              reference ?? '',
              most,
            )
      const messages = found.map(one => ({ ...one, created_at: zulu(fromMicros(microsOf(one.id))) }))
      const rows = messages.map(one => [
        one.id,
        one.created_at.slice(0, 16).replace('T', ' '),
        one.channel,
        one.status,
        one.template_name,
      ])
      return {
        text: listing(['ID', 'WHEN (UTC)', 'TYPE', 'STATUS', 'TEMPLATE'], rows, 'There is no such message.'),
        data: { messages },
      }
    }),
  },
  {
    noun: 'message',
    verb: 'cancel',
    args: [{ name: 'ID', sentence: 'Id of the message, as the API returned it.' }],
    sentence: 'Cancel a scheduled message that is not sent yet.',
    run: withStore(async (store, input, operator) => {
      const named = input.text('ID')
      const id = readId(named)
      const found = id && (await historyOf(store, id))
      if (!found) throw new UsageError(`There is no message ${named}.`)
      await cancel({ sql: store.db.sql, hints: NO_HINTS }, operator, found.service_id, found.id)
      return {
        text: `The message ${found.id} is cancelled; it will not be sent.`,
        data: { id: found.id, status: 'cancelled' },
      }
    }),
  },
  {
    noun: 'message',
    verb: 'resend',
    args: [{ name: 'ID', sentence: 'Id of the message, as the API returned it.' }],
    options: [YES],
    sentence: 'Send a copy of a message: the same values to the same recipient, by the template as it is now.',
    more: 'The checks and limits are those of any message of the service. The copy of a test message is a test message. Attachments are kept only until a message was sent; without them there is no copy.',
    run: withStore(async (store, input, operator, io) => {
      const named = input.text('ID')
      const id = readId(named)
      const found = id && (await historyOf(store, id))
      if (!found) throw new UsageError(`There is no message ${named}.`)
      const service = await find(store, found.service_id)
      await mayReach(io, input, `Send a copy of the message ${found.id} of "${firstLine(service.name)}"`)
      const { sendCopy } = await import('../notifications/copy.ts')
      const copy = await withSending(store, app => sendCopy(app, operator, service, found.id, { base: baseOf(store) }))
      return sentOutput(copy, { copy_of: found.id })
    }),
  },
]

type Step = ReturnType<typeof presentTimeline>['entries'][number]

/** `2026-11-02 14:05:00  attempt    The provider…`, and the reply below it. */
function step({ at, kind, text, reply }: Step): Block {
  const when = at.slice(0, 19).replace('T', ' ')
  const said = wrapped(`${when}  ${kind.padEnd(9)}  `, printable(text))
  return reply === null ? said : stack(said, wrapped(' '.repeat(32), printable(`reply: ${reply}`)))
}
