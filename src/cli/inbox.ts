import { readId } from '../core/id.ts'
import { createInbox, type Shown } from '../inbox/inbox.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { facts, listing } from './print.ts'

const MOST = 50

export const inboxCommands: readonly Command[] = [
  {
    noun: 'inbox',
    options: [
      { name: 'most', value: 'NUMBER', number: true, sentence: `How many messages to show. Without it, ${MOST}.` },
      { name: 'message', value: 'ID', sentence: 'Show this one message in full.' },
    ],
    sentence: 'Show what would have been sent: while no provider is set, messages are kept on this machine.',
    more: 'Newest first. The page /inbox of a running Herald shows the same.',
    run: withStore(async (store, given) => {
      const inbox = createInbox({ sql: store.db.sql, seal: store.seal })
      const wanted = given.maybe('message')
      if (wanted !== undefined) {
        const id = readId(wanted)
        const message = id && (await inbox.get(id))
        if (!message) throw new UsageError(`There is no message ${wanted} in the inbox.`)
        return { text: whole(message), data: message }
      }
      const messages = await inbox.list(null, given.number('most') ?? MOST)
      const rows = messages.map(({ id, at, type, to, subject, text }) => [
        id,
        at.slice(0, 19).replace('T', ' '),
        type,
        to,
        firstLine(subject ?? text),
      ])
      return {
        text: listing(['ID', 'WHEN (UTC)', 'TYPE', 'TO', 'WHAT'], rows, 'Nothing was sent yet.'),
        data: { messages },
      }
    }),
  },
]

/** A line of a table: whatever a message holds, it stays one line and cannot speak to the terminal. */
export const firstLine = (text: string) => {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

const whole = ({ id, type, at, from, to, subject, text }: Shown) =>
  [
    facts([
      ['id', id],
      ['type', type],
      ['when', at],
      ['from', from],
      ['to', to],
      ['subject', subject],
    ]),
    '',
    text.replaceAll(/[^\P{Cc}\n\t]/gu, ''),
  ].join('\n')
