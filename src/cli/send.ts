// herald send: one message from a template, by hand.
import { readId } from '../core/id.ts'
import { sendAs } from '../notifications/send-as.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { callerFor, KEY_TYPE, REPLY_TO, SCHEDULED_FOR, STORED, TEMPLATE } from './job-file.ts'
import { firstLine } from './print.ts'
import { baseOf, mayReach, sentOutput, TO, VALUES, valuesFrom, withSending, YES } from './sending.ts'

export const commands: readonly Command[] = [
  {
    noun: 'send',
    options: [
      TEMPLATE,
      { ...TO, required: true },
      ...VALUES,
      { name: 'reference', value: 'TEXT', sentence: 'Reference, by which the message can be found.' },
      SCHEDULED_FOR,
      REPLY_TO,
      KEY_TYPE,
      YES,
    ],
    sentence: 'Send one message from a template.',
    more: 'It belongs to the service of the template and counts towards its limits; the audit log names the system account. A running service sends it within a second. herald check with --to shows what the recipient would get. On a terminal the command asks first.',
    examples: [
      'herald send --template 0190a1b2-… --to ann@example.org --value name=Ann',
      'herald send --template 0190a1b2-… --to +16135550123 --values values.json --key-type test',
    ],
    run: withStore(async (store, input, operator, io) => {
      const personalisation = valuesFrom(input)
      const { app: known, caller, template } = await callerFor(store, input)
      const head = await known.templates.head(caller.service.id, template)
      if (!head) throw new UsageError(`There is no template ${template}.`)
      const replyTo = input.maybe('reply-to')
      const sender_id = replyTo === undefined ? null : readId(replyTo)
      if (replyTo !== undefined && !sender_id) throw new UsageError(`--reply-to takes an id, not "${replyTo}".`)
      const to = input.text('to')
      await mayReach(io, input, `Send to ${firstLine(to)} for "${firstLine(caller.service.name)}"`)
      const given = {
        ...{ channel: head.type, to, template_id: template, personalisation, sender_id },
        reference: input.maybe('reference') ?? null,
        scheduled_for: input.maybe('scheduled-for') ?? null,
      }
      const keyType = STORED[(input.maybe('key-type') ?? 'live') as keyof typeof STORED]
      const id = await withSending(store, app =>
        sendAs(app, operator, caller.service.id, given, { base: baseOf(store), keyType }),
      )
      return sentOutput(id)
    }),
  },
]
