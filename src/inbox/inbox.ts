// The inbox shows messages that were not sent to anyone: captured ones, those of test keys, and mails of Herald itself. This is how
// they get there, and how the operator on the machine reads all of them.
import type { Channel } from '../channels/plain.ts'
import { zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Messages } from '../providers/port.ts'
import { createGroupCommit } from '../runtime/group-commit.ts'
import {
  addressed,
  type Captured,
  type CapturedApp,
  capturedOf,
  type SealedContent,
  sealedEmail,
  sealedText,
} from './captured.ts'
import { find, keep, note, page } from './sql.ts'

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

export type Inbox = {
  /** Stores what would have been sent, by channel. */
  keep: { readonly [C in keyof Messages]: (message: Messages[C]) => Promise<void> }
  /** Adds those of these simulated messages that were sent with test keys; other keys may send to simulated recipients. */
  note(ids: readonly Id[]): Promise<void>
  /** `hasMore`: there may be older ones. A page of large messages may be shorter than `size`. */
  list(olderThan: Id | null, size: number): Promise<{ messages: InboxMessage[]; hasMore: boolean }>
  get(id: Id): Promise<InboxMessage | null>
}

/** Limits a page by size too: one message can have 2,000,000 characters. */
export const PAGE_BYTES = 8_000_000

type Item = { id: Id; channel: Channel; sealedContent(): SealedContent }

export function createInbox(app: CapturedApp): Inbox {
  const { sql, seal } = app
  const commit = createGroupCommit<Item, void>(
    async items => {
      const noted = new Set(
        (
          await note(
            sql,
            items.map(item => item.id),
          )
        ).map(row => row.id),
      )
      // Mails of Herald itself, and messages that were captured before, which are stored once.
      const others = items.filter(item => !noted.has(item.id))
      if (others.length > 0)
        await keep(
          sql,
          others.map(({ id, channel, sealedContent }) => ({
            ...{ id, channel, sealed: seal.seal('captured message', JSON.stringify(sealedContent())) },
          })),
        )
      return []
    },
    { maxItems: 256, maxInFlight: 1 },
  )
  return {
    keep: {
      email: message => commit.add({ id: message.id, channel: 'email', sealedContent: () => sealedEmail(message) }),
      sms: message => commit.add({ id: message.id, channel: 'sms', sealedContent: () => sealedText(message) }),
    },
    async note(ids) {
      if (ids.length > 0) await note(sql, ids, 'test')
    },
    async list(olderThan, size) {
      const rows = await page(sql, olderThan, size, PAGE_BYTES)
      const { messages, last } = await capturedOf(app, rows, PAGE_BYTES)
      const isCut = last !== (rows.at(-1)?.id ?? null)
      return { messages: messages.map(shown), hasMore: isCut || rows.length === size || isFull(rows) }
    },
    async get(id) {
      const row = await find(sql, id, 'every-service')
      const [message] = row ? (await capturedOf(app, [row])).messages : []
      return message ? shown(message) : null
    },
  }
}

const isFull = (rows: readonly { sealed: Buffer | null }[]) =>
  rows.reduce((sum, { sealed }) => sum + (sealed?.length ?? 0), 0) >= PAGE_BYTES

function shown({ id, at, key_type, content }: Captured): InboxMessage {
  const { from, to, subject, text, html } = readable(content)
  return { id, type: content.channel, at: zulu(at), test: key_type === 'test', from, to, subject, text, html }
}

/** A message of any channel, as a person reads it. */
export function readable(content: Captured['content']): SealedContent {
  if (content.channel === 'sms') return { ...sealedText(content.text) }
  const { from, to, subject, text, html } = content.email
  return { from: addressed(from), to, subject, text, html: html === '' ? null : html }
}
