// The inbox shows messages that were not sent to anyone: captured ones and those of test keys. Both are sealed at rest. A captured
// message is stored as a row of its own. A message of a test key is rendered from the stored notification when it is viewed: it costs
// nothing when it is accepted and is purged with the notification.
import { setImmediate as turn } from 'node:timers/promises'
import type { Channel } from '../channels/index.ts'
import { fromMicros, zulu } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { type ContentApp, contentOf } from '../notifications/content.ts'
import { findTestMessage, pageOfTestMessages, type TestMessage } from '../notifications/sql/simulated.ts'
import type { EmailMessage, Messages, TextMessage } from '../providers/port.ts'
import { createGroupCommit } from '../runtime/group-commit.ts'
import { type CapturedMessage, find, keep, page } from './sql.ts'

export type InboxMessage = {
  id: Id
  type: Channel
  at: string
  /** True: sent with a test key. False: captured, because the channel has no provider. */
  test: boolean
  from: string | null
  to: string
  subject: string | null
  text: string
  html: string | null
}

type Content = Omit<InboxMessage, 'id' | 'type' | 'at' | 'test'>

export type Inbox = {
  /** Stores what would have been sent, by channel. */
  keep: { readonly [C in keyof Messages]: (message: Messages[C]) => Promise<void> }
  /** `hasMore`: there may be older ones. A page of large messages may be shorter than `size`. */
  list(olderThan: Id | null, size: number): Promise<{ messages: InboxMessage[]; hasMore: boolean }>
  get(id: Id): Promise<InboxMessage | null>
}

export type InboxApp = ContentApp & { sql: Sql }

/** Limits a page by size too: one message can have 2,000,000 characters. */
const PAGE_BYTES = 8_000_000
/** A longer text is cut, so that sealing takes only a few milliseconds. */
const MOST_CHARACTERS = 250_000

export function createInbox(app: InboxApp): Inbox {
  const { sql, seal } = app
  const commit = createGroupCommit<CapturedMessage, void>(
    async messages => {
      await keep(sql, messages)
      return []
    },
    { maxItems: 256, maxInFlight: 1 },
  )
  const put = (id: Id, channel: Channel, content: Content) =>
    commit.add({ id, channel, sealed: seal.seal(JSON.stringify(content)) })
  return {
    keep: {
      email: message => put(message.id, 'email', contentOfEmail(message)),
      sms: message => put(message.id, 'sms', contentOfText(message)),
    },
    async list(olderThan, size) {
      const captured = await page(sql, olderThan, size, PAGE_BYTES)
      const tests = await pageOfTestMessages(sql, olderThan, size)
      const all = [...captured, ...tests].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, size)
      const messages: InboxMessage[] = []
      let bytes = 0
      for (const row of all) {
        const message = await messageFrom(app, row)
        messages.push(message)
        bytes += 'service_id' in row ? message.text.length + (message.html?.length ?? 0) : row.sealed.length
        if (bytes >= PAGE_BYTES) break
        await turn()
      }
      return { messages, hasMore: messages.length < all.length || messages.length === size || bytes >= PAGE_BYTES }
    },
    async get(id) {
      const found = (await find(sql, id)) ?? (await findTestMessage(sql, id))
      return found && messageFrom(app, found)
    },
  }
}

const contentOfEmail = ({ from, to, subject, text, html }: EmailMessage): Content => ({
  from: `${from.name} <${from.address}>`,
  to,
  subject: shortened(subject),
  text: shortened(text),
  html: html === '' ? null : shortened(html),
})
const shortened = (text: string) => (text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text)
const contentOfText = ({ from, to, text }: TextMessage): Content => ({ from, to, subject: null, text, html: null })

async function messageFrom(app: InboxApp, row: CapturedMessage | TestMessage): Promise<InboxMessage> {
  const { id, channel: type } = row
  const test = 'service_id' in row
  const content = test ? await rendered(app, row) : (JSON.parse(app.seal.open(row.sealed).toString('utf8')) as Content)
  return { id, type, at: zulu(fromMicros(microsOf(id))), test, ...content }
}

async function rendered(app: InboxApp, row: TestMessage): Promise<Content> {
  const content = await contentOf(app, row)
  return content.channel === 'email' ? contentOfEmail(content.email) : contentOfText(content.text)
}
