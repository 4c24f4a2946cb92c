// A message of the inbox with its content. That of a message is rendered from the stored notification when it is viewed: capturing it
// costs little, and it goes with the notification. Mails of Herald itself are stored sealed.
import { setImmediate as turn } from 'node:timers/promises'
import type { Channel } from '../channels/plain.ts'
import { fromMicros, type Timestamp } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { type ContentApp, contentOf, type MessageContent } from '../notifications/content.ts'
import { capturedContents } from '../notifications/sql/captured.ts'
import type { EmailMessage, TextMessage } from '../providers/port.ts'
import type { InboxRow } from './sql.ts'

export type CapturedApp = ContentApp & { sql: Sql }

export type Captured = {
  id: Id
  at: Timestamp
  /** Null: a mail of Herald itself, or of an earlier version. */
  service_id: Id | null
  key_type: KeyType | null
  seen: boolean
  content: MessageContent
}

/** What is sealed of a mail that is not a message of a service. */
export type SealedContent = {
  from: string | null
  to: string
  subject: string | null
  text: string
  html: string | null
}

/** A longer text is cut, so that sealing takes only a few milliseconds. */
const MOST_CHARACTERS = 250_000

/** In the order of the rows. Messages that were purged are left out. Stops when the contents have `most` characters. */
export async function capturedOf(
  app: CapturedApp,
  rows: readonly InboxRow[],
  most = Number.POSITIVE_INFINITY,
): Promise<{ messages: Captured[]; last: Id | null }> {
  const ids = rows.filter(row => row.sealed === null).map(row => row.id)
  const stored = new Map(ids.length > 0 ? (await capturedContents(app.sql, ids)).map(row => [row.id, row]) : [])
  const messages: Captured[] = []
  let characters = 0
  let last: Id | null = null
  for (const row of rows) {
    last = row.id
    const { id, service_id, key_type, seen, sealed } = row
    const message = stored.get(id)
    const content = sealed ? opened(app, row, sealed) : message && (await contentOf(app, message))
    if (!content) continue
    messages.push({ id, at: fromMicros(microsOf(id)), service_id, key_type, seen, content })
    characters += sealed?.length ?? lengthOf(content)
    if (characters >= most) break
    await turn()
  }
  return { messages, last }
}

const lengthOf = (content: MessageContent) =>
  content.channel === 'email' ? content.email.text.length + content.email.html.length : content.text.text.length

function opened(app: CapturedApp, { id, channel }: InboxRow, sealed: Buffer): MessageContent {
  const { from, to, subject, text, html } = JSON.parse(
    app.seal.open('captured message', sealed).toString('utf8'),
  ) as SealedContent
  return OPENED[channel]({ id, domain: app.sendingDomain, from, to, subject: subject ?? '', text, html: html ?? '' })
}

type Opened = { id: Id; domain: string; from: string | null; to: string; subject: string; text: string; html: string }

const OPENED: Readonly<Record<Channel, (given: Opened) => MessageContent>> = {
  email({ id, domain, from, ...rest }) {
    const [, name = '', address = ''] = /^(.*) <([^<>]*)>$/s.exec(from ?? '') ?? []
    const email = {
      id,
      messageId: `<${id}@${domain}>`,
      from: { name, address },
      replyTo: null,
      ...rest,
      attachments: [],
    }
    return { channel: 'email', email }
  },
  sms: ({ id, from, to, text }) => ({
    channel: 'sms',
    // How many parts it had was not stored.
    text: { id, from, to, text, encoding: 'GSM-7', parts: 0 },
  }),
}

export const sealedEmail = ({ from, to, subject, text, html }: EmailMessage): SealedContent => ({
  from: addressed(from),
  to,
  subject: shortened(subject),
  text: shortened(text),
  html: html === '' ? null : shortened(html),
})

export const sealedText = ({ from, to, text }: TextMessage): SealedContent => ({
  ...{ from, to, subject: null, text, html: null },
})

export const addressed = ({ name, address }: EmailMessage['from']) => `${name} <${address}>`

const shortened = (text: string) => (text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text)
