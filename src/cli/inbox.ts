import { providersInUse } from '../config/in-use.ts'
import { readId } from '../core/id.ts'
import { createInbox, type Inbox, type InboxMessage } from '../inbox/inbox.ts'
import { inboxLink } from '../inbox/link.ts'
import type { Store } from '../parts.ts'
import { compileEmail } from '../rendering/compile.ts'
import { createServices } from '../services/load.ts'
import { createTemplates } from '../templates/cache.ts'
import { type Command, type CommandOutput, limitOption, UsageError, withStore } from './command.ts'
import { facts, firstLine, listing, printable, type Text, verbatim } from './print.ts'

const MOST = 50

export const commands: readonly Command[] = [
  {
    noun: 'inbox',
    options: [
      limitOption(`How many messages to show. Default: ${MOST}.`),
      { name: 'message', value: 'ID', sentence: 'Show one message in full.' },
      { name: 'link', sentence: 'Print the link that opens the page /inbox in a browser on this machine.' },
    ],
    sentence:
      'Show messages that were not sent: those of test keys, and those captured because the channel has no provider.',
    more: 'Newest first. The page /inbox of a running Herald shows the same to anyone who has its link; keep the link secret.',
    run: withStore(async (store, input) => {
      if (input.has('link')) return link(store)
      const inbox = inboxOf(store)
      const wanted = input.maybe('message')
      if (wanted !== undefined) {
        const id = readId(wanted)
        const message = id && (await inbox.get(id))
        if (!message) throw new UsageError(`There is no message ${wanted} in the inbox.`)
        return { text: whole(message), data: message }
      }
      const messages = await newest(inbox, input.number('limit') ?? MOST)
      const rows = messages.map(message => [
        message.id,
        message.at.slice(0, 19).replace('T', ' '),
        message.type,
        message.test ? 'test' : 'captured',
        message.to,
        firstLine(message.subject ?? message.text),
      ])
      const details = providersInUse(store.config).map(({ sentence }) => sentence)
      const table = listing(['ID', 'WHEN (UTC)', 'TYPE', 'KIND', 'TO', 'WHAT'], rows, 'There is no message yet.')
      return { text: [table, '', ...details], data: { messages, details } }
    }),
  },
]

export const inboxOf = ({ config, db: { sql }, clock, seal }: Store): Inbox =>
  createInbox({
    sql,
    seal,
    services: createServices(sql, clock, config),
    templates: createTemplates(sql, clock),
    // A command may block: it serves nobody else.
    renderThread: { email: async (template, values) => compileEmail(template).render(values) },
    sendingDomain: config.sendingDomain,
  })

async function newest(inbox: Inbox, most: number): Promise<InboxMessage[]> {
  const all: InboxMessage[] = []
  for (let hasMore = true; hasMore && all.length < most; ) {
    const page = await inbox.list(all.at(-1)?.id ?? null, Math.min(most - all.length, 500))
    all.push(...page.messages)
    hasMore = page.hasMore
  }
  return all
}

function link({ config, ...store }: Store): CommandOutput {
  const address = inboxLink(store, config)
  if (address === null)
    throw new UsageError(
      `The page /inbox answers only on the machine itself, but HERALD_HOST is ${config.host}. herald inbox shows the same.`,
    )
  return { text: address, data: { link: address } }
}

const whole = ({ id, type, at, test, from, to, subject, text }: InboxMessage): Text => [
  facts([
    ['id', id],
    ['type', type],
    ['when', at],
    ['sent', test ? 'no: a test message' : 'no: captured'],
    ['from', from],
    ['to', to],
    ['subject', subject],
  ]),
  '',
  verbatim(printable(text)),
]
